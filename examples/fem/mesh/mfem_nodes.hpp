// mfem_nodes: the `nodes` section of an MFEM mesh, which gives curved elements their shape.
#pragma once

#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/mesh/mesh_file.hpp"

namespace fem {

/// Reads what follows the word `nodes` into order, points and nodes of `m`, whose elements are there already.
void read_mfem_nodes(mesh_file& file, mesh& m);

} // namespace fem
