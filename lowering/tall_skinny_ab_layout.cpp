// tall_skinny_ab_layout: what the parameters of the GPU's kernels for C = X*Y with a long m mean: rows, vectors,
// shared memory, blocks.
#include "lowering/tall_skinny_ab_layout.hpp"

#include "lowering/batched_layout.hpp"
#include "lowering/box_layout.hpp"
#include "lowering/families.hpp"
#include "lowering/sm_limits.hpp"
#include "lowering/tuning_key.hpp"

#include <algorithm>
#include <cstdlib>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr std::int64_t most_sums = 64;           ///< registers of C, of set_tiles' tiles
constexpr std::int64_t own_registers = 32;       ///< of a thread, beside its numbers of X, Y and C; of a warp's lanes
constexpr std::int64_t own_of_lane = 56, own_of_16_rows = 40, own_of_boxes = 48, own_of_another_group = 36;

bool is_single(const step& st, axis_class c) { return axes_of(st, c).size() == 1; }

/// Not those that it needs, but those that are always enough.
std::int64_t registers_of_shared(const step& st, const batched_tile& t) {
    const auto words = size_of(st.compute) / 4,
               sums = t.tile_m * t.tile_n * words * (t.core == batched_core::mma ? mma_of(st, t)->rows / 4 : 1);
    return sums > most_sums / 2 ? 255 : 168;
}

std::int64_t registers_of_threads(const ab_sizes& s, const batched_tile& t) {
    return t.tile_m * (s.n * s.words + (t.k_unrolled < s.k ? 2 : 1) * up(t.k_unrolled * s.x, 4)) + own_registers;
}

std::int64_t registers_of_warps(const ab_sizes& s, const batched_tile& t, const mma_shape& mma) {
    const auto w = ab_warp_shape_of(s, t, mma);
    const auto sums = 2 * w.lane_rows * w.row_tiles * w.column_tiles * (mma.element_bytes == 8 ? 2 : 1);
    const auto split = mma.repeats > 1 ? 2 * t.tile_m * w.elements : 0;
    return sums + split + (t.k_unrolled < w.blocks ? 2 : 1) * up(t.k_unrolled * t.tile_m * t.k_panel * s.x, 4) +
           w.y_bytes / 4 + own_of_lane + (t.rows_of_16 ? own_of_16_rows : 0);
}

std::int64_t registers_of_boxes(const step& st, const batched_tile& t, const mma_shape& mma) {
    const auto w = ab_box_shape_of(st, mma);
    const std::int64_t parts = is_complex(st.compute) ? 2 : 1, words = mma.element_bytes == 8 ? 2 : mma.words;
    const auto sums = parts * w.row_tiles * w.column_tiles * 4 * (mma.element_bytes == 8 ? 2 : 1);
    return sums + w.row_tiles * parts * 4 * words + std::min<std::int64_t>(w.column_tiles, 4) * w.pair_bytes / 4 +
           own_of_boxes + (t.k_unrolled - 1) * own_of_another_group;
}

} // namespace

bool ab_takes_boxes(const step& st, const machine& chip) {
    const auto* mma = mma_of(st, chip);
    const auto type = operand_of(st, 0).type;
    // Element by element they are slower than other kernels: 39 to 55 % of the triad on an H200.
    const auto moves = [&](int o, axis_class across) {
        const auto boxes = boxes_of(st, o, m, across, chip);
        return boxes && are_aligned(*boxes);
    };
    return mma != nullptr && size_of(type) >= 4 && type == operand_of(st, 1).type && axes_of(st, batch).empty() &&
           batch_of(st, chip) == batch_class::many && moves(1, k) && moves(0, n);
}

ab_box_shape ab_box_shape_of(const step& st, const mma_shape& mma) {
    const auto s = ab_sizes_of(st);
    const std::int64_t parts = is_complex(st.compute) ? 2 : 1, number = mma.element_bytes == 8 ? 8 : 4 * mma.words;
    const auto of_x = box_bytes(s.k), of_c = box_bytes(s.n);
    const bool adds = st.op != assignment::assign;
    ab_box_shape out{};
    out.rows = box_elements(s.x), out.row_tiles = out.rows / 16;
    out.column_tiles = up(s.n, 8), out.groups = up(s.k, 8);
    out.pair_bytes = 2 * parts * number;
    out.c_place = adds ? of_x : 0, out.box_bytes = adds ? of_x + of_c : std::max(of_x, of_c);
    out.y_bytes = out.groups * out.column_tiles * warp * out.pair_bytes;
    return out;
}

