// gett_packed: the parameters of a CPU's kernel for products whose sides and sum have any axes, and whose operands
// may be padded, kernels/gett_cpu.hpp: tiles, panels and blocks of C, and what a model of the core expects of them.
//
// Of step::batched, tile_m is a tile's vectors, tile_n its columns, k_panel the steps of the sum that are packed at a
// time, slices a block's panels of rows, panel its columns.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// How C is divided.
struct gett_layout {
    std::int64_t block_rows = 0; ///< elements
    std::int64_t row_blocks = 0, column_blocks = 0;
};

/// Which steps of the sum are neighbors in an operand: none; along the sum's first axis, and all or none of them are
/// outside of a padded one; all, none of them outside.
enum class sum_lines : std::uint8_t { none, first_axis, all };

/// Of X (o: 1) or Y (2).
sum_lines gett_lines(const step& st, int o);

gett_layout gett_layout_of(const step& st, const batched_tile& t, const machine& chip);

/// Whether the kernel is faster than evaluating a product that it takes (see fits_gett) element by element.
bool fits_gett_packed(const step& st, const machine& chip);

std::vector<batched_tile> gett_packed_tiles(const step& st, const machine& chip);

/// Seconds for all products of a step, where usual extents stand for those that may change: what tiles are chosen by.
std::vector<double> gett_packed_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip);
/// For the extents that it has.
double gett_packed_seconds_here(const step& st, const batched_tile& tile, const machine& chip);

} // namespace ricci::lowering
