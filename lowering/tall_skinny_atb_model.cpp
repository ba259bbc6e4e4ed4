// tall_skinny_atb_model: the legal parameters of the GPU's kernel for C = X^T Y with a long k, what each would cost, and what it needs.
#include "lowering/tall_skinny_atb_model.hpp"

#include "lowering/batched_layout.hpp"
#include "lowering/families.hpp"
#include "lowering/mma_shape.hpp"
#include "lowering/panel_model.hpp"
#include "lowering/tuning_key.hpp"

#include <algorithm>
#include <bit>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr std::int64_t warp = 32;
constexpr std::int64_t most_blocks_of_an_sm = 2;
constexpr std::int64_t most_stages = barrier_bytes / 16; ///< two barriers each
constexpr std::int64_t shared_of_a_block = 1 << 10;      ///< of an SM, beside what a block asks for

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t power_of_two_within(std::int64_t x) { return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, x)))); }

struct atb_sizes {
    std::int64_t m, n, k, x, y, compute; ///< extents; bytes of an element
    std::int64_t row;                    ///< bytes of X and Y that a step of the sum takes
};
atb_sizes atb_sizes_of(const step& st) {
    atb_sizes out{extent_of(st, m), extent_of(st, n), extent_of(st, k), size_of(st.operands[static_cast<std::size_t>(st.x)].type),
                  size_of(st.operands[static_cast<std::size_t>(st.y)].type), size_of(st.compute), 0};
    out.row = out.m * out.x + out.n * out.y;
    return out;
}

/// Registers that a thread may have for C: split and complex numbers need many others. Then two blocks of 256 threads share an SM.
std::int64_t most_sums(const step& st, const mma_shape* mma) { return mma != nullptr && (mma->repeats > 1 || is_complex(st.compute)) ? 32 : 64; }

std::int64_t sum_registers(const step& st, const batched_tile& t) {
    const auto numbers = t.core == batched_core::mma ? mma_of(st)->rows / 4 : 1;
    return std::int64_t{t.tile_m} * t.tile_n * numbers * size_of(st.compute) / 4;
}

/// Registers of a thread, predicted: beside C's a step's numbers, brought into the form in which they are multiplied.
std::int64_t ring_registers(const step& st, const batched_tile& t) {
    std::int64_t numbers = (t.tile_m + t.tile_n) * t.k_unrolled * size_of(st.compute) / 4;
    if (t.core == batched_core::mma) {
        const auto* mma = mma_of(st);
        const auto elements = 4 / mma->splits, parts = is_complex(st.compute) ? 2 : 1;
        numbers = (t.tile_m * mma->rows / 8 + t.tile_n) * elements * parts * mma->words * (mma->repeats > 1 ? 3 : 4) / 2;
    }
    return (panel_layout_of(st, t).by_bulk ? 72 : 64) + sum_registers(st, t) + numbers;
}

/// Blocks of an SM whose threads may have so many registers: the compiler counts in four warps.
std::int64_t blocks_by_registers(std::int64_t registers, std::int64_t threads) {
    constexpr std::int64_t of_an_sm = 65536;
    return of_an_sm / (up(registers, 8) * 8 * up(threads, 4 * warp) * 4 * warp);
}

std::int64_t ring_bytes(const step& st, const batched_tile& t) { return barrier_bytes + t.stages * panel_layout_of(st, t).stage_bytes; }

/// Panels of about so many bytes, as many as fit `most_bytes`; false if not two do.
bool set_ring(batched_tile& t, const step& st, std::int64_t panel_bytes, std::int64_t most_bytes) {
    const std::int64_t least = t.slices * (t.core == batched_core::mma ? 16 : 1);
    t.k_panel = static_cast<std::int32_t>(std::max(power_of_two_within(panel_bytes / atb_sizes_of(st).row), least));
    const auto layout = panel_layout_of(st, t);
    const auto most = layout.by_bulk ? most_stages : 4;
    t.stages = static_cast<std::int32_t>(std::min(most, (most_bytes - barrier_bytes) / layout.stage_bytes));
    return t.stages >= 2 && atb_shared_bytes(st, t) <= most_bytes && blocks_by_registers(ring_registers(st, t), atb_threads(st, t)) > 0;
}

