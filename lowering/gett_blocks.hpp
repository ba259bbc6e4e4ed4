// gett_blocks: the parameters of a GPU's kernel for products whose sides and sum have any axes, and whose operands
// may be padded, kernels/gett.cuh: blocks and tiles of C, panels, and what a model of an SM expects of them.
//
// Of step::batched, products is a block's rows, panel its columns, tile_m and tile_n are the tensor cores' tiles a
// warp, or elements a thread.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// Whether the kernel can run a product that it takes (see fits_gett), and is faster than evaluating it element by
/// element.
bool fits_gett_blocks(const step& st, const machine& chip);

/// The product with its longer side as its rows: blocks that share rows run side by side, so that these are read
/// once.
step with_long_rows(step st);

std::vector<batched_tile> gett_block_tiles(const step& st, const machine& chip);

/// Seconds for all products of a step, where classes of extents stand for those that may change: what tiles are
/// chosen by.
std::vector<double> gett_block_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip);
/// For the extents that it has.
double gett_block_seconds_here(const step& st, const batched_tile& tile, const machine& chip);

/// Blocks of the launch.
std::int64_t gett_block_count(const step& st, const batched_tile& t);
/// Of them at once on an SM.
std::int64_t gett_resident_blocks(const step& st, const batched_tile& t, const machine& chip);

/// Of a block's shared memory, bytes: where its rows, columns and steps lie; all of it.
std::int64_t gett_places_bytes(const step& st, const batched_tile& t);
std::int64_t gett_shared_bytes(const step& st, const batched_tile& t);

/// Whether panels are summed apart (see the kernel): where three TF32 products make one of f32, and of sums in f32
/// that are so long that one addition after another would lose too much.
bool gett_sums_apart(const step& st, const batched_tile& t);

} // namespace ricci::lowering
