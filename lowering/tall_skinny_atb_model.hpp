// tall_skinny_atb_model: the legal parameters of the GPU's kernels for C = X^T Y with a long k, and what each would
// cost.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <vector>

namespace ricci::lowering {

/// All parameter sets, of the three kernels, for a product.
std::vector<batched_tile> atb_candidates(const step& st, const machine& chip);

/// Seconds the model expects of each.
std::vector<double> atb_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip);

} // namespace ricci::lowering
