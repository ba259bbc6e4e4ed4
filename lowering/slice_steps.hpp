// slice_steps: on a CPU, steps that hand each other temporaries run slice by slice of an index, so that these stay in
// the cache.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Puts neighboring steps into groups (step::group, plan::groups) where every temporary that passes between them, and
/// what each of them writes, depends on an axis that all have and none sums over: T(q,j,e) = B(q,j)*W(q,e) and
/// M(i,j,e) = B(q,i)*T(q,j,e), by a few e at a time. Only where the temporaries are more than the cache holds, and
/// along an axis that is outermost in memory and whose extent may change: the kernels are those of the whole. What is
/// left of the axis is a group of one slice behind.
plan slice_steps(plan p, const machine& chip);

} // namespace ricci::lowering
