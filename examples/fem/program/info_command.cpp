// info_command: what a mesh is: its elements, boundary, volume, and how many unknowns spaces on it have.
#include "examples/fem/mesh/boundary.hpp"
#include "examples/fem/mesh/refine.hpp"
#include "examples/fem/mesh/topology.hpp"
#include "examples/fem/operators/geometry.hpp"
#include "examples/fem/program/commands.hpp"
#include "examples/fem/program/common.hpp"
#include "examples/fem/space/h1_space.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>

namespace fem {
namespace {

struct info_options {
    mesh_options mesh;
    int refinements = 0;
    std::string device;
};

void print_attributes(const char* what, const std::map<int, std::int64_t>& counts) {
    for (const auto& [attribute, count] : counts)
        fmt::print("  {:<14} {:<14} with attribute {}{}\n", what, count, attribute,
                   attribute == 0 ? ", that is, without one" : "");
}

int run(const info_options& o) {
    const ricci::device device = device_named(o.device);
    const mesh m = refined(load(o.mesh), o.refinements);
    const rule along = gauss_legendre((m.dimension * m.order + 2) / 2 + 1); // exact for the first moments too
    const element_map map(m, along, device);
    const auto faces = boundary_faces(m, find_topology(m));

    const std::vector<double> W = map.weights().download(), X = map.points().download();
    const std::int64_t points = map.points_per_element();
    const double volume = careful_sum(W);
    std::vector<double> first_moments;
    for (int d = 0; d < m.dimension; ++d) {
        std::vector<double> moments(W.size());
        for (std::int64_t e = 0; e < m.elements; ++e)
            for (std::int64_t q = 0; q < points; ++q)
                moments[q + points * e] = W[q + points * e] * X[q + points * (d + m.dimension * e)];
        first_moments.push_back(careful_sum(moments));
        if (!std::isfinite(volume) || !std::isfinite(first_moments.back()))
            throw mesh_error(
                fmt::format("{}: is too large: its {} and moments are beyond the range of double precision", m.name,
                            m.dimension == 2 ? "area" : "volume"));
    }

    print_mesh(m);
    fmt::print("  vertices       {}\n", m.vertices);
    std::map<int, std::int64_t> attributes, boundary;
    for (const int attribute : m.attributes) ++attributes[attribute];
    for (const boundary_part& part : faces) ++boundary[part.attribute];
    print_attributes("elements", attributes);
    if (faces.empty()) fmt::print("  boundary       none: the mesh is periodic\n");
    print_attributes(m.dimension == 2 ? "boundary edges" : "boundary faces", boundary);

    fmt::print("\n{:<16} {:.14g}\n", m.dimension == 2 ? "Area" : "Volume", volume);
    for (int d = 0; d < m.dimension; ++d) fmt::print("  moment of {}    {:.14g}\n", "xyz"[d], first_moments[d]);
    fmt::print("\nUnknowns of continuous spaces on it\n");
    for (int p = 1; p <= 8; ++p) {
        const h1_space space(m, p);
        fmt::print("  order {}        {:<14} {} of them on the boundary\n", p, space.dofs(),
                   space.boundary_dofs().size());
    }
    return 0;
}

} // namespace

void add_info_command(CLI::App& app, int& exit_code) {
    auto* command = app.add_subcommand("info", "Says what a mesh is.");
    auto o = std::make_shared<info_options>();
    add_mesh_options(*command, o->mesh, 64);
    command->add_option("--refine", o->refinements, "how often each element is cut in halves along each direction")
        ->check(CLI::Range(0, 10));
    add_device_option(*command, o->device);
    command->callback([o, &exit_code] { exit_code = run(*o); });
}

} // namespace fem
