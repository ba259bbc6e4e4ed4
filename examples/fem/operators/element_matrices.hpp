// element_matrices: the matrices of all elements, by one dense contraction or factor by factor.
#pragma once

#include "examples/fem/operators/geometry.hpp"
#include "examples/fem/space/tables.hpp"

#include <cstdint>

namespace fem {

/// How the sum over the points of an element is taken.
enum class assembly : std::uint8_t {
    dense,   ///< one sum over all points: A(i,j,e) = G(q,i,x)*D(x,y,q,e)*G(q,j,y), few large products
    factored ///< direction by direction, far fewer operations at higher orders
};

/// A(i,j,e), [n][n][elements], n nodes an element, lexicographic. `weights` and `metric` are those of element_map at
/// the points of `basis`; `name` is the mesh's, for messages. Throws not_enough_memory.
vector element_mass_matrices(const tables& basis, int dimension, std::int64_t elements, const vector& weights,
                             assembly how);
vector element_diffusion_matrices(const tables& basis, int dimension, std::int64_t elements, const vector& metric,
                                  assembly how);

} // namespace fem
