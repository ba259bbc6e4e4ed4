// neighbors: the blocks of an assembled matrix at the nodes of each element, to which its neighbors add.
#pragma once

#include "examples/fem/space/h1_space.hpp"
#include "examples/fem/space/tables.hpp"

namespace fem {

/// A(i,j,e): the entry at nodes i and j of element e of the matrix that is the sum of the element matrices K(i,j,e).
/// No other matrix is made on the way: with the elements f(n,e) that share nodes with e, itself among them,
///
///     A(i,j,e) = has(i,n,e)*has(j,n,e) * K(same(i,n,e), same(j,n,e), f(n,e))
///
/// where has(i,n,e) is 1 if f(n,e) has node i of e too, as its node same(i,n,e), and else 0.
vector assembled_blocks(const h1_space& space, const vector& element_matrices);

} // namespace fem
