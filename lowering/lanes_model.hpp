// lanes_model: the legal parameters of the GPU's kernels for interleaved products, and what each would cost.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <array>
#include <vector>

namespace ricci::lowering {

/// Whether the batch runs fastest in every operand that has it.
bool is_interleaved(const step& st);

/// Whether the products of a batch lie one element apart in every operand, or share one.
bool has_neighboring_products(const step& st);

/// Whether a tile is of batched_lane_panels; boxed ones are of batched_lane_ring, others of batched_lanes, a thread a
/// product.
inline bool has_panels(const batched_tile& t) { return t.stages > 0 && !t.boxed; }

/// How a block of batched_lane_panels cuts C and where the panels of X [1] and Y [2] lie in a stage; [0] is unused.
struct lanes_layout {
    std::int64_t rows = 1, columns = 1; ///< of C, a block
    std::int64_t row_blocks = 1, column_blocks = 1;
    std::array<std::int64_t, 3> lines{};   ///< a step: as many rows or columns as the tiles have
    std::array<bool, 3> for_all{};         ///< one matrix for all products
    std::array<std::int64_t, 3> pitch{};   ///< bytes from one element's line to the next
    std::array<std::int64_t, 3> region{};  ///< bytes from the start of a stage
    std::int64_t stage_bytes = 0;
};
lanes_layout lanes_layout_of(const step& st, const batched_tile& t);

/// Shared memory of a block of batched_lane_panels, bytes.
std::int64_t lanes_shared_bytes(const step& st, const batched_tile& t);

/// Blocks of either kernel that fit an SM together, with the registers that the model expects a thread to need.
std::int64_t lanes_resident_blocks(const step& st, const batched_tile& t, const machine& chip);

/// Blocks of either kernel.
std::int64_t lanes_blocks(const step& st, const batched_tile& t);

/// Parameter sets that the kernels take for this product on this chip: all, or the best of very many.
std::vector<batched_tile> lanes_candidates(const step& st, const machine& chip);

/// Seconds that each of these candidates would take.
std::vector<double> lanes_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip);

} // namespace ricci::lowering
