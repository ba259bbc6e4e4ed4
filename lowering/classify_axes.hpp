// classify_axes: the roles of the axes in a product of two operands.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Fills x, y and classes of every step that is coefficient * sum of X*Y: batch, M, N, K as in a matrix product, by
/// where an axis occurs. Other steps are left alone.
plan classify_axes(plan p);

} // namespace ricci::lowering
