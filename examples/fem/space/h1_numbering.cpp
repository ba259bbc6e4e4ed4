// h1_numbering: nodes of edges and faces are placed by the vertices at their ends, whatever way an element lists
// them.
#include "examples/fem/space/h1_numbering.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace fem {
namespace {

/// The reference position steps/order of the way from corner `from` to corner `to`, added to `at`.
void advance(std::array<int, 3>& at, int from, int to, int steps) {
    for (int d = 0; d < 3; ++d) at[d] += steps * (corner_positions[to][d] - corner_positions[from][d]);
}

/// The position of a corner in steps of 1/order.
std::array<int, 3> at_corner(int corner, int order) {
    const auto& c = corner_positions[corner];
    return {c[0] * order, c[1] * order, c[2] * order};
}

/// The corner, among those listed in `candidates`, at which the element has vertex v.
template <std::size_t N>
int corner_with(const std::int64_t* vertices, const std::array<int, N>& candidates, std::int64_t v) {
    return *std::find_if(candidates.begin(), candidates.end(), [&](int c) { return vertices[c] == v; });
}

} // namespace

h1_numbering::h1_numbering(const mesh& m, const topology& t, int order)
    : mesh_(m), topology_(t), order_(order), inner_(order - 1) {
    first_edge_ = m.vertices;
    first_face_ = first_edge_ + t.edges * inner_;
    first_interior_ = first_face_ + static_cast<std::int64_t>(t.faces.size()) * inner_ * inner_;
}

std::int64_t h1_numbering::size() const { return first_interior_ + mesh_.elements * power(inner_, mesh_.dimension); }

void h1_numbering::nodes_of(std::int64_t e, std::span<std::int64_t> numbers) const {
    const std::int64_t* v = &mesh_.corners[e << mesh_.dimension];
    for (int c = 0; c < 1 << mesh_.dimension; ++c) numbers[lexicographic(at_corner(c, order_), order_)] = v[c];
    for (int i = 0; i < topology_.edges_per_element; ++i) edge_nodes(e, i, v, numbers);
    for (int i = 0; i < topology_.faces_per_element; ++i) face_nodes(e, i, v, numbers);
    const std::int64_t interior = power(inner_, mesh_.dimension);
    for (std::int64_t n = 0; n < interior; ++n) {
        const int x = static_cast<int>(n % inner_), y = static_cast<int>(n / inner_ % inner_);
        const int z = static_cast<int>(n / inner_ / inner_);
        const std::array<int, 3> at{x + 1, y + 1, mesh_.dimension == 3 ? z + 1 : 0};
        numbers[lexicographic(at, order_)] = first_interior_ + e * interior + n;
    }
}

/// The nodes of an edge run from its vertex of lower number to the other.
void h1_numbering::edge_nodes(std::int64_t e, int i, const std::int64_t* v, std::span<std::int64_t> numbers) const {
    auto [from, to] = element_edges[i];
    if (v[from] > v[to]) std::swap(from, to);
    const std::int64_t first = first_edge_ + topology_.edge_of[e * topology_.edges_per_element + i] * inner_;
    for (int n = 0; n < inner_; ++n) {
        auto at = at_corner(from, order_);
        advance(at, from, to, n + 1);
        numbers[lexicographic(at, order_)] = first + n;
    }
}

/// The nodes of a face run from its first vertex to the second, and then towards the fourth, as the first element
/// that has the face lists its vertices.
void h1_numbering::face_nodes(std::int64_t e, int i, const std::int64_t* v, std::span<std::int64_t> numbers) const {
    const std::int64_t number = topology_.face_of[e * topology_.faces_per_element + i];
    const auto& face = topology_.faces[number];
    const int origin = corner_with(v, element_faces[i], face[0]), along = corner_with(v, element_faces[i], face[1]);
    const int across = corner_with(v, element_faces[i], face[3]);
    for (int n = 0; n < inner_ * inner_; ++n) {
        auto at = at_corner(origin, order_);
        advance(at, origin, along, n % inner_ + 1);
        advance(at, origin, across, n / inner_ + 1);
        numbers[lexicographic(at, order_)] = first_face_ + number * inner_ * inner_ + n;
    }
}

} // namespace fem
