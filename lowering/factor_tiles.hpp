// factor_tiles: the parameters of the GPU's factor_tiles kernel, of family factor_lanes, and what each would cost: LU
// of square f64 matrices in the registers of one or two warps as tiles of the tensor cores.
//
// What batched_tile's members mean there: tile_n 0, which no other kernel of the family has; tile_m 32 or 64 lanes
// share a matrix; products * tile_m threads; stages as factor_layout.hpp has it; boxed: matrices lie one behind
// another.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// Whether a tile of factor_lanes is one of these.
bool is_in_tiles(const batched_tile& tile);

/// The fastest first; empty where the kernel is not for the step: it takes f64 with exchanges, sm_90, square matrices
/// of 17 to 64 rows with neighbors in a column or a row, and neither solves nor finds determinants.
std::vector<batched_tile> factor_tiles_candidates(const step& st, const machine& chip);

/// Whether they were measured to be faster than the lanes' kernels.
bool tiles_are_faster(const step& st);

/// Dynamic shared memory a block.
std::int64_t factor_tiles_shared_bytes(const step& st, const batched_tile& tile);

/// Of all matrices, without the start of a kernel.
double factor_tiles_seconds(const step& st, const batched_tile& tile, const machine& chip);

} // namespace ricci::lowering
