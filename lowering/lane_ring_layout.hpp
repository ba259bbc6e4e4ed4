// lane_ring_layout: which interleaved products kernels/batched_lane_ring.cuh and batched_lane_shifts.cuh take, and
// how their blocks divide them.
//
// Of their tiles (boxed): threads with the helper warps', panel columns of C a block, slices parts of C that shared
// memory holds, skewed of batched_lane_shifts; products, thread_products, tile_m, tile_n, k_panel, stages,
// k_unrolled.
#pragma once

#include "lowering/box_layout.hpp"
#include "lowering/lanes_product.hpp"
#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <array>
#include <cstdint>

namespace ricci::lowering {

/// Whether C, X and Y, of which none is one matrix for all products, move in boxes where their pointers are aligned
/// to 16 bytes. Else the kernel, if it is taken, moves them element by element, at a third of the speed of others.
bool moves_lanes_in_boxes(const step& st, const machine& chip);

/// Whether a boxed tile is of batched_lane_shifts.
inline bool is_shifted(const batched_tile& t) { return t.skewed; }
/// Warps of a block that multiply nothing.
inline int lane_helper_warps(const batched_tile& t) { return is_shifted(t) ? 3 : 2; }

/// Whether batched_lane_shifts takes them: their lines may start anywhere.
bool shifts_lanes(const step& st, const machine& chip);

/// The maps of its boxes of C, X and Y: of residues that have the most lines, or one less, and of those lines with
/// which the operand ends.
enum class shifted_lines : std::uint8_t { most, fewer, last };
inline constexpr int shifted_maps = 9;
constexpr int shifted_map(int o, shifted_lines lines) { return 3 * o + static_cast<int>(lines); }

/// Whether lines of C (o: 0), X (1) and Y (2) are aligned otherwise at the next row (column, of Y), and at the next
/// step of the sum (column, of C).
struct lane_shifts {
    std::array<bool, 3> others{}, steps{};
};
lane_shifts lane_shifts_of(const step& st);

/// What does not change with the tile.
struct lane_ring_product : lanes_product {
    explicit lane_ring_product(const step& st) : lanes_product(st), shifts(lane_shifts_of(st)) {}
    lane_shifts shifts;
};

/// How a block cuts C, and what lies where in its shared memory.
struct lane_ring_layout {
    std::int64_t rows = 1, columns = 1; ///< of C, a block
    std::int64_t row_blocks = 1, column_blocks = 1;
    std::array<std::int64_t, 3> region{}; ///< bytes: of C 0, from a part's start; X and Y from a stage's
    // Of batched_lane_shifts.
    std::int64_t residues = 1;
    std::array<std::int64_t, 3> residues_of{1, 1, 1}, box_bytes{}; ///< of C, X and Y
    std::array<bool, 3> steps_shift{};
    bool boxes_fit = true; ///< as the copy engine wants them
    std::int64_t stage_bytes = 0, c_bytes = 0, barrier_bytes = 0, shared_bytes = 0;
};
lane_ring_layout lane_ring_layout_of(const lane_ring_product& p, const batched_tile& t);
inline lane_ring_layout lane_ring_layout_of(const step& st, const batched_tile& t) {
    return lane_ring_layout_of(lane_ring_product(st), t);
}

/// Whether the copy engine may have a step's boxes where its pointers are aligned as they want it.
bool has_lane_boxes(const step& st, const batched_tile& t, const machine& chip);

/// The boxes of C (o: 0), X (1) or Y (2).
box_layout lane_boxes_of(const step& st, int o, const batched_tile& t, const lane_ring_layout& layout);

/// Of batched_lane_shifts.
box_layout shifted_boxes_of(const step& st, int o, const batched_tile& t, const lane_ring_layout& layout,
                            shifted_lines lines);

/// Blocks that fit an SM together, with the registers that a thread is expected to need; 0: not even one.
std::int64_t lane_ring_resident_blocks(const lane_ring_product& p, const batched_tile& t,
                                       const lane_ring_layout& layout, const machine& chip);
std::int64_t lane_ring_resident_blocks(const step& st, const batched_tile& t, const machine& chip);

/// Blocks, each of which does parts of C of neighboring products, one after another.
std::int64_t lane_ring_blocks(const step& st, const batched_tile& t, const machine& chip);

} // namespace ricci::lowering