ab_kernel ab_kernel_of(const batched_tile& t) {
    if (t.boxed) return ab_kernel::boxes;
    return !t.in_registers ? ab_kernel::shared : t.core == batched_core::mma ? ab_kernel::warps : ab_kernel::threads;
}

ab_sizes ab_sizes_of(const step& st) {
    const auto bytes = [&](std::int32_t o) { return size_of(st.operands[static_cast<std::size_t>(o)].type); };
    return {extent_of(st, m),
            extent_of(st, n),
            extent_of(st, k),
            bytes(st.x),
            bytes(st.y),
            bytes(0),
            size_of(st.compute) / 4,
            st.op == assignment::assign ? 1 : 2,
            is_complex(st.compute) ? 4.0 : 1.0};
}

std::int64_t ab_smallest_step(const step& st, std::size_t operand, axis_class c) {
    std::int64_t nearest = INT64_MAX;
    for (const auto a : axes_of(st, c))
        if (const auto s = std::abs(st.operands[operand].stride[static_cast<std::size_t>(a)]); s != 0)
            nearest = std::min(nearest, s);
    return nearest;
}

ab_warp_shape ab_warp_shape_of(const ab_sizes& s, const batched_tile& t, const mma_shape& mma) {
    ab_warp_shape out;
    out.lane_rows = mma.rows / 8, out.elements = 4 / mma.splits;
    out.row_tiles = t.c_transposed ? t.tile_m : t.tile_m / out.lane_rows;
    out.column_tiles = up(s.n, t.c_transposed ? mma.rows : 8);
    out.blocks = up(s.k, 4 * t.k_panel), out.products = t.k_panel / out.elements;
    const auto stored = mma.repeats > 1 ? 8 : mma.element_bytes;
    out.y_bytes = up(out.column_tiles * (t.c_transposed ? out.lane_rows : 1) * out.elements * stored, 16) * 16;
    return out;
}

std::int64_t ab_rows_of_turn(const batched_tile& t) {
    switch (ab_kernel_of(t)) {
    case ab_kernel::threads: return std::int64_t{t.threads} * t.tile_m;
    case ab_kernel::warps: return t.threads / warp * 8 * std::int64_t{t.tile_m};
    default: return t.products; // of boxes too
    }
}

std::int64_t ab_registers(const step& st, const batched_tile& t) {
    const auto s = ab_sizes_of(st);
    switch (ab_kernel_of(t)) {
    case ab_kernel::threads: return registers_of_threads(s, t);
    case ab_kernel::warps: return registers_of_warps(s, t, *mma_of(st, t));
    case ab_kernel::boxes: return registers_of_boxes(st, t, *mma_of(st, t));
    default: return registers_of_shared(st, t);
    }
}

ab_result ab_result_layout(const step& st, const batched_tile& t) {
    ab_result out;
    if (axes_of(st, m).size() > 1) return out;
    const auto bytes = size_of(st.operands[0].type), rows = std::int64_t{t.products}, en = extent_of(st, n);
    const auto down = ab_smallest_step(st, 0, m), across = ab_smallest_step(st, 0, n);
    // lines start at multiples of 16 bytes, and those a warp writes at once lie on different banks
    if (en == 1 || down < across) {
        out.column = rows + (t.core == batched_core::mma ? 8 : 0);
        out.bytes = en * out.column * bytes;
    } else {
        const bool follow = is_single(st, n) && single_step(st, 0, n) == 1 && single_step(st, 0, m) == en;
        out.lines = follow ? ab_result::along::whole_rows : ab_result::along::rows;
        out.row = en;
        out.bytes = rows * en * bytes;
    }
    out.bytes = up(out.bytes, 128) * 128;
    return out;
}

