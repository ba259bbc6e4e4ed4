// fuse_matrix_axes: fewer and longer axes of a step that works on matrices.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Joins axes of the batch, and of right-hand sides, that follow one another in every operand. The axes are then
/// rows, columns, right-hand sides, the vector's, and the batch's, nearest in the matrix first.
void fuse_matrix_axes(step& st);

} // namespace ricci::lowering
