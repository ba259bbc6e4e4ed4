// tall_skinny_ab_model: the legal parameters of the GPU's kernels for C = X*Y with a long m, and what each would
// cost.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"
#include "lowering/tall_skinny_ab_layout.hpp"

#include <vector>

namespace ricci::lowering {

/// All parameter sets, of the three kernels, for a product with a long m; none where k is 1 and n is too large for a
/// thread's registers.
std::vector<batched_tile> ab_candidates(const step& st, const machine& chip);

/// Seconds the model expects of each.
std::vector<double> ab_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip);

} // namespace ricci::lowering
