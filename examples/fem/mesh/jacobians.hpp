// jacobians: whether the mapping of each element keeps its orientation, looked at once, where a mesh is read.
#pragma once

#include "examples/fem/mesh/mesh.hpp"

namespace fem {

/// Throws mesh_error, naming the element, where a Jacobian determinant is not positive, or not finite: at as many
/// Gauss-Lobatto points in each direction as determine it, so that what is said of a mesh does not depend on the
/// points that a command happens to integrate at. The element's corners and edges are among them.
void check_jacobians(const mesh& m);

/// What is wrong with the element of number e whose worst determinant is `det`, `where` being "at ..."; for the
/// message of a mesh_error.
std::string bad_determinant(const mesh& m, std::int64_t e, double det, const std::string& where);

} // namespace fem
