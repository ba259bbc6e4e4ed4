// find_batches: which extents may change from call to call without a new kernel.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Sets axis::variable. Nothing in the notation tells a batch from a side of a matrix, so this goes by where an axis
/// stands:
///   - in a product of two operands, every axis of a side (m or n) that has several, if the other side has at most
///     one and no axis is in all three: C(i, j, e) = A(i, k, e)*B(k, j). Which of i and e is the batch cannot be
///     told, so neither is a constant. An axis in all three needs no mark: batch axes always are arguments.
///   - else the axes of the left that stand in every operand; where there are none, and the left has three axes or
///     more, the one that is outermost wherever it stands (the elements of M(i, j, e) = B(q, i)*W(q, e)*B(q, j)), and
///     one that is innermost wherever it stands, in operands of three axes or more (the images of O(b, k, y, x) =
///     relu(D(b, c, y + r, x + s)*F(k, c, r, s))).
plan find_batches(plan p);

} // namespace ricci::lowering
