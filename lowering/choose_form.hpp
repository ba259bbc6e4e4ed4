// choose_form: names what each step is and picks the kernel that runs it.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"
#include "lowering/tuning_table.hpp"

namespace ricci::lowering {

/// Fills shape, kernel and tile of every step. On a CPU a tall-skinny A^T B becomes two steps: partial sums over a
/// fixed cut of the long axis into a temporary, then their sum in a fixed order, so that its bits do not depend on
/// scheduling. Tiles are what is `known` of measurements, else the cost model's choice.
/// With dynamic_extents every step takes the direct kernel with its extents as arguments.
plan choose_form(plan p, const machine& chip, const priors& known, bool dynamic_extents);

} // namespace ricci::lowering
