// fuse_statements: steps that hand each other temporaries become one kernel, a chain, in which these stay.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"
#include "lowering/tuning_table.hpp"

namespace ricci::lowering {

/// Finds neighboring steps that all depend on one axis, whose values are then elements: what passes from step to step
/// of an element is kept in registers and shared memory (a CPU's cache) and never in a temporary. A step that does
/// not fit ends a chain; a note says why, and how many bytes a chain saves. Only where that is expected to be faster
/// than a kernel for each. `known`: blocks of chains that were measured.
plan fuse_statements(plan p, const machine& chip, const priors& known = {});

} // namespace ricci::lowering
