// tall_skinny_ab_model: the legal parameters of the GPU's kernels for C = X*Y with a long m, and what each would
// cost.
#include "lowering/tall_skinny_ab_model.hpp"

#include "lowering/batched_layout.hpp"
#include "lowering/families.hpp"
#include "lowering/mma_shape.hpp"
#include "lowering/panel_model.hpp"
#include "lowering/sm_limits.hpp"
#include "lowering/tuning_key.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr std::int64_t most_registers = 200;    ///< predicted; beyond, kernels spill
constexpr std::int64_t most_multiplies = 512;   ///< multiply-adds that a thread's code may have, and
/// of a warp's, products and what brings X into their form: more take NVRTC too long
constexpr std::int64_t most_instructions = 150;

// Cycles of an SM, and which part of a unit's rate kernels reach.
constexpr double memory_latency = 1600, l2_latency = 700; ///< under load
constexpr double issue_rate = 0.7, arithmetic_rate = 0.8, shared_rate = 0.8;
constexpr double beside = 0.03; ///< of the units that are not the slowest, what is not hidden
constexpr double uneven = 0.1;  ///< of the time that blocks take one after another, what the memory waits

double real(std::int64_t x) { return static_cast<double>(x); }

bool is_single(const step& st, axis_class c) { return axes_of(st, c).size() == 1; }

// ---- tall_skinny_ab ----

std::int64_t whole_k_panel(const step& st, const batched_tile& t) {
    const auto ek = extent_of(st, k);
    const bool padded = t.core == batched_core::mma &&
                        panel_layout_of(st, t.core, ek, 16, extent_of(st, n)).lines[1] != panel_lines::whole_k;
    return padded ? up(ek, 16) * 16 : ek;
}

/// Blocks of `rows` rows; none where they would not fit.
void add_shared(std::vector<batched_tile>& out, const step& st, const machine& chip, const mma_shape* core,
                std::int64_t rows, std::int64_t least_threads) {
    auto t = start_tile(st, core);
    const bool along_rows = ab_smallest_step(st, 0, m) <= ab_smallest_step(st, 0, n);
    t.c_transposed = core != nullptr && along_rows;
    const auto* mma = set_product(t, st, core, t.c_transposed ? extent_of(st, n) : rows, chip);
    t.rows_first = along_rows;
    t.panel = static_cast<std::int32_t>(extent_of(st, n));
    t.products = static_cast<std::int32_t>(rows);
    t.k_panel = static_cast<std::int32_t>(whole_k_panel(st, t));
    const auto words = size_of(st.compute) / 4;
    if (!set_tiles(t, rows, t.panel, mma, words, least_threads) && !set_tiles(t, rows, t.panel, mma, words)) return;
    t.threads = static_cast<std::int32_t>(up(t.threads, warp) * warp);
    if (ab_shared_bytes(st, t) <= chip.shared_bytes && std::find(out.begin(), out.end(), t) == out.end())
        out.push_back(t);
}

void add_shared(std::vector<batched_tile>& out, const step& st, const machine& chip) {
    const auto* mma = mma_for(st, std::max(extent_of(st, n), extent_of(st, k)), chip);
    for (const std::int64_t rows : {512, 256, 128, 64, 32, 16})
        for (const std::int64_t least_threads : {128, 256, 64})
            for (const auto* core : {mma, static_cast<const mma_shape*>(nullptr)}) {
                add_shared(out, st, chip, core, rows, least_threads);
                if (mma == nullptr) break;
            }
}

// ---- tall_skinny_ab_threads ----

