// neumann: the gradient at the faces' points comes from the host; its flux is tested and added by one statement.
#include "examples/fem/solve/neumann.hpp"

#include "examples/fem/operators/face_map.hpp"
#include "examples/fem/operators/shaped.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

namespace fem {
namespace {

using namespace ricci::indices;

bool contains(const std::vector<int>& all, int one) { return std::find(all.begin(), all.end(), one) != all.end(); }

/// grad u at points X(q,x,f), `count` of them a face, in the same form.
std::vector<double> gradients(const std::vector<double>& points, std::int64_t count, int dimension,
                              const manufactured& known) {
    std::vector<double> values(points.size());
    for_each_point(points, count, dimension, [&](std::int64_t n, std::int64_t face, const point& at) {
        const point gradient = known.gradient(at);
        for (int d = 0; d < dimension; ++d) values[n + count * (d + dimension * face)] = gradient[d];
    });
    return values;
}

} // namespace

std::vector<int> dirichlet_attributes(const h1_space& space, const std::string& name,
                                      const std::vector<int>& neumann) {
    if (space.boundary().empty())
        throw mesh_error(fmt::format("{}: the mesh has no boundary, so {}", name,
                                     neumann.empty() ? "nothing determines the solution's constant"
                                                     : "there is no part of it for Neumann data"));
    std::set<int> all;
    for (const boundary_part& part : space.boundary()) all.insert(part.attribute);
    std::set<int> named = all;
    named.erase(0); // what the file gives no attribute to
    std::set<int> chosen;
    for (const int attribute : neumann) {
        if (!chosen.insert(attribute).second)
            throw mesh_error(fmt::format("{}: attribute {} is named twice for Neumann data", name, attribute));
        if (named.empty())
            throw mesh_error(fmt::format("{}: its boundary has no attributes to choose for Neumann data", name));
        if (!named.contains(attribute))
            throw mesh_error(fmt::format("{}: no part of its boundary has attribute {}, only {}", name, attribute,
                                         fmt::join(named, ", ")));
    }
    std::vector<int> rest;
    std::set_difference(all.begin(), all.end(), chosen.begin(), chosen.end(), std::back_inserter(rest));
    if (rest.empty())
        throw mesh_error(fmt::format("{}: with Neumann data on the whole boundary nothing determines the solution's "
                                     "constant{}",
                                     name, all.size() > 1 ? "; leave one of its attributes out" : ""));
    return rest;
}

void check_given(const h1_space& space, const std::string& name, const std::vector<std::int64_t>& given) {
    // Nodes of an element are joined in trees, of which each node knows a node nearer to the root; a root itself.
    std::vector<std::int64_t> nearer(space.dofs());
    std::iota(nearer.begin(), nearer.end(), 0);
    const auto root = [&](std::int64_t node) {
        while (nearer[node] != node) node = nearer[node] = nearer[nearer[node]];
        return node;
    };
    const auto first_node = [&](std::int64_t e) { return space.numbers()[e * space.nodes()]; };
    for (std::int64_t e = 0; e < space.elements(); ++e)
        for (std::int64_t n = 1; n < space.nodes(); ++n)
            nearer[root(space.numbers()[n + e * space.nodes()])] = root(first_node(e));
    std::vector<bool> determined(space.dofs());
    for (const std::int64_t node : given) determined[root(node)] = true;
    for (std::int64_t e = 0; e < space.elements(); ++e)
        if (!determined[root(first_node(e))])
            throw mesh_error(
                fmt::format("{}: nothing determines the solution's constant where element {} (counted from "
                            "0) is: u is given nowhere in this part of the mesh, which is separate",
                            name, e));
}

void add_neumann_load(const mesh& from, const h1_space& space, const tables& basis, const std::vector<int>& neumann,
                      const manufactured& known, const symmetric_matrix& K_values, vector& load) {
    std::vector<boundary_part> faces;
    for (const boundary_part& part : space.boundary())
        if (contains(neumann, part.attribute)) faces.push_back(part);
    if (faces.empty()) return;

    const ricci::device device = load.device();
    const face_map map(from, faces, basis.along, device);
    const vector gradient =
        to_device(gradients(map.points().download(), map.points_per_face(), from.dimension, known), device);
    const index_table numbers = to_device(numbers_on_faces(space, faces), device);
    const std::int64_t F = map.faces(), P = basis.nodes(), Q = basis.points(), d = from.dimension;
    table entries{from.dimension, from.dimension, {}};
    for (int y = 0; y < d; ++y)
        for (int x = 0; x < d; ++x) entries.values.push_back(K_values[x][y]);
    const matrix K = to_device(entries, device);
    const matrix& B = basis.B;
    if (d == 2) {
        const auto l = shaped<2>(numbers, {P, F});
        const auto n = shaped<3>(map.normals(), {Q, 2, F}), g = shaped<3>(gradient, {Q, 2, F});
        load(l(a, f)) += B(q, a) * n(q, x, f) * K(x, y) * g(q, y, f);
    } else {
        const auto l = shaped<3>(numbers, {P, P, F});
        const auto n = shaped<4>(map.normals(), {Q, Q, 3, F}), g = shaped<4>(gradient, {Q, Q, 3, F});
        load(l(a, b, f)) += B(q, a) * B(r, b) * n(q, r, x, f) * K(x, y) * g(q, r, y, f);
    }
}

} // namespace fem
