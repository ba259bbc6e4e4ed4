// scatter_left: makes a step of its own of what adds to elements that tables with equal entries give.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Says how equal entries add up on this chip; what holds sums goes into a temporary first, with one element for each
/// combination of the left's indices, so that the last step is a tree without sums: it evaluates each once.
plan scatter_left(plan p, const statement& s, const machine& chip);

} // namespace ricci::lowering
