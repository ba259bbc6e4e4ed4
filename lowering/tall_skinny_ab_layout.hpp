// tall_skinny_ab_layout: what the parameters of the GPU's kernels for C = X*Y with a long m mean: rows, vectors,
// shared memory, blocks.
//
//   tall_skinny_ab           X, Y and C go through shared memory                    any product
//   tall_skinny_ab_threads   a thread takes rows of X into registers, multiply-adds one axis m, small widths
//   tall_skinny_ab_warps     a warp takes rows of X into registers, the tensor      one axis each of m, n, k; no
//                            cores                                                  complex numbers
//   tall_skinny_ab_boxes     a warp takes boxes of X through stages of its own, the same, and complex; X and C in
//                            tensor cores; sm_90                                    columns of one type, 4 or 8 bytes
//
// What a batched_tile says of _threads and _warps (in_registers): tile_m rows a thread, or row_slots; k_unrolled as
// in the kernels; and of _warps: k_panel is k_lane, stages is 2 where a block runs ahead. Of _boxes (boxed): tile_m
// boxes of a stage, stages of a warp, k_unrolled.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/mma_shape.hpp"
#include "lowering/plan.hpp"

namespace ricci::lowering {

enum class ab_kernel : std::uint8_t { shared, threads, warps, boxes };
ab_kernel ab_kernel_of(const batched_tile& t);

struct ab_sizes {
    std::int64_t m, n, k, x, y, c; ///< extents; bytes of an element
    std::int64_t words;            ///< registers of a sum
    std::int64_t c_passes;         ///< how often C goes through memory
    double products;               ///< real ones of one product
};
ab_sizes ab_sizes_of(const step& st);

/// The smallest step of an operand along the axes of a class; the largest number if it has none.
std::int64_t ab_smallest_step(const step& st, std::size_t operand, axis_class c);

/// Whether tall_skinny_ab_boxes takes a product: its columns start at multiples of 16 bytes if the first does, and it
/// has enough to do for a chip.
bool ab_takes_boxes(const step& st, const machine& chip);

/// A warp's box and stages of tall_skinny_ab_boxes.
struct ab_box_shape {
    std::int64_t rows, row_tiles, column_tiles, groups; ///< of a box; 8 columns; 8 steps of the sum
    std::int64_t pair_bytes;                            ///< a lane's numbers of Y for a group and a tile
    std::int64_t c_place, box_bytes, y_bytes;           ///< box_bytes: of X and C
};
ab_box_shape ab_box_shape_of(const step& st, const mma_shape& mma);

/// A warp's tiles of tall_skinny_ab_warps.
struct ab_warp_shape {
    /// products: of a block of 4*k_lane steps
    std::int64_t lane_rows, elements, row_tiles, column_tiles, blocks, products;
    std::int64_t y_bytes;                                                        ///< of a lane and product
};
ab_warp_shape ab_warp_shape_of(const ab_sizes& s, const batched_tile& t, const mma_shape& mma);

/// Rows of a block at a time.
std::int64_t ab_rows_of_turn(const batched_tile& t);

/// Registers of a thread, predicted.
std::int64_t ab_registers(const step& st, const batched_tile& t);

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
