// substitute_lanes: the legal parameters of the GPU's substitute_lanes kernel, some lanes of a warp, or one, a matrix
// in shared memory, and what each would cost.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// The model's choice first; empty where no matrix fits. substitute_layout.hpp says what a tile's members mean.
std::vector<batched_tile> substitute_lanes_candidates(const step& st, const machine& chip);

/// Dynamic shared memory a block.
std::int64_t substitute_lanes_shared_bytes(const step& st, const batched_tile& tile);

/// Of all matrices, without the start of a kernel.
double substitute_lanes_seconds(const step& st, const batched_tile& tile, const machine& chip);

} // namespace ricci::lowering
