// sum_parts: a sum of everything into one element, as sums over parts of it and the sum of these.
#pragma once

#include "lowering/plan.hpp"

#include <vector>

namespace ricci::lowering {

/// The steps that do the work of `st`, in order, so that threads have parts of a long sum. What is added to what
/// depends on the extents only. None where the output has more than one element, or the sum is short.
std::vector<step> summed_in_parts(const step& st, plan& p);

} // namespace ricci::lowering