void add_threads(std::vector<batched_tile>& out, const step& st) {
    if (!is_single(st, m)) return;
    const auto s = ab_sizes_of(st);
    const auto vector = std::max<std::int64_t>(1, 16 / s.x);
    batched_tile t;
    t.core = batched_core::fma;
    t.in_registers = true;
    t.panel = static_cast<std::int32_t>(s.n), t.tile_n = t.panel;
    for (auto rows = std::max<std::int64_t>(1, vector / 2); rows <= 4 * vector; rows *= 2)
        for (const auto at_once : {s.k, up(s.k, 2), up(s.k, 4), up(s.k, 8)}) {
            t.tile_m = static_cast<std::int32_t>(rows), t.k_unrolled = static_cast<std::int32_t>(at_once);
            const auto v = ab_vectors_of(st, t);
            // neighbors of a row lie apart anyway
            if ((v.x == ab_vectors::none || v.c == ab_vectors::none) && rows > 1) continue;
            if (ab_registers(st, t) > most_registers || real(rows * s.n * at_once) * s.products > most_multiplies)
                continue;
            for (const int threads : {128, 256}) {
                t.threads = threads, t.products = static_cast<std::int32_t>(ab_rows_of_turn(t));
                if (std::find(out.begin(), out.end(), t) == out.end()) out.push_back(t);
            }
        }
}

// ---- tall_skinny_ab_warps ----

void add_warps(std::vector<batched_tile>& out, const step& st, const machine& chip) {
    const auto s = ab_sizes_of(st);
    const auto* core = mma_for(st, std::max(s.n, s.k), chip);
    if (core == nullptr || is_complex(st.compute) || !is_single(st, m) || !is_single(st, n) || !is_single(st, k))
        return;
    const bool columns = single_step(st, 0, m) == 1 || s.n == 1, x_along_m = single_step(st, st.x, m) == 1;
    batched_tile t;
    t.core = batched_core::mma;
    t.in_registers = true;
    t.c_transposed = columns;
    const auto* mma = set_product(t, st, core, columns ? s.n : INT64_MAX, chip);
    t.panel = static_cast<std::int32_t>(s.n);
    t.tile_n = static_cast<std::int32_t>(up(s.n, columns ? mma->rows : 8));
    const std::int64_t elements = 4 / mma->splits, longest = 16 / s.x;
    for (auto k_lane = elements; k_lane <= std::max<std::int64_t>(elements, x_along_m ? elements : longest);
         k_lane *= 2) {
        // they are moved one by one
        if (k_lane > elements && (s.k % k_lane != 0 || single_step(st, st.x, k) != 1)) continue;
        t.k_panel = static_cast<std::int32_t>(k_lane);
        for (const std::int64_t slots : {2, 4, 8}) {
            t.tile_m = static_cast<std::int32_t>(slots);
            const auto shape = ab_warp_shape_of(s, t, *mma);
            if (!columns && slots % shape.lane_rows != 0) continue;
            for (const auto at_once : {shape.blocks, up(shape.blocks, 2), up(shape.blocks, 4), up(shape.blocks, 8)}) {
                t.k_unrolled = static_cast<std::int32_t>(at_once);
                if (ab_registers(st, t) > most_registers) continue;
                const auto numbers = slots * k_lane * (mma->repeats > 1 ? 6 : 2);
                if (at_once * (shape.products * shape.row_tiles * shape.column_tiles * mma->repeats + numbers) >
                    most_instructions)
                    continue;
                for (const int threads : {128, 256})
                    for (const std::int64_t turns : {1, 4, 16})
                        for (const int stages : {1, 2}) {
                            t.threads = threads, t.stages = stages;
                            t.products = static_cast<std::int32_t>(ab_rows_of_turn(t) * turns);
                            if (ab_shared_bytes(st, t) > chip.shared_bytes || (turns == 1 && stages == 2)) continue;
                            if (std::find(out.begin(), out.end(), t) == out.end()) out.push_back(t);
                        }
            }
        }
    }
}

// ---- tall_skinny_ab_boxes ----

void add_boxes(std::vector<batched_tile>& out, const step& st, const machine& chip) {
    if (!ab_takes_boxes(st, chip)) return;
    batched_tile t;
    t.core = batched_core::mma;
    t.boxed = true;
    const auto* mma = set_product(t, st, mma_of(st, chip), INT64_MAX, chip);
    const auto w = ab_box_shape_of(st, *mma);
    t.panel = static_cast<std::int32_t>(extent_of(st, n));
    for (const int boxes : {1, 2, 4})
        for (const int warps : {4, 8, 12, 16})
            for (const int stages : {2, 3, 4})
                for (const int unrolled : {1, 2}) {
                    t.tile_m = boxes, t.threads = warps * static_cast<int>(warp), t.stages = stages;
                    t.k_unrolled = unrolled;
                    t.products = static_cast<std::int32_t>(warps * boxes * w.rows);
                    const bool fits = ab_shared_bytes(st, t) <= chip.shared_bytes &&
                                      up(ab_registers(st, t), 8) * 8 * t.threads <= registers_of_an_sm;
                    if (fits && (unrolled == 1 || w.groups > 1)) out.push_back(t);
                }
}

