// gmsh_order: which node of a Gmsh element is where, by rule for any order.
#pragma once

#include <array>
#include <vector>

namespace fem {

/// The integer positions, each in [0, order], of the nodes of a complete quadrilateral (dimension 2) or hexahedron
/// (3) in Gmsh's order: corners, then inner nodes of edges and faces, then those inside, which form an element of
/// order-2 numbered the same way (Gmsh's manual, "Node ordering").
std::vector<std::array<int, 3>> gmsh_node_positions(int dimension, int order);

} // namespace fem
