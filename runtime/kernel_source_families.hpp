// kernel_source_families: one function for each file that writes the preludes of kernel families.
#pragma once

#include "runtime/kernel_source.hpp"

namespace ricci::runtime {

kernel_request make_direct(const lowering::step& st, const lowering::machine& chip);
kernel_request make_scatter(const lowering::step& st, const lowering::machine& chip);
/// batched_small, _lanes, _panels and _stationary.
kernel_request make_batched(const lowering::step& st, const lowering::machine& chip);
/// tall_skinny_atb and _ab.
kernel_request make_tall_skinny(const lowering::step& st, const lowering::machine& chip);
kernel_request make_winograd(const lowering::step& st, const lowering::machine& chip);
kernel_request make_tile_transform(const lowering::step& st, const lowering::machine& chip);
/// factor_lanes, factor_block, factor_blocked, substitute.
kernel_request make_factor(const lowering::step& st, const lowering::machine& chip);
/// Of plan::chains.
kernel_request make_chain(const lowering::chain& c, const lowering::machine& chip);

} // namespace ricci::runtime
