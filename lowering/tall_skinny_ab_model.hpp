// tall_skinny_ab_model: the parameters of the GPU's kernels for C = X*Y with a long m, and what each would cost.
//
//   tall_skinny_ab           X, Y and C go through shared memory     any product
//   tall_skinny_ab_threads   a thread takes rows of X into registers, multiply-adds      one axis m, small widths
//   tall_skinny_ab_warps     a warp takes rows of X into registers, the tensor cores     one axis each of m, n, k; lines of vectors
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <vector>

namespace ricci::lowering {

enum class ab_kernel : std::uint8_t { shared, threads, warps };
ab_kernel ab_kernel_of(const batched_tile& t);

/// All parameter sets, of the three kernels, for a product with a long m; none where k is 1 and n is too large for a thread's registers.
std::vector<batched_tile> ab_candidates(const step& st, const machine& chip);

/// Seconds the model expects of each.
std::vector<double> ab_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip);

/// The cheapest by the model.
batched_tile choose_ab_tile(const step& st, const machine& chip);

/// How C lies in shared memory of tall_skinny_ab: see kernels/tall_skinny_ab.cuh.
struct ab_result {
    enum class along : std::uint8_t { columns, rows, whole_rows } lines = along::columns;
    std::int64_t row = 1, column = 1; ///< elements from one row, column to the next
    std::int64_t bytes = 0;           ///< none where m has several axes
};
ab_result ab_result_layout(const step& st, const batched_tile& t);

/// What may be moved by vectors: see kernels/tall_skinny_ab_threads.cuh.
enum class ab_vectors : std::uint8_t { none, of_rows, whole_rows };

/// Rows side by side in a thread, or in slots of a lane; and along what the vectors of X and C lie.
struct ab_vector_layout {
    std::int64_t row_vector = 1;
    ab_vectors x = ab_vectors::none, c = ab_vectors::none;
    bool x_along_m = false; ///< of tall_skinny_ab_warps, else along k
};
ab_vector_layout ab_vectors_of(const step& st, const batched_tile& t);

/// Blocks that fit an SM together, by the registers expected of a thread and by shared memory.
std::int64_t ab_resident_blocks(const step& st, const batched_tile& t, const machine& chip);

/// Blocks of the launch: one each for so many rows, or fewer that take turns.
std::int64_t ab_blocks(const step& st, const batched_tile& t, const machine& chip);

/// Shared memory of a block, bytes.
std::int64_t ab_shared_bytes(const step& st, const batched_tile& t);

} // namespace ricci::lowering
