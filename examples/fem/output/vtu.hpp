// vtu: a mesh and functions on it as a VTK file of high-order cells, for ParaView.
#pragma once

#include "examples/common/output_file.hpp"
#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/space/h1_space.hpp"
#include "examples/fem/space/tables.hpp"

#include <array>
#include <string>
#include <vector>

namespace fem {

/// The positions, each in [0, order], of the nodes of VTK's Lagrange quadrilateral (dimension 2) or hexahedron (3) in
/// VTK's order: corners, inner nodes of edges, of faces, then those inside.
std::vector<std::array<int, 3>> vtk_node_positions(int dimension, int order);

/// A function of the space, by its values at the nodes.
struct named_field {
    std::string name;
    const vector* values = nullptr;
};

/// One Lagrange cell an element, of the order of the mesh or of the space, whichever is larger, so that both are
/// exact. Every cell has points of its own: across a periodic boundary one node of the space has two places.
/// Attributes of elements are cell data.
void write_vtu(const mesh& m, const h1_space& space, const std::vector<named_field>& fields,
               common::output_file& file);

} // namespace fem
