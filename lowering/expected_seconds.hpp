// expected_seconds: how long the model expects a plan to take.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Seconds of all of a plan's kernels, one after another: by the models that chose their parameters where there are
/// such, else the roofline at the part of it that such kernels were seen to reach. To be compared with another plan's;
/// no promise of a time.
double expected_seconds(const plan& p, const machine& chip);

} // namespace ricci::lowering