// ---- what they cost ----

/// Whether the strides, of pointers aligned to 16 bytes, allow the vectors that a kernel has: it decides by the
/// pointers too.
bool takes_vectors(const step& st, const ab_sizes& s, const batched_tile& t) {
    const auto v = ab_vectors_of(st, t);
    const auto fits = [&](std::int32_t o, axis_class c, std::int64_t count, std::int64_t bytes) {
        const auto whole = count * bytes, access = whole % 16 == 0 ? 16 : whole;
        return extent_of(st, c) == 1 || single_step(st, o, c) * bytes % access == 0;
    };
    if (ab_kernel_of(t) == ab_kernel::threads)
        return v.x != ab_vectors::none && v.c != ab_vectors::none &&
               (v.x != ab_vectors::of_rows || fits(st.x, k, v.row_vector, s.x)) &&
               (v.c != ab_vectors::of_rows || fits(0, n, v.row_vector, s.c));
    const bool x = v.x_along_m
                       ? fits(st.x, k, v.row_vector, s.x)
                       : s.k % t.k_panel == 0 && single_step(st, st.x, k) == 1 && fits(st.x, m, t.k_panel, s.x);
    const bool c = t.c_transposed ? single_step(st, 0, m) == 1 && fits(0, n, v.row_vector, s.c)
                                  : s.n % 2 == 0 && single_step(st, 0, n) == 1 && fits(0, m, 2, s.c);
    return x && c;
}

/// Of a turn of a block: cycles that each unit of an SM is busy, and those that pass from the first load to the last
/// store.
struct turn_cost {
    double issue = 0, arithmetic = 0, shared = 0;
    double latency = memory_latency;
    double once = l2_latency; ///< of a block, before its first turn
};

/// Cycles that instructions take which a block's warps issue, each `a_warp`.
double own_time(double a_warp) { return 2 * a_warp; }

turn_cost cost_of_threads(const step& st, const ab_sizes& s, const batched_tile& t) {
    const auto v = ab_vectors_of(st, t);
    const double warps = real(t.threads / warp), rows = t.tile_m;
    const bool vectors = takes_vectors(st, s, t);
    const auto accesses = [&](ab_vectors kind, std::int64_t width, std::int64_t bytes) {
        return rows * real(width) /
               (!vectors                         ? 1.0
                : kind == ab_vectors::of_rows    ? real(v.row_vector)
                : kind == ab_vectors::whole_rows ? 16.0 / real(bytes)
                                                 : 1.0);
    };
    // Lines of 128 bytes that a warp's access meets, one a cycle.
    const auto lines = [&](ab_vectors kind, std::int64_t width, std::int64_t bytes) {
        if (kind == ab_vectors::of_rows) return std::max(1.0, real(v.row_vector * bytes) / 4);
        return std::min(32.0, real((kind == ab_vectors::whole_rows ? v.row_vector : 1) * width * bytes) / 4);
    };
    const double loads = accesses(v.x, s.k, s.x), stores = accesses(v.c, s.n, s.c) * real(s.c_passes);
    const double y = std::ceil(real(s.k * s.n * s.words) / 4), multiplies = rows * real(s.n * s.k) * s.products;
    const double converts = (s.x == 2 ? rows * real(s.k) : 0) + (s.c == 2 ? rows * real(s.n) : 0);
    const double instructions = 2 * (loads + stores) + y + multiplies + converts + 40;
    turn_cost out;
    out.issue = warps * instructions / 4;
    out.arithmetic = warps * multiplies / (s.words >= 2 && real_of(st.compute) == scalar_type::f64 ? 2 : 4);
    out.shared = warps * (y + loads * lines(v.x, s.k, s.x) + stores * lines(v.c, s.n, s.c));
    out.latency += own_time(instructions) + memory_latency * (std::ceil(real(s.k) / t.k_unrolled) - 1);
    out.once = 0;
    return out;
}

