// topology: the edges and faces of a mesh, numbered, from its connectivity.
#pragma once

#include "examples/fem/mesh/mesh.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace fem {

/// Edges and faces of one element as pairs and quadruples of corners; a quadrilateral has the first four edges and no
/// faces. The orders are MFEM's, on which the numbering of nodes in its files rests.
inline constexpr std::array<std::array<int, 2>, 12> element_edges{
    {{0, 1}, {1, 2}, {3, 2}, {0, 3}, {4, 5}, {5, 6}, {7, 6}, {4, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}}};
inline constexpr std::array<std::array<int, 4>, 6> element_faces{
    {{3, 2, 1, 0}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}, {4, 5, 6, 7}}};

/// The side of the reference element that a face (an edge of a quadrilateral) is: where coordinate `axis` is `end`.
struct side {
    int axis = 0, end = 0;
};
constexpr side side_of(int dimension, int face) {
    const auto corner = [&](int n) {
        return corner_positions[dimension == 2 ? element_edges[face][n] : element_faces[face][n]];
    };
    const int corners = 1 << (dimension - 1);
    for (int axis = 0; axis < dimension; ++axis) {
        bool same = true;
        for (int n = 1; n < corners; ++n) same = same && corner(n)[axis] == corner(0)[axis];
        if (same) return {axis, corner(0)[axis]};
    }
    return {};
}

/// A face's vertices (an edge's two in 2-D, then -1) in the cycle that has the element inside on the same hand for
/// all faces: if no element is inverted, two on opposite sides of a face list it in opposite cycles.
std::array<std::int64_t, 4> face_cycle(const mesh& m, std::int64_t e, int face);
/// Whether two cycles of the same vertices are one.
bool same_cycle(const std::array<std::int64_t, 4>& f, const std::array<std::int64_t, 4>& g);

/// Faces of an element; for a quadrilateral these are its edges.
constexpr int faces_of_element(int dimension) { return 2 * dimension; }

/// Numbers are given by first appearance: elements in order, their edges or faces in order.
struct topology {
    int edges_per_element = 0, faces_per_element = 0;
    std::vector<std::int64_t> edge_of; ///< [elements][edges_per_element]
    std::vector<std::int64_t> face_of; ///< [elements][faces_per_element]
    std::int64_t edges = 0;
    std::vector<std::array<std::int64_t, 4>> faces; ///< vertices, as the first element that has the face lists them

    /// What separates elements: faces in 3-D, edges in 2-D. The number of that at side `face` of element e, and how
    /// many elements have it, 1 (it lies on the boundary) or 2.
    std::int64_t separator(std::int64_t e, int face) const {
        return faces_per_element == 0 ? edge_of[e * edges_per_element + face] : face_of[e * faces_per_element + face];
    }
    std::vector<int> elements_at; ///< [separators]
};

/// Uses dimension, elements and corners of `m` only; no element may list a vertex twice, which the readers see to.
/// Throws mesh_error, naming the element, for a face of more than two elements, and faces that share their vertices
/// but not their edges.
topology find_topology(const mesh& m);

} // namespace fem
