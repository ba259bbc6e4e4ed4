// refine: new vertices are the nodes of a space of order 2, new nodes the values of the parents' polynomials.
#include "examples/fem/mesh/refine.hpp"

#include "examples/fem/mesh/topology.hpp"
#include "examples/fem/space/basis.hpp"
#include "examples/fem/space/h1_numbering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fem {
namespace {

/// B(q,i): polynomial i of the parent at node q of its first or second half.
std::array<table, 2> halves(const mesh& m) {
    const std::vector<double> nodes = positions(m.points, m.order);
    const lagrange shape(nodes);
    std::array<table, 2> result;
    for (int half = 0; half < 2; ++half) {
        std::vector<double> at;
        at.reserve(nodes.size());
        for (const double x : nodes) at.push_back((x + half) / 2);
        result[half] = shape.values(at);
    }
    return result;
}

} // namespace

mesh refine(const mesh& m) {
    const int children = 1 << m.dimension;
    const std::int64_t n = nodes_per_element(m);
    check_memory(m.name, fmt::format("refining its {} elements", m.elements),
                 static_cast<double>(m.elements) * children *
                     (8.0 * static_cast<double>(m.dimension * n) + 8.0 * children + 4));
    const topology parts = find_topology(m);
    const h1_numbering lattice(m, parts, 2);
    const std::array<table, 2> half = halves(m);

    mesh fine;
    fine.name = m.name;
    fine.dimension = m.dimension;
    fine.order = m.order;
    fine.points = m.points;
    fine.refinements = m.refinements + 1;
    fine.elements = m.elements * children;
    fine.vertices = lattice.size();
    fine.nodes.resize(fine.elements * m.dimension * n);
    fine.corners.reserve(fine.elements * children);
    std::vector<std::int64_t> numbers(power(3, m.dimension));
    for (std::int64_t e = 0; e < m.elements; ++e) {
        lattice.nodes_of(e, numbers);
        for (int child = 0; child < children; ++child) {
            std::vector<const table*> along(m.dimension);
            for (int axis = 0; axis < m.dimension; ++axis) along[axis] = &half[child >> axis & 1];
            for (int d = 0; d < m.dimension; ++d) {
                const auto x = apply_along(along, &m.nodes[(e * m.dimension + d) * n]);
                std::copy(x.begin(), x.end(), &fine.nodes[((e * children + child) * m.dimension + d) * n]);
            }
            for (int c = 0; c < children; ++c) {
                std::array<int, 3> at = corner_positions[c];
                for (int axis = 0; axis < m.dimension; ++axis) at[axis] += child >> axis & 1;
                fine.corners.push_back(numbers[lexicographic(at, 2)]);
            }
            fine.attributes.push_back(m.attributes[e]);
        }
    }
    for (const boundary_part& part : m.boundary) {
        const auto [axis, end] = side_of(m.dimension, part.face);
        for (int child = 0; child < children; ++child)
            if ((child >> axis & 1) == end)
                fine.boundary.push_back({part.element * children + child, part.face, part.attribute});
    }
    return fine;
}

mesh refined(mesh m, int times) {
    for (; times > 0; --times) m = refine(m);
    return m;
}

} // namespace fem
