// mfem_reader: the MFEM mesh format v1.0, see https://mfem.org/mesh-formats.
#pragma once

#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/mesh/mesh_file.hpp"

namespace fem {

/// Reads what follows the line `MFEM mesh v1.0`: quadrilaterals in the plane or hexahedra in space, straight, or
/// curved by `nodes` in one of the collections Linear, Quadratic, H1_dD_Pk, L2_dD_Pk, L2_Tb_dD_Pk with b = 0, 1 or 4.
mesh read_mfem(mesh_file& file);

/// Reads what follows the line `MFEM INLINE mesh v1.0`: the counts and sizes of a grid of the box with a corner at 0.
mesh read_mfem_inline(mesh_file& file);

} // namespace fem