turn_cost cost_of_warps(const step& st, const ab_sizes& s, const batched_tile& t, const mma_shape& mma) {
    const auto w = ab_warp_shape_of(s, t, mma);
    const double warps = real(t.threads / warp), products = real(w.blocks * w.products),
                 tiles = real(w.row_tiles * w.column_tiles);
    const double numbers = real(w.blocks * t.k_panel * t.tile_m); // a lane's of X
    const bool vectors = takes_vectors(st, s, t);
    const double loads = vectors ? numbers * real(s.x) / 16 : numbers, y = products * real(w.y_bytes) / 16,
                 elements = 2 * real(w.lane_rows) * tiles;
    const double lines = vectors ? 4 : 8; // that an access meets
    const double stores = elements * (vectors ? real(s.c) / 16 : 1) * real(s.c_passes);
    const double splitting = mma.repeats > 1 ? 5 : mma.element_bytes == 4 ? 1 : mma.element_bytes == 2 ? 0.5 : 0;
    const double multiplies = products * tiles * mma.repeats;
    const double instructions =
        multiplies + 2 * loads + y + numbers * splitting + elements * (s.c == 2 ? 1 : 0.25) + 2 * stores + 60;
    turn_cost out;
    out.issue = warps * instructions / 4;
    out.arithmetic = fitted_cycles(mma) * warps * products * tiles;
    out.shared = warps * (4 * y + lines * (loads + stores));
    out.latency += own_time(instructions) + 4 * fitted_cycles(mma) * products * tiles;
    out.latency += 0.5 * l2_latency * (std::ceil(real(w.blocks) / t.k_unrolled) - 1);
    out.once += l2_latency + 16 * real(w.blocks * w.products * w.y_bytes * warp / mma.element_bytes / t.threads);
    return out;
}

turn_cost cost_of_boxes(const step& st, const ab_sizes& s, const batched_tile& t, const mma_shape& mma) {
    const auto w = ab_box_shape_of(st, mma);
    // Of a turn, a stage of each warp.
    const double warps = real(t.threads / warp) * t.tile_m, groups = real(w.groups),
                 tiles = real(w.row_tiles * w.column_tiles);
    const double products = groups * (mma.element_bytes == 8 ? 2 : 1) * tiles * s.products;
    const double numbers = real(2 * 16 / s.x) * real(s.words == 2 && s.products > 1 ? 2 : 1); // a lane's of a group
    const double splitting = mma.repeats > 1 ? 5 : mma.element_bytes == 4 ? 1 : 0;
    const double elements = real(2 * w.column_tiles * 16 / s.c);
    const double instructions = products * mma.repeats +
                                groups * (2 + numbers * splitting + real(w.column_tiles * w.pair_bytes) / 16) +
                                elements * 1.5 * real(s.c_passes) + 100;
    turn_cost out;
    out.issue = warps * instructions / 4;
    out.arithmetic = fitted_cycles(mma) * warps * products;
    out.shared = warps * (2 * real(w.rows * (s.k * s.x + s.n * s.c * s.c_passes)) / 128 +
                          groups * real(w.column_tiles * w.pair_bytes * warp) / 128);
    // A warp's own work, while all of its stages but one are asked for.
    const double own = t.tile_m * (own_time(instructions) + 4 * fitted_cycles(mma) * products);
    out.latency = std::max(own, (memory_latency + own) / real(t.stages - 1));
    out.once += memory_latency;
    return out;
}