/// All rings of tiles whose size is set.
void add_rings(std::vector<batched_tile>& out, batched_tile t, std::int64_t tiles, std::int64_t tile_threads, const step& st, const machine& chip) {
    for (const std::int64_t threads : {256, 128, 512}) {
        if (tiles * tile_threads > threads) continue;
        for (auto slices = power_of_two_within(threads / (tiles * tile_threads)); slices > 0; slices /= 2) {
            bool any = false;
            t.slices = static_cast<std::int32_t>(slices);
            t.threads = static_cast<std::int32_t>(up(tiles * tile_threads * t.slices, warp) * warp);
            for (const std::int64_t panel : {16 << 10, 8 << 10, 32 << 10})
                for (const std::int64_t blocks : {2, 1})
                    if (set_ring(t, st, panel, chip.shared_bytes / blocks - shared_of_a_block)) {
                        any = true;
                        if (std::find(out.begin(), out.end(), t) == out.end()) out.push_back(t);
                    }
            if (any) break; // else fewer threads share a panel: wide operands' smallest panels, or all sums, would not fit
        }
    }
}

/// What a tuner may choose must not depend on the height, an argument of the kernel: one for low matrices and one for tall ones.
step of_class_height(step st, const machine& chip) {
    constexpr double low = 1.5e6, tall = 400e6; // bytes
    const auto bytes = batch_of(st, chip) == batch_class::many ? tall : low;
    const auto steps = static_cast<std::int64_t>(bytes / static_cast<double>(atb_sizes_of(st).row)) + 1;
    for (const auto a : axes_of(st, k)) st.axes[static_cast<std::size_t>(a)].extent = steps;
    return st;
}

/// From the last product on: slices' sums, the meeting, and the blocks' sums, written and read through the L2 cache.
double tail_seconds(const step& st, const batched_tile& t, const machine& chip) {
    const auto s = atb_sizes_of(st);
    const auto sums = static_cast<double>(s.m * s.n * s.compute), blocks = static_cast<double>(atb_blocks(st, t, chip));
    constexpr double shared_bytes_a_second = 150e9; // of an SM
    return sums * t.slices * 2 / shared_bytes_a_second + (blocks > 1 ? 2e-6 + 2 * blocks * sums / chip.bandwidth : 0);
}

double ring_seconds(const step& st, const batched_tile& t, const machine& chip) {
    const auto s = atb_sizes_of(st);
    const double loads = t.tile_m + t.tile_n, multiplies = t.tile_m * t.tile_n, parts = is_complex(st.compute) ? 2 : 1;
    // Instructions of a warp for one of its steps, and the warps of all tiles at a step.
    double a_step = 0, warps = 0;
    if (t.core == batched_core::mma) {
        const auto* mma = mma_of(st);
        const auto rows = t.c_transposed ? s.n : s.m, columns = t.c_transposed ? s.m : s.n;
        const double lane_rows = mma->rows / 8.0;
        a_step = (4 * (t.tile_m * lane_rows + t.tile_n) * mma->issue * parts + mma->splits * multiplies * parts * parts * mma->repeats) / 16;
        warps = static_cast<double>(up(up(rows, mma->rows), t.tile_m) * up(up(columns, 8), t.tile_n));
    } else {
        const bool converts = s.x == 2 || s.y == 2;
        a_step = loads * (converts ? 2 : parts) + multiplies * parts * parts + 2;
        warps = static_cast<double>(up(s.m, t.tile_m) * up(s.n, t.tile_n)) / warp;
    }
    const auto layout = panel_layout_of(st, t);
    const double clock = chip.flops_f32 / (256.0 * chip.processors); // 128 multiply-adds a cycle
    const double steps = static_cast<double>(s.k) / chip.processors, blocks = layout.by_bulk ? 1 : static_cast<double>(atb_resident_blocks(st, t, chip));
    const double a_panel = layout.by_bulk ? 100 : 400; // cycles for all warps to hand over a panel, less what a second block hides
    // Asynchronous copies: instructions of a warp, 16 bytes a thread, for addresses, bounds and the copy itself.
    const double copies = layout.by_bulk ? 0 : static_cast<double>(s.row) / (16 * warp) * 16;
    constexpr double busy_warps = 8; // of an SM: with fewer, each waits for its own shared memory and products
    const double own_warps = static_cast<double>(atb_resident_blocks(st, t, chip) * t.threads) / warp;
    const double issue = steps * (a_step * warps + copies) / 4 * std::max(1.0, busy_warps / own_warps), panels = steps / t.k_panel * a_panel / blocks;
    const double memory = static_cast<double>(s.k * s.row) / chip.bandwidth;
    const double busy = std::max(memory, (issue + panels) / clock), idle = memory + (issue + panels) / clock - busy;
    return busy + 0.1 * idle + tail_seconds(st, t, chip) + chip.launch_seconds;
}

