// tall_skinny_atb_model: the legal parameters of the GPU's kernel for C = X^T Y with a long k, what each would cost, and what it needs.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <vector>

namespace ricci::lowering {

/// All parameter sets for a product.
std::vector<batched_tile> atb_candidates(const step& st, const machine& chip);

/// Seconds the model expects of each.
std::vector<double> atb_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip);

/// Threads of a block, a copying warp's among them: see kernels/panel_ring.cuh.
std::int32_t atb_threads(const step& st, const batched_tile& t);

/// Shared memory of a block, bytes.
std::int64_t atb_shared_bytes(const step& st, const batched_tile& t);

/// Blocks that an SM must have room for together, and those of a launch. The cut depends on the sizes, the tile and the chip only, never
/// on what else runs.
std::int64_t atb_resident_blocks(const step& st, const batched_tile& t, const machine& chip);
std::int64_t atb_blocks(const step& st, const batched_tile& t, const machine& chip);

/// The workspace with any tile, and where the blocks' sums begin in it.
std::int64_t atb_workspace_bytes(const step& st, const machine& chip);
std::int64_t atb_sums_offset(const machine& chip);

} // namespace ricci::lowering
