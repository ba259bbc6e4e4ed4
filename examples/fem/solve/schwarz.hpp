// schwarz: the additive Schwarz preconditioner with the elements as subdomains, a block Jacobi of blocks that
// overlap.
#pragma once

#include "examples/fem/solve/conjugate_gradient.hpp"
#include "examples/fem/space/h1_space.hpp"
#include "examples/fem/space/tables.hpp"

namespace fem {

/// z = sum_e R_e' W_e A_e^-1 W_e R_e r. R_e takes the values at the nodes of element e, A_e = R_e A R_e' is the
/// block of the assembled matrix A there (not the element's own matrix, which is singular: constants have no
/// gradient), and W_e divides by the root of how many elements have a node, so that nodes of many elements do not
/// count more often than others. Every A_e is a block on the diagonal of a symmetric positive definite matrix,
/// therefore one too, and so is the preconditioner.
///
/// `element_matrices` are K(i,j,e), of which A is the sum. free(g) is 0 at nodes where the solution is given: their
/// rows and columns are those of the identity, and z is r there. At nodes that no element has z is 0.
///
/// Throws mesh_error, naming an element, where a block is not positive definite in double precision.
linear_map additive_schwarz(const h1_space& space, const vector& element_matrices, const vector& free);

/// Throws not_enough_memory where what additive_schwarz needs, element matrices and all, is not there.
void check_schwarz_memory(const h1_space& space);

} // namespace fem
