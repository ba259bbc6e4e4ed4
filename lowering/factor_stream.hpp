// factor_stream: the parameters of the GPU's factor_stream kernel, of family factor_block, and what each would cost:
// LU of square f64 matrices that pass through a block's shared memory.
//
// What batched_tile's members mean there: streamed; products 1, though a block takes as many matrices one after
// another as there are blocks too few; stages: blocks that an SM has room for.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// The fastest first; empty where the kernel is not for the step: it takes f64 with exchanges, sm_90, square matrices
/// of more than 64 rows that fit shared memory, and neither solves nor finds determinants.
std::vector<batched_tile> factor_stream_candidates(const step& st, const machine& chip);

/// Blocks that run at once, or fewer where there are fewer matrices.
std::int64_t factor_stream_blocks(const step& st, const batched_tile& tile, const machine& chip);

/// Dynamic shared memory a block.
std::int64_t factor_stream_shared_bytes(const step& st);

/// Of all matrices, without the start of a kernel.
double factor_stream_seconds(const step& st, const batched_tile& tile, const machine& chip);

} // namespace ricci::lowering
