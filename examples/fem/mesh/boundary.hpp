// boundary: which faces of elements (edges in 2-D) are the boundary of the domain, and what parts of it are called.
#pragma once

#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/mesh/topology.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace fem {

/// A part of the boundary as files give it: the vertices of a face (the first two: of an edge) in any order.
struct named_vertices {
    std::array<std::int64_t, 4> vertices{};
    int attribute = 0;
};

/// Finds the elements that have these faces, and stores them in m.boundary. Returns the number of the first part that
/// is no face of any element, -1 if all are; such parts are left out.
std::int64_t attach_boundary(mesh& m, const std::vector<named_vertices>& parts);

/// Every face that one element only has, with the number that the mesh's file gives to it, 0 where it gives none;
/// elements in order. A periodic mesh has none.
std::vector<boundary_part> boundary_faces(const mesh& m, const topology& t);

} // namespace fem
