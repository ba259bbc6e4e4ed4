// gett_product: products whose sides and sum have any axes, and whose operands may be padded, kernels/gett_cpu.hpp
// and gett.cuh: which these are, and their kernels' parameters, a CPU's by gett_packed, a GPU's by gett_blocks.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <vector>

namespace ricci::lowering {

/// Whether the chip's kernel can run the product, and is faster than evaluating it element by element.
bool fits_gett(const step& st, const machine& chip);

/// The product as the chip's kernel takes it: with its sides swapped where that is expected to be faster.
step as_gett(step st, const machine& chip);

std::vector<batched_tile> gett_tiles(const step& st, const machine& chip);

/// Seconds for all products of a step, where usual extents stand for those that may change: what tiles are chosen by.
std::vector<double> gett_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip);
/// For the extents that it has.
double gett_seconds_here(const step& st, const batched_tile& tile, const machine& chip);

} // namespace ricci::lowering
