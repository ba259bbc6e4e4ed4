// panel_model: the parameters of the GPU's kernels that stream panels of k through shared memory.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Whether batched_panels takes a product: single axes m, n and k.
bool takes_panels(const step& st);

/// The parameters of batched_panels for a product.
batched_tile choose_panels_tile(const step& st, const machine& chip);

/// The parameters of tall_skinny_atb for a product.
batched_tile choose_atb_tile(const step& st, const machine& chip);

/// Slices of tall_skinny_atb whose sums fit shared memory together.
std::int64_t atb_parts_at_once(const step& st, const batched_tile& t);

/// Shared memory of a block of tall_skinny_atb, bytes.
std::int64_t atb_shared_bytes(const step& st, const batched_tile& t);

/// The parameters of tall_skinny_ab for a product with a long m.
batched_tile choose_ab_tile(const step& st, const machine& chip);

/// How C lies in shared memory of tall_skinny_ab: see kernels/tall_skinny_ab.cuh.
struct ab_result {
    enum class along : std::uint8_t { columns, rows, whole_rows } lines = along::columns;
    std::int64_t row = 1, column = 1; ///< elements from one row, column to the next
    std::int64_t bytes = 0;           ///< none where m has several axes
};
ab_result ab_result_layout(const step& st, const batched_tile& t);

/// Blocks of tall_skinny_ab that fit an SM together, with 168 registers a thread.
std::int64_t ab_resident_blocks(const step& st, const batched_tile& t, const machine& chip);

/// Blocks of tall_skinny_ab: one each for so many rows, or fewer that take turns where Y is large and there are enough for the chip.
std::int64_t ab_blocks(const step& st, const batched_tile& t, const machine& chip);

/// Shared memory of a block of tall_skinny_ab, bytes.
std::int64_t ab_shared_bytes(const step& st, const batched_tile& t);

} // namespace ricci::lowering
