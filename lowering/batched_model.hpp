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
    /// a block with one product, from start to end; none of the others, which are of a whole batch
    double alone = 0;
    double seconds() const;
};

/// By how much a candidate may take longer and count as good as another: the model cannot tell them apart.
inline constexpr double as_good = 0.02;

/// All parameter sets that the kernel takes for this product on this chip, those with one core after those with
/// another.
std::vector<batched_tile> batched_candidates(const step& st, const machine& chip);

/// The cost of each of these candidates; those that differ in products and threads only should follow one another.
std::vector<batched_cost> batched_costs(const step& st, const std::vector<batched_tile>& tiles, const machine& chip);

/// The cheapest candidate by the model. A product of which a single one does not fit shared memory has none.
batched_tile choose_batched_tile(const step& st, const machine& chip);

/// How many of `products` a block takes: as many as it has room for, or fewer, for all processors to have some.
std::int64_t batched_share(std::int64_t products, const batched_tile& t, const machine& chip);

} // namespace ricci::lowering
