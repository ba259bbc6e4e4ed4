// geometry: what a mesh's mapping contributes to integrals, at every quadrature point of every element.
#pragma once

#include "examples/fem/basis.hpp"
#include "examples/fem/mesh.hpp"

#include <vector>

namespace fem {

/// W(q,e), first index fastest: the weight of quadrature point q times the determinant of element e's Jacobian matrix
/// there; `along` is the rule in each direction, q lexicographic. Sums over q are integrals over the element.
/// Throws mesh_error, naming the element, where a determinant is not positive.
std::vector<double> weighted_determinants(const mesh& m, const rule& along);

} // namespace fem