turn_cost cost_of_shared(const step& st, const ab_sizes& s, const batched_tile& t, const mma_shape* mma) {
    const double rows = t.products, block_warps = real(t.threads / warp),
                 bytes = rows * real(s.k * s.x + s.n * s.c * s.c_passes) + real(s.k * s.n * s.y);
    const double loads = mma != nullptr ? t.tile_m * mma->rows / 8.0 + t.tile_n : t.tile_m + t.tile_n;
    const double products = real(up(s.k, 16)) * (mma != nullptr ? mma->splits : 16), tiles = t.tile_m * t.tile_n;
    const double numbers = mma != nullptr ? real(up(s.k, 16)) * 4 : real(s.k);
    const double multiplies = (mma != nullptr ? products * mma->repeats : real(s.k)) * tiles * s.products;
    const double sums = tiles * (mma != nullptr ? mma->rows / 4.0 : 1.0);
    const bool x_in_rows = ab_smallest_step(st, static_cast<std::size_t>(st.x), k) <
                           ab_smallest_step(st, static_cast<std::size_t>(st.x), m);
    const bool is_whole = panel_layout_of(st, t).lines[1] >= panel_lines::whole_other;
    // bytes of a thread, and instructions for them: columns that start anywhere are copied by threads that count up
    const bool on_lines = is_whole || single_step(st, st.x, x_in_rows ? m : k) * s.x % 16 == 0;
    const bool counts_up = !on_lines && !x_in_rows && single_step(st, st.x, m) == 1;
    const double copied = on_lines ? 16 : std::max<double>(4, real(s.x)), for_a_copy = counts_up ? 4 : 16;
    const double instructions = multiplies +
                                numbers * loads *
                                    (mma != nullptr ? 1 + mma->issue
                                     : s.x == 2     ? 2
                                                    : 1) +
                                8 * sums + bytes / (copied * t.threads) * for_a_copy + 100;
    turn_cost out;
    out.issue = block_warps * instructions / 4;
    out.arithmetic = mma != nullptr ? fitted_cycles(*mma) * block_warps * products * tiles * s.products
                                    : block_warps * multiplies / (s.words >= 2 ? 2 : 4);
    out.shared = 2 * bytes / 128 +
                 1.5 * block_warps *
                     (numbers * loads * std::max(1.0, real(s.x) / 4) + 2 * sums * std::max(1.0, real(s.c) / 4));
    out.latency += memory_latency + own_time(instructions);
    return out;
}

/// Of neighboring threads' rows that follow one another in memory.
double by_distance(const step& st, const ab_sizes& s, const batched_tile& t) {
    const auto v = ab_vectors_of(st, t);
    const auto x = v.x == ab_vectors::whole_rows ? v.row_vector * s.k * s.x : 0,
               c = v.c == ab_vectors::whole_rows ? v.row_vector * s.n * s.c : 0;
    constexpr double access = 16, twice_as_long = 128;
    return 1 + std::max(0.0, real(std::max<std::int64_t>(x, c)) - access) / twice_as_long;
}

/// By what measured times (an H100, 280 kernels of 12 widths and types, 2026-11-22) are longer than all below says:
/// rows asked for ahead only crowd the L2 cache, and threads that hold vectors of half wait for their conversion; (an
/// H200, 700 kernels of 21 widths and types) split floats and wide f64 straight from memory, what waits for a block's
/// panel, and memory that is copied by 128 bytes of each column at a time, or by two and more such; (an H100, 26
/// kernels by rows of 2 to 7, 2026-11-23) threads whose accesses of 16 bytes lie apart: stores fill half a sector.
double slower(const step& st, const ab_sizes& s, const batched_tile& t, const machine& chip) {
    constexpr double by_128_bytes = 3.95e12, by_256_bytes = 4.15e12; // in the units of machine::bandwidth
    const bool anywhere = has_columns_off_lines(st);
    switch (ab_kernel_of(t)) {
    case ab_kernel::warps:
        if (anywhere) return s.x >= 8 ? 1.5 : s.x == 4 ? 2.6 : 2.2;
        return (t.stages > 1 ? 1.1 : 1.015) * (s.x == 4 ? 1.12 : s.x == 8 && t.tile_n > 2 ? 1.05 : 1);
    case ab_kernel::threads:
        if (anywhere) return s.x >= 8 ? 1.3 : s.x == 4 ? 1.7 : 2.5;
        return (s.x == 2 && s.k > 1 ? 1.15 : 1) * by_distance(st, s, t);
    case ab_kernel::boxes: {
        const double rate = std::max(1.0, chip.bandwidth / (t.tile_m == 1 ? by_128_bytes : by_256_bytes));
        return rate * (has_columns_off_sectors(st) ? 1 + 1.0 / (4 * t.tile_m) : 1); // one more sector for each four
    }
    default: return t.core == batched_core::mma ? 1.12 : 1;
    }
}

