// tall_skinny_atb_layout: what the parameters of the GPU's kernels for C = X^T Y with a long k mean: warps' parts,
// vectors, shared memory, blocks.
//
//   tall_skinny_atb          X and Y go through shared memory in panels           any product
//   tall_skinny_atb_threads  a thread takes steps into registers, multiply-adds   small m and n
//   tall_skinny_atb_warps    a warp takes steps into registers, the tensor cores  no complex numbers
//
// What a batched_tile says of the latter two (in_registers): k_panel is k_lane, k_unrolled as in the kernels, stages
// the blocks of an SM; and of _warps: tile_m and tile_n are the slots of X and Y. Of the first, realigned: panels of
// columns that start anywhere come by boxes, panel_shifts.hpp, and stages are those as they come.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <array>

namespace ricci::lowering {

enum class atb_kernel : std::uint8_t { panels, threads, warps };
atb_kernel atb_kernel_of(const batched_tile& t);

struct atb_sizes {
    std::int64_t m, n, k, x, y, compute; ///< extents; bytes of an element
    std::int64_t row;                    ///< bytes of X and Y that a step of the sum takes
};
atb_sizes atb_sizes_of(const step& st);

/// How X [1] and Y [2] come into the registers of a kernel: see kernels/tall_skinny_atb_threads.cuh, _warps.cuh.
enum class atb_vectors : std::uint8_t { none, of_steps, whole_rows };
struct atb_vector_layout {
    std::array<atb_vectors, 3> threads{};
    std::array<bool, 3> along_k{};
    std::array<std::int32_t, 3> vector{1, 1, 1}, slots{}, parts{1, 1, 1};
};
atb_vector_layout atb_vectors_of(const step& st, const batched_tile& t);

/// Registers of a thread that C takes, and all, predicted.
std::int64_t atb_sum_registers(const step& st, const batched_tile& t);
std::int64_t atb_registers(const step& st, const batched_tile& t);

/// Blocks of an SM whose threads may have so many registers.
std::int64_t atb_blocks_by_registers(std::int64_t registers, std::int64_t threads);

/// Threads of a block, the copying warps' among them, and these: see kernels/panel_ring.cuh.
std::int32_t atb_threads(const step& st, const batched_tile& t);
std::int64_t atb_copy_warps(const step& st, const batched_tile& t);

/// Shared memory of a block, bytes; of that before the first panel.
std::int64_t atb_shared_bytes(const step& st, const batched_tile& t);
std::int64_t atb_barrier_bytes(const batched_tile& t);

/// Panels that are there to be multiplied; of `realigned` ones t.stages more are on their way.
std::int64_t atb_stages(const batched_tile& t);

/// Steps of the sum that a block's share is counted in.
std::int64_t atb_unit(const batched_tile& t);

/// Blocks that an SM has room for together, and those of a launch. The cut depends on the sizes, the tile and
/// the chip only, never on what else runs.
std::int64_t atb_resident_blocks(const step& st, const batched_tile& t, const machine& chip);
std::int64_t atb_blocks(const step& st, const batched_tile& t, const machine& chip);

/// Threads of a block that adds up the blocks' sums, and the elements of C that it has.
inline constexpr std::int64_t atb_threads_of_sums = 512;
inline constexpr double atb_seconds_of_sums = 1.5e-6; ///< what that kernel takes behind the first: kernels/block_sums
std::int64_t atb_columns_of_sums(const step& st);

/// The workspace, for the blocks' sums, with any tile.
std::int64_t atb_workspace_bytes(const step& st, const machine& chip);

} // namespace ricci::lowering
