// assemble_command: the mass or diffusion matrix of a mesh in compressed rows, as a MatrixMarket file.
#include "examples/fem/mesh/refine.hpp"
#include "examples/fem/operators/element_matrices.hpp"
#include "examples/fem/operators/sparse_matrix.hpp"
#include "examples/fem/output/matrix_market.hpp"
#include "examples/fem/program/commands.hpp"
#include "examples/fem/program/common.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>
#include <optional>

namespace fem {
namespace {

struct assemble_options {
    mesh_options mesh;
    int refinements = 0, order = 2;
    bool diffusion = true, general = false;
    assembly how = assembly::factored;
    std::string device, file;
    std::vector<std::string> coefficient;
};

int run(const assemble_options& o) {
    if (!o.diffusion && !o.coefficient.empty()) throw usage_error("--coefficient is for the diffusion operator");
    const ricci::device device = device_named(o.device);
    const mesh m = refined(load(o.mesh), o.refinements);
    const auto K = coefficient_on(m, o.coefficient, device);
    std::optional<common::output_file> file;
    if (!o.file.empty()) file.emplace(o.file); // now, so that nothing is computed in vain

    const h1_space space(m, o.order);
    const tables basis(quadrature::gauss, o.order, device);
    const element_map map(m, basis.along, device);
    const vector at_points = !o.diffusion ? map.weights()
                             : K          ? map.diffusion(K->at_points(map.points_per_element()))
                                          : map.diffusion();
    vector matrices(0, device);
    const double time = seconds(device, [&] {
        const auto make = o.diffusion ? element_diffusion_matrices : element_mass_matrices;
        matrices = make(basis, m.dimension, m.elements, at_points, o.how);
    });
    sparse_matrix matrix(space, device);
    const double added = seconds(device, [&] { matrix.assemble(matrices); });

    const double trace = matrix.trace(), norm = matrix.frobenius_norm();
    if (!std::isfinite(trace) || !std::isfinite(norm))
        throw usage_error(
            fmt::format("{}: the matrix's entries are beyond the range of double precision; the mesh or "
                        "the coefficient is too large or too small",
                        m.name));
    print_mesh(m);
    fmt::print("\nMatrix           {}, order {}\n", o.diffusion ? "diffusion" : "mass", o.order);
    fmt::print("  rows           {}\n  entries        {}\n", matrix.rows(), matrix.entries());
    fmt::print("  trace          {:.15g}\n  norm           {:.15g} (Frobenius)\n", trace, norm);
    fmt::print("Element matrices {}  {}, with the compilation of kernels or their loading from the cache on disk\n",
               time_text(time), o.how == assembly::dense ? "in one dense contraction" : "factor by factor");
    fmt::print("Sum into rows    {}\n", time_text(added));
    if (!file) return 0;
    write_matrix_market(matrix, o.general ? symmetry::general : symmetry::symmetric, *file);
    file->finish();
    fmt::print("written to       {} ({})\n", o.file, o.general ? "general" : "symmetric: the lower triangle");
    return 0;
}

} // namespace

void add_assemble_command(CLI::App& app, int& exit_code) {
    auto* command = app.add_subcommand("assemble", "Assembles a sparse matrix and writes it as MatrixMarket.");
    auto o = std::make_shared<assemble_options>();
    add_mesh_options(*command, o->mesh, 64);
    command->add_option("--refine", o->refinements, "how often each element is cut in halves along each direction")
        ->check(CLI::Range(0, 10));
    add_order_option(*command, o->order);
    command
        ->add_option_function<std::string>(
            "--operator", [o](const std::string& name) { o->diffusion = name == "diffusion"; },
            "mass or diffusion (default)")
        ->check(CLI::IsMember({"mass", "diffusion"}));
    command
        ->add_option_function<std::string>(
            "--form",
            [o](const std::string& name) { o->how = name == "dense" ? assembly::dense : assembly::factored; },
            "dense: one contraction over all points of an element; factored (default): direction by direction")
        ->check(CLI::IsMember({"dense", "factored"}));
    add_coefficient_option(*command, o->coefficient, true);
    command->add_option("--matrix", o->file, "the file to write, .mtx")->check(not_empty());
    command->add_flag("--general", o->general, "write both triangles");
    add_device_option(*command, o->device);
    command->callback([o, &exit_code] { exit_code = run(*o); });
}

} // namespace fem
