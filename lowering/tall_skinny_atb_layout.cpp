// tall_skinny_atb_layout: what the parameters of the GPU's kernels for C = X^T Y with a long k mean: warps' parts,
// vectors, shared memory, blocks.
#include "lowering/tall_skinny_atb_layout.hpp"

#include "lowering/batched_layout.hpp"
#include "lowering/box_layout.hpp"
#include "lowering/families.hpp"
#include "lowering/mma_shape.hpp"
#include "lowering/panel_shifts.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr std::int64_t most_blocks_of_an_sm = 2;

/// An operand's step along its one axis of a class; 0 if it has none, -1 if it has several.
std::int64_t only_step(const step& st, std::size_t o, axis_class c) {
    const auto axes = axes_of(st, c);
    if (axes.size() != 1) return axes.empty() ? 0 : -1;
    return operand_of(st, static_cast<int>(o)).stride[static_cast<std::size_t>(axes.front())];
}

/// Blocks that are worth a kernel behind theirs: with more each has less to read, but there are more sums to add up.
std::int64_t worthwhile_blocks(const step& st) {
    // a block's; of all, through the L2 cache
    constexpr double bytes_a_second = 50e9, sums_a_second = 3e12, a_block = 3e-9;
    const auto s = atb_sizes_of(st);
    const double alone = static_cast<double>(s.k * s.row) / bytes_a_second,
                 a_sum = static_cast<double>(2 * s.m * s.n * s.compute) / sums_a_second;
    const double blocks = std::max(1.0, std::round(std::sqrt(alone / (a_sum + a_block))));
    return alone < alone / blocks + blocks * a_sum + atb_seconds_of_sums ? 1 : static_cast<std::int64_t>(blocks);
}

/// Registers that keep what is on its way; elements of 2 bytes that come alone take one each.
std::int64_t kept_registers(const step& st, const batched_tile& t) {
    const auto v = atb_vectors_of(st, t);
    const bool by_warps = atb_kernel_of(t) == atb_kernel::warps;
    const std::int64_t sides[] = {0, extent_of(st, m), extent_of(st, n)};
    std::int64_t out = 0;
    for (std::size_t o = 1; o < 3; ++o) {
        const auto bytes = size_of(operand_of(st, static_cast<int>(o)).type);
        const auto count = t.k_panel * (by_warps ? v.slots[o] : sides[o]);
        const bool alone = by_warps ? !v.along_k[o] && v.vector[o] == 1 : v.threads[o] == atb_vectors::none;
        out += t.k_unrolled * count * (alone ? up(bytes, 4) * 4 : bytes) / 4;
    }
    return out;
}

std::int64_t registers_of_threads(const step& st, const batched_tile& t) {
    const auto v = atb_vectors_of(st, t);
    std::int64_t addresses = 0; // of columns
    if (v.threads[1] != atb_vectors::whole_rows) addresses += 2 * extent_of(st, m);
    if (v.threads[2] != atb_vectors::whole_rows) addresses += 2 * extent_of(st, n);
    return 32 + addresses + atb_sum_registers(st, t) + kept_registers(st, t) +
           (extent_of(st, m) + 1) * size_of(st.compute) / 4;
}

/// Beside C and what is on its way a product's numbers, in the form in which they are multiplied, and addresses.
std::int64_t registers_of_warps(const step& st, const batched_tile& t) {
    const auto* mma = mma_of(st, t);
    const auto slots = t.tile_m + t.tile_n, elements = 4 / mma->splits;
    const auto numbers = mma->repeats > 1 ? slots * elements * 2 : mma->element_bytes == 2 ? slots * elements / 2 : 0;
    return 36 + atb_sum_registers(st, t) + kept_registers(st, t) + numbers + 2 * slots;
}

/// Beside C a step's numbers, brought into the form in which they are multiplied.
std::int64_t registers_of_panels(const step& st, const batched_tile& t) {
    std::int64_t numbers = (t.tile_m + t.tile_n) * t.k_unrolled * size_of(st.compute) / 4;
    if (t.core == batched_core::mma) {
        const auto* mma = mma_of(st, t);
        const auto elements = 4 / mma->splits, parts = is_complex(st.compute) ? 2 : 1;
        numbers =
            (t.tile_m * mma->rows / 8 + t.tile_n) * elements * parts * mma->words * (mma->repeats > 1 ? 3 : 4) / 2;
    }
    constexpr std::int64_t own = 64, own_of_bulk = 8, own_of_16_rows = 24;
    return own + (panel_layout_of(st, t).by_bulk ? own_of_bulk : 0) + (t.rows_of_16 ? own_of_16_rows : 0) +
           atb_sum_registers(st, t) + numbers;
}

} // namespace

atb_kernel atb_kernel_of(const batched_tile& t) {
    return !t.in_registers               ? atb_kernel::panels
           : t.core == batched_core::mma ? atb_kernel::warps
                                         : atb_kernel::threads;
}

atb_sizes atb_sizes_of(const step& st) {
    atb_sizes out{extent_of(st, m),
                  extent_of(st, n),
                  extent_of(st, k),
                  size_of(operand_of(st, 1).type),
                  size_of(operand_of(st, 2).type),
                  size_of(st.compute),
                  0};
    out.row = out.m * out.x + out.n * out.y;
    return out;
}