turn_cost cost_of(const step& st, const ab_sizes& s, const batched_tile& t) {
    const auto* mma = t.core == batched_core::mma ? mma_of(st, t) : nullptr;
    switch (ab_kernel_of(t)) {
    case ab_kernel::threads: return cost_of_threads(st, s, t);
    case ab_kernel::boxes: return cost_of_boxes(st, s, t, *mma);
    case ab_kernel::warps: return cost_of_warps(st, s, t, *mma);
    default: return cost_of_shared(st, s, t, mma);
    }
}

double seconds_of(const step& st, const ab_sizes& s, const batched_tile& t, const machine& chip) {
    const auto cost = cost_of(st, s, t);
    const double clock = sm_clock(chip);
    const double turns = real(up(s.m, ab_rows_of_turn(t))), blocks = real(ab_blocks(st, t, chip)),
                 own_turns = std::ceil(turns / blocks);
    const double resident = real(ab_resident_blocks(st, t, chip)), at_once = resident * chip.processors;
    const double bytes = real(s.m * (s.k * s.x + s.n * s.c * s.c_passes)), of_y = blocks * real(s.k * s.n * s.y);
    const double memory = (bytes + of_y / 4) / chip.bandwidth; // Y comes from the L2 cache
    const double a_turn = turns / chip.processors / clock;
    const double shared = cost.shared * a_turn / shared_rate, issue = cost.issue * a_turn / issue_rate,
                 arithmetic = cost.arithmetic * a_turn / arithmetic_rate;
    const double block = (cost.once + own_turns * cost.latency) / clock,
                 latency = block * std::ceil(blocks / at_once);
    const double slowest = std::max({memory, shared, issue, arithmetic});
    // The first loads of all and the last stores have nothing beside them.
    const double ends = 0.5 * (cost.once + cost.latency) / clock;
    const double busy = std::max(slowest + beside * (memory + shared + issue + arithmetic - slowest) + ends, latency);
    return slower(st, s, t, chip) * (busy + uneven * latency) + chip.launch_seconds;
}

/// Strides beyond the height are arguments of the kernel too: as if all columns began at multiples of 32 bytes, or
/// of 16, or none.
step of_class_height(step st, const machine& chip) {
    const auto s = ab_sizes_of(st);
    const bool off_lines = has_columns_off_lines(st), off_sectors = has_tall_columns_off_sectors(st, chip);
    auto rows = class_height(st, s.k * s.x + s.n * s.c * s.c_passes, chip);
    const auto side = axes_of(st, m);
    for (const auto a : side) st.axes[static_cast<std::size_t>(a)].extent = std::exchange(rows, 1);
    for (auto& o : st.operands) {
        const auto own = std::abs(o.stride[static_cast<std::size_t>(side.front())]);
        const auto off = off_lines ? 1 : off_sectors ? 16 / size_of(o.type) : 0;
        for (std::size_t a = 0; a < st.axes.size(); ++a)
            if (st.classes[a] != m && own != 0 && std::abs(o.stride[a]) > own * largest_batched)
                o.stride[a] = o.stride[a] / 16 * 16 + off;
    }
    return st;
}

} // namespace

std::vector<batched_tile> ab_candidates(const step& st, const machine& chip) {
    std::vector<batched_tile> out;
    add_threads(out, st);
    if (extent_of(st, k) == 1) return out; // nothing is summed
    add_warps(out, st, chip);
    add_boxes(out, st, chip);
    add_shared(out, st, chip);
    return out;
}

std::vector<double> ab_seconds(const step& given, const std::vector<batched_tile>& tiles, const machine& chip) {
    const auto st = of_class_height(given, chip);
    const auto s = ab_sizes_of(st);
    std::vector<double> out;
    for (const auto& t : tiles) out.push_back(seconds_of(st, s, t, chip));
    return out;
}

} // namespace ricci::lowering
