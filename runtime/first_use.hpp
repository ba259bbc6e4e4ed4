// first_use: tunes the kernels of a statement or a program when it runs for the first time.
#pragma once

#include "lowering/plan.hpp"
#include "lowering/statement.hpp"
#include "runtime/backend.hpp"

namespace ricci::runtime {

/// Measures the steps and chains of `p`, the plan of `s` or of the statements that are joined in `s`, for which
/// nothing was measured yet, and keeps what it finds in the chip's database. True where it found something, so that
/// lowering again gives another plan. Works on memory of its own; where there is not enough, or a kernel fails, the
/// step is left to the model.
bool tune_steps(backend& b, const lowering::statement& s, const lowering::plan& p);

} // namespace ricci::runtime