atb_vector_layout atb_vectors_of(const step& st, const batched_tile& t) {
    atb_vector_layout out;
    for (std::size_t o = 1; o < 3; ++o) {
        const auto side = o == 1 ? m : n;
        const auto sides = extent_of(st, side), bytes = size_of(operand_of(st, static_cast<int>(o)).type);
        const auto across = only_step(st, o, side), along = only_step(st, o, k);
        out.along_k[o] = along == 1 && across >= 0;
        if (along == sides && (across == 1 || sides == 1)) out.threads[o] = atb_vectors::whole_rows;
        else if (out.along_k[o]) out.threads[o] = atb_vectors::of_steps;
        if (atb_kernel_of(t) != atb_kernel::warps) continue;
        out.slots[o] = o == 1 ? t.tile_m : t.tile_n;
        out.parts[o] = static_cast<std::int32_t>(up(sides, 8 * out.slots[o]));
        if (out.along_k[o] || across != 1) continue;
        for (const std::int32_t vector : {8, 4, 2})
            if (vector * bytes <= 16 && out.slots[o] % vector == 0 && sides % vector == 0 && along % vector == 0) {
                out.vector[o] = vector;
                break;
            }
    }
    return out;
}

std::int64_t atb_sum_registers(const step& st, const batched_tile& t) {
    const auto words = size_of(st.compute) / 4;
    switch (atb_kernel_of(t)) {
    case atb_kernel::threads: return extent_of(st, m) * extent_of(st, n) * words;
    case atb_kernel::warps: return std::int64_t{t.tile_m} * t.tile_n * 2 * words; // 64 numbers of a slot by another
    default:
        return std::int64_t{t.tile_m} * t.tile_n * words *
               (t.core == batched_core::mma ? mma_of(st, t)->rows / 4 : 1);
    }
}

std::int64_t atb_registers(const step& st, const batched_tile& t) {
    switch (atb_kernel_of(t)) {
    case atb_kernel::threads: return registers_of_threads(st, t);
    case atb_kernel::warps: return registers_of_warps(st, t);
    default: return registers_of_panels(st, t);
    }
}

std::int64_t atb_blocks_by_registers(std::int64_t registers, std::int64_t threads) {
    constexpr std::int64_t most = 255, warps_together = 4; // the compiler counts in fours of warps
    if (registers > most) return 0;
    return registers_of_an_sm / (std::min<std::int64_t>(up(registers, 8) * 8, most) *
                                 up(threads, warps_together * warp) * warps_together * warp);
}

std::int32_t atb_threads(const step& st, const batched_tile& t) {
    return t.threads + static_cast<std::int32_t>(atb_copy_warps(st, t) * warp);
}

std::int64_t atb_copy_warps(const step& st, const batched_tile& t) {
    if (t.in_registers || !panel_layout_of(st, t).by_bulk) return 0;
    return t.realigned ? shifting_warps(st, t) : 1;
}

std::int64_t atb_shared_bytes(const step& st, const batched_tile& t) {
    const auto s = atb_sizes_of(st);
    const auto sums = std::max(t.slices * s.m * s.n, std::int64_t{atb_threads(st, t)}) * s.compute;
    if (t.in_registers) return sums;
    const auto stages = atb_stages(t) * panel_layout_of(st, t).stage_bytes;
    const auto raw = t.realigned ? t.stages * shifted_panel_layout_of(st, t).stage_bytes : 0;
    return atb_barrier_bytes(t) + std::max(stages + raw, sums);
}

std::int64_t atb_stages(const batched_tile& t) { return t.realigned ? moved_stages : t.stages; }

std::int64_t atb_barrier_bytes(const batched_tile& t) { return t.boxed ? box_alignment : barrier_bytes; }

std::int64_t atb_unit(const batched_tile& t) {
    switch (atb_kernel_of(t)) {
    case atb_kernel::threads: return std::int64_t{t.k_panel} * t.threads;
    case atb_kernel::warps: return 4 * std::int64_t{t.k_panel} * t.slices;
    default: return t.k_panel;
    }
}

std::int64_t atb_resident_blocks(const step& st, const batched_tile& t, const machine& chip) {
    if (t.in_registers) return t.stages;
    const auto by_shared = shared_of_an_sm(chip) / (atb_shared_bytes(st, t) + shared_of_a_block);
    return std::clamp<std::int64_t>(
        std::min(by_shared, atb_blocks_by_registers(atb_registers(st, t), atb_threads(st, t))), 1,
        most_blocks_of_an_sm);
}

std::int64_t atb_blocks(const step& st, const batched_tile& t, const machine& chip) {
    return std::min({atb_resident_blocks(st, t, chip) * chip.processors, worthwhile_blocks(st),
                     up(extent_of(st, k), atb_unit(t))});
}

std::int64_t atb_columns_of_sums(const step& st) {
    constexpr std::int64_t two_sectors = 64;
    const auto s = atb_sizes_of(st);
    return std::min<std::int64_t>(two_sectors / s.compute, std::bit_ceil(static_cast<std::uint64_t>(s.m * s.n)));
}

std::int64_t atb_workspace_bytes(const step& st, const machine& chip) {
    const auto s = atb_sizes_of(st);
    const auto blocks = std::min(most_blocks_of_an_sm * chip.processors, worthwhile_blocks(st));
    return up(blocks * s.m * s.n * s.compute, 256) * 256;
}

} // namespace ricci::lowering
