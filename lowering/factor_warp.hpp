// factor_warp: the parameters of the GPU's factor_warp kernel, of family factor_lanes, and what each would cost: LU
// of matrices in shared memory, by some lanes of a warp each, by panels and the tensor cores.
//
// What batched_tile's members mean there: core mma, which no other kernel of the family has; tile_m 8, 16 or 32 lanes
// a matrix; products * tile_m threads; k_panel columns a panel; stages as factor_layout.hpp has it; boxed: matrices
// lie one behind another.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// Whether a tile of factor_lanes is one of these.
bool is_by_warps(const batched_tile& tile);

/// The fastest first; empty where the kernel is not for the step: it takes LU with exchanges of all types, sm_90,
/// matrices of 9 to 64 rows and columns with neighbors in a column or a row, and as many right-hand sides as shared
/// memory has room for.
std::vector<batched_tile> factor_warp_candidates(const step& st, const machine& chip);

/// Whether they were faster than factor_lanes.cpp's kernels on an H100 at sizes like the step's; of f64 with right-hand
/// sides, from 15 rows on, on an H200.
bool warps_are_faster(const step& st);

/// Dynamic shared memory a block.
std::int64_t factor_warp_shared_bytes(const step& st, const batched_tile& tile);

/// Of all matrices, without the start of a kernel.
double factor_warp_seconds(const step& st, const batched_tile& tile, const machine& chip);

} // namespace ricci::lowering
