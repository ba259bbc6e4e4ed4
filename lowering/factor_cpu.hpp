// factor_cpu: parameters of a CPU's kernels of factorizations, kernels/factor_lanes_cpu.hpp and
// factor_block_cpu.hpp, and how long they take. Of batched_tile (factor_layout.hpp) these know `products`, a
// vector's lanes for factor_lanes and 1 for factor_block, and factor_block's QR `k_panel`.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <vector>

namespace ricci::lowering {

/// Legal parameters of st.kernel, factor_lanes or factor_block, best first; empty where it cannot run.
std::vector<batched_tile> factor_cpu_candidates(const step& st, const machine& chip);

/// Of all matrices, by st.kernel.
double factor_cpu_seconds(const step& st, const batched_tile& tile, const machine& chip);

} // namespace ricci::lowering
