// read_mesh: a mesh from a file of any of the formats known.
#pragma once

#include "examples/fem/mesh/mesh.hpp"

#include <string>

namespace fem {

/// Reads `MFEM mesh v1.0` and `MFEM INLINE mesh v1.0`, and Gmsh 4.1 in text or binary form, told apart by the first
/// line. Throws mesh_error with the file and line of the mistake, the name of what is not handled, or the element
/// that is inverted or does not fit its neighbours.
mesh read_mesh(const std::string& path);

} // namespace fem