/// Blocks that are worth meeting for: each has so many bytes.
std::int64_t worthwhile_blocks(const step& st) {
    constexpr std::int64_t least = 24 << 10;
    const auto s = atb_sizes_of(st);
    return std::max<std::int64_t>(1, s.k * s.row / least);
}

} // namespace

std::vector<batched_tile> atb_candidates(const step& st, const machine& chip) {
    const auto s = atb_sizes_of(st);
    std::vector<batched_tile> out;
    for (const auto* mma : {mma_of(st, chip), static_cast<const mma_shape*>(nullptr)}) {
        constexpr std::int64_t most_multiplied = 1024; // elements of C: multiply-adds would take longer than the memory
        if (mma == nullptr && s.m * s.n > most_multiplied && !out.empty()) continue;
        auto t = start_tile(st, mma);
        t.panel = static_cast<std::int32_t>(s.n);
        const auto high = mma == nullptr ? s.m : t.c_transposed ? up(s.n, mma->rows) : up(s.m, mma->rows);
        const auto wide = mma == nullptr ? s.n : t.c_transposed ? up(s.m, 8) : up(s.n, 8);
        const auto largest = most_sums(st, mma) / (s.compute / 4) / (mma == nullptr ? 1 : mma->rows / 4);
        for (const std::int64_t tm : {1, 2, 3, 4, 6, 8})
            for (const std::int64_t tn : {1, 2, 3, 4, 6, 8}) {
                if (tm > high || tn > wide || tm * tn > largest) continue;
                t.tile_m = static_cast<std::int32_t>(tm), t.tile_n = static_cast<std::int32_t>(tn);
                t.k_unrolled = mma != nullptr && (mma->repeats > 1 || sum_registers(st, t) > 32) ? 1 : 2; // what is read ahead takes registers
                add_rings(out, t, up(high, tm) * up(wide, tn), mma == nullptr ? 1 : warp, st, chip);
            }
    }
    return out;
}

std::vector<double> atb_seconds(const step& given, const std::vector<batched_tile>& tiles, const machine& chip) {
    const auto st = of_class_height(given, chip);
    std::vector<double> out;
    for (const auto& t : tiles) out.push_back(ring_seconds(st, t, chip));
    return out;
}

std::int32_t atb_threads(const step& st, const batched_tile& t) { return t.threads + (panel_layout_of(st, t).by_bulk ? static_cast<std::int32_t>(warp) : 0); }

std::int64_t atb_shared_bytes(const step& st, const batched_tile& t) {
    const auto s = atb_sizes_of(st);
    return std::max(ring_bytes(st, t), barrier_bytes + std::max(t.slices * s.m * s.n * s.compute, std::int64_t{atb_threads(st, t)} * s.compute));
}

std::int64_t atb_resident_blocks(const step& st, const batched_tile& t, const machine& chip) {
    const auto by_shared = (chip.shared_bytes + shared_of_a_block) / (atb_shared_bytes(st, t) + shared_of_a_block);
    return std::clamp<std::int64_t>(std::min(by_shared, blocks_by_registers(ring_registers(st, t), atb_threads(st, t))), 1, most_blocks_of_an_sm);
}

std::int64_t atb_blocks(const step& st, const batched_tile& t, const machine& chip) {
    return std::min({atb_resident_blocks(st, t, chip) * chip.processors, worthwhile_blocks(st), up(extent_of(st, k), t.k_panel)});
}

std::int64_t atb_sums_offset(const machine& chip) { return up(most_blocks_of_an_sm * chip.processors * 8, 256) * 256; }

std::int64_t atb_workspace_bytes(const step& st, const machine& chip) {
    const auto s = atb_sizes_of(st);
    const auto blocks = std::min(most_blocks_of_an_sm * chip.processors, worthwhile_blocks(st));
    return atb_sums_offset(chip) + up(blocks * s.m * s.n * s.compute, 256) * 256;
}

} // namespace ricci::lowering
