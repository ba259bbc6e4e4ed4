// gmsh_reader: the Gmsh mesh format 4.1 (MSH, text and binary), see Gmsh's manual, "MSH file format".
#pragma once

#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/mesh/mesh_file.hpp"

namespace fem {

/// Reads what follows the line `$MeshFormat`. The elements are the hexahedra, or where there are none the
/// quadrilaterals, complete ones of one order from 1 to 10 (hexahedra: 9); an element's attribute is the first
/// physical group of its entity, or the entity's tag; so is that of a boundary part. Quadrilaterals must lie in a
/// plane of constant z.
mesh read_gmsh(mesh_file& file);

} // namespace fem