ab_vector_layout ab_vectors_of(const step& st, const batched_tile& t) {
    const auto s = ab_sizes_of(st);
    ab_vector_layout out;
    if (!is_single(st, m)) return out;
    const auto kind = [&](std::int32_t o, axis_class side, std::int64_t width) {
        const bool one = width == 1; // then there is no line beside the first
        if (single_step(st, o, m) == 1 && (one || is_single(st, side))) return ab_vectors::of_rows;
        return single_step(st, o, m) == width && single_step(st, o, side) == 1 ? ab_vectors::whole_rows
                                                                                 : ab_vectors::none;
    };
    out.x = kind(st.x, k, s.k), out.c = kind(0, n, s.n);
    out.x_along_m = single_step(st, st.x, m) == 1;
    if (ab_kernel_of(t) == ab_kernel::warps) {
        const auto bytes = out.x_along_m ? s.x : t.c_transposed ? s.c : 16;
        out.row_vector = std::min<std::int64_t>({std::max<std::int64_t>(1, 16 / bytes), t.tile_m, 4});
        return out;
    }
    const auto vector =
        std::max({std::int64_t{1}, 16 / s.x, out.c == ab_vectors::whole_rows ? 16 / s.c : std::int64_t{1}});
    out.row_vector = std::min<std::int64_t>(vector, t.tile_m);
    // Whole rows take whole accesses of 16 bytes, and all steps at once.
    if (out.x == ab_vectors::whole_rows && (t.k_unrolled != s.k || out.row_vector * s.k * s.x % 16 != 0))
        out.x = ab_vectors::none;
    if (out.c == ab_vectors::whole_rows && out.row_vector * s.n * s.c % 16 != 0) out.c = ab_vectors::none;
    return out;
}

std::int64_t ab_resident_blocks(const step& st, const batched_tile& t, const machine& chip) {
    const auto registers = std::min<std::int64_t>(255, up(ab_registers(st, t), 8) * 8);
    const auto shared = ab_shared_bytes(st, t) + shared_of_a_block;
    return std::max<std::int64_t>(
        1, std::min({shared_of_an_sm(chip) / shared, registers_of_an_sm / (registers * t.threads),
                     threads_of_an_sm / t.threads, blocks_of_an_sm}));
}

std::int64_t ab_blocks(const step& st, const batched_tile& t, const machine& chip) {
    const auto turns = up(extent_of(st, m), ab_rows_of_turn(t)),
               at_once = ab_resident_blocks(st, t, chip) * chip.processors;
    if (axes_of(st, m).size() > 1 || ab_kernel_of(t) == ab_kernel::threads) return turns;
    if (ab_kernel_of(t) == ab_kernel::boxes) return std::min(turns, at_once);
    if (ab_kernel_of(t) == ab_kernel::warps)
        return std::max(up(extent_of(st, m), t.products), std::min(turns, 2 * at_once));
    constexpr std::int64_t x_over_y = 8; // Y is then an eighth of what is brought
    const auto s = ab_sizes_of(st);
    const auto own = std::clamp<std::int64_t>(up(x_over_y * s.k * s.n * s.y, t.products * s.k * s.x), 1,
                                              std::max<std::int64_t>(1, turns / (2 * at_once)));
    return up(turns, own);
}

std::int64_t ab_shared_bytes(const step& st, const batched_tile& t) {
    const auto s = ab_sizes_of(st);
    switch (ab_kernel_of(t)) {
    case ab_kernel::threads: { // see kernels/tall_skinny_ab_threads.cuh
        const auto compute = 4 * s.words;
        return up(s.k, t.k_unrolled) * t.k_unrolled * up(s.n * compute, 16) * 16;
    }
    case ab_kernel::warps: {
        const auto w = ab_warp_shape_of(s, t, *mma_of(st, t));
        return 16 + w.blocks * w.products * w.y_bytes * warp;
    }
    case ab_kernel::boxes: {
        const auto w = ab_box_shape_of(st, *mma_of(st, t));
        return box_alignment + t.threads / warp * t.stages * t.tile_m * w.box_bytes + w.y_bytes;
    }
    default: {
        const auto panel = barrier_bytes + panel_layout_of(st, t).stage_bytes;
        return panel + (is_single(st, m) ? ab_result_layout(st, t).bytes : 2 * 8 * std::int64_t{t.products});
    }
    }
}

} // namespace ricci::lowering
