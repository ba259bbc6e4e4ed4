// batched_model: the legal parameters of the GPU's kernels for batched products, and what each would cost.
#pragma once

#include "lowering/batched_layout.hpp"
#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <vector>

namespace ricci::lowering {

/// What limits a candidate, each as the seconds that the whole batch would take if it were the only limit.
struct batched_cost {
    double memory = 0;  ///< the operands' bytes
    double shared = 0;  ///< wavefronts of shared memory, bank conflicts counted
    double issue = 0;   ///< instructions
    double arithmetic = 0;
    double latency = 0; ///< what the blocks that fit an SM at once cannot hide
    double seconds() const;
};

/// All parameter sets that the kernel takes for this product on this chip, those with one core after those with another.
std::vector<batched_tile> batched_candidates(const step& st, const machine& chip);

batched_cost cost_of(const step& st, const batched_layout& layout, const batched_tile& tile, const machine& chip);

/// batched_cost::seconds of each of these candidates; those that differ in products and threads only should follow one another.
std::vector<double> batched_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip);

/// The cheapest candidate by the model. A product of which a single one does not fit shared memory has none.
batched_tile choose_batched_tile(const step& st, const machine& chip);

} // namespace ricci::lowering
