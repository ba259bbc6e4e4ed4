// factor_lanes: the legal parameters of the GPU's factor_lanes kernel for Cholesky and LU, and what each would cost.
//
// What batched_tile's members mean there: tile_m lanes share a matrix, of whose rows each has tile_n (1 lane: the
// whole matrix); products * tile_m threads; k_panel: columns after which the rows' registers become fewer; stages:
// the blocks of an SM that the compiler leaves registers for, 0: as it likes; boxed: the block's matrices are one
// span.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// The model's choice first, then others worth measuring; empty for other methods and where nothing fits.
std::vector<batched_tile> factor_lanes_candidates(const step& st, const machine& chip);

/// Dynamic shared memory a block.
std::int64_t factor_lanes_shared_bytes(const step& st, const batched_tile& tile, const machine& chip);

/// Of all matrices, without the start of a kernel.
double factor_lanes_seconds(const step& st, const batched_tile& tile, const machine& chip);

} // namespace ricci::lowering
