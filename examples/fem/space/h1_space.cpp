// h1_space: the numbering of the mesh's vertices, edges, faces and elements, without vertices that no element has.
#include "examples/fem/space/h1_space.hpp"

#include "examples/fem/mesh/topology.hpp"
#include "examples/fem/space/h1_numbering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace fem {

h1_space::h1_space(const mesh& m, int p)
    : dimension_(m.dimension), order_(p), elements_(m.elements), nodes_(power(p + 1, m.dimension)) {
    check_memory(m.name, fmt::format("the numbers of nodes of order {}", p),
                 8.0 * static_cast<double>(nodes_) * static_cast<double>(elements_));
    const topology parts = find_topology(m);
    const h1_numbering numbering(m, parts, p);
    numbers_.resize(nodes_ * elements_);
    for (std::int64_t e = 0; e < elements_; ++e)
        numbering.nodes_of(e, std::span(numbers_).subspan(e * nodes_, nodes_));
    boundary_ = boundary_faces(m, parts);

    // A vertex of the file that no element has would be an equation without terms.
    std::vector<bool> used(numbering.size());
    for (const std::int64_t number : numbers_) used[number] = true;
    std::vector<std::int64_t> renumbered(used.size());
    for (std::size_t n = 0; n < used.size(); ++n) {
        renumbered[n] = dofs_;
        dofs_ += used[n];
    }
    if (dofs_ < numbering.size())
        for (std::int64_t& number : numbers_) number = renumbered[number];
}

template <class Wanted>
std::vector<std::int64_t> h1_space::dofs_on(Wanted wanted) const {
    std::vector<std::int64_t> found;
    for (const boundary_part& part : boundary_)
        if (wanted(part.attribute))
            for (const std::int64_t node : nodes_on_face(dimension_, order_, part.face))
                found.push_back(numbers_[node + nodes_ * part.element]);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

std::vector<std::int64_t> h1_space::boundary_dofs() const {
    return dofs_on([](int) { return true; });
}

std::vector<std::int64_t> h1_space::boundary_dofs(const std::vector<int>& attributes) const {
    return dofs_on([&](int attribute) {
        return std::find(attributes.begin(), attributes.end(), attribute) != attributes.end();
    });
}

std::vector<std::int64_t> nodes_on_face(int dimension, int order, int face) {
    const auto [axis, end] = side_of(dimension, face);
    std::vector<std::int64_t> nodes;
    const std::int64_t stride = power(order + 1, axis);
    for (std::int64_t node = 0; node < power(order + 1, dimension); ++node)
        if (node / stride % (order + 1) == (end == 0 ? 0 : order)) nodes.push_back(node);
    return nodes;
}

} // namespace fem
