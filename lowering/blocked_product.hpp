// blocked_product: the parameters of a CPU's kernel for products that are more than a tile after another,
// kernels/batched_blocked_cpu.hpp: tiles, panels and blocks of C, and what a model of the core expects of them.
//
// Of step::batched, tile_m is a tile's vectors, tile_n its columns, k_panel the steps of the sum that are copied at a
// time, slices a block's panels of rows, panel its columns, stages 1 if the next product is fetched meanwhile.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// How C is divided.
struct blocked_layout {
    std::int64_t panel_rows = 0;                 ///< of a tile, elements
    std::int64_t block_rows = 0, row_blocks = 0; ///< rows of a block; blocks above one another
    std::int64_t column_blocks = 0;
};

blocked_layout blocked_layout_of(const step& st, const batched_tile& t, const machine& chip);

/// Whether tiles read X from where it is: it stays in L1, or too few columns would read what is copied of it.
bool reads_x_in_place(const step& st, const batched_tile& t);

/// The symmetry that the kernel makes use of: of a C whose mirrored axes are its rows and its columns.
symmetry symmetry_of_c(const step& st);

/// Of a symmetric product's flops, what a kernel computes where C has so many rows: 1 where none makes use of it.
double share_of_symmetric(std::int64_t rows, scalar_type compute, const machine& chip);

/// Whether the kernel can run the step, and is faster than one tile after another, batched_small.
bool fits_blocked(const step& st, const machine& chip);

/// Whether a BLAS, where it can compute the step, is faster than the kernel.
bool library_beats_blocked(const step& st);

std::vector<batched_tile> blocked_tiles(const step& st, const machine& chip);

/// Seconds for all products of a step.
std::vector<double> blocked_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip);

} // namespace ricci::lowering
