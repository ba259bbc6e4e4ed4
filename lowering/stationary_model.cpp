// stationary_model: the legal parameters of the GPU's batched_stationary kernel for a product, and what each would
// cost.
//
// A block never stops asking for slices, so its time is that of the memory, or of what its warps do for a product
// where that is longer. On an H100 the ring alone, without arithmetic, reaches 0.95 to 0.98 of a triad.
#include "lowering/stationary_model.hpp"

#include "lowering/bank_conflicts.hpp"
#include "lowering/families.hpp"
#include "lowering/mma_shape.hpp"
#include "lowering/product_sizes.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr std::int64_t warps_at_once = 4; ///< that change their number of registers
constexpr std::int64_t most_warps = 20, most_tile_m = 4, most_tile_n = 4, most_columns = 64, most_stages = 12,
                       least_stages = 3, most_resident = 3;
// Registers of a thread: in all; beside what it holds and reads, of most types, of split floats, and of f64 in
// products of 16 rows; of one that copies, and one that makes fragments too. All the least with which NVRTC 13.0 kept
// nothing in local memory, at sizes from 64 to 128.
constexpr std::int64_t most_registers = 232, own_registers = 30, own_of_split = 34, own_of_16_rows = 57;
constexpr std::int64_t of_copying = 40, of_fragments = 72;
constexpr std::int64_t fragment_stages = 2;
constexpr double most_instructions = 1400; ///< more take NVRTC too long
constexpr std::int64_t most_stage_bytes = 56 << 10;
// Not fitted: counted, or guessed.
constexpr double ring_rate = 1.04;                    ///< of the memory's time
constexpr double mma_latency = 33;                    ///< cycles from one product to the next on the same sums
constexpr double slice_cycles = 400;                  ///< of a slice, waiting and handing it back
constexpr double copy_cycles = 100, unit_cycles = 16; ///< of a run; of 32 copies of 16 bytes or a number
/// Of a warp, to make one: from 70 timings of f32 and c64 on an H100, and 60 of warpgroups on an H200.
constexpr double fragment_cycles = 350, warpgroup_fragment_cycles = 200;
constexpr double own_cycles = 6;         ///< of a warp alone, for an instruction
constexpr double three_products = 0.45;  ///< of mma_shape's cycles, which are those of batched_small
constexpr double doubles = 1.4;          ///< the same of f64: an H200 lowers its clock to 1.5 GHz to make so many
constexpr double stationary_issue = 1.2; ///< of what is counted
constexpr double beside = 0.02;          ///< of the units that are not the slowest, what is not hidden
/// Of the memory's time for a block, what it waits for itself where fragments are made of each slice: of 80 timings
/// of f32 and c64 on an H200, blocks alone on an SM took up to 1.9 times what was predicted without, two of them 1.3.
constexpr double own_memory = 0.7;
constexpr double idle_ends = 0.1;        ///< blocks that start and end together leave the memory idle

std::int64_t parts_of(const step& st) { return is_complex(st.compute) ? 2 : 1; }

std::int64_t column_groups(const step& st, const batched_tile& t) {
    return up(t.panel, t.tile_n * mma_of(st, t)->rows);
}

std::int64_t products_of_sum(const step& st) { return up(extent_of(st, k), 16 / mma_of(st)->splits); }

/// Where Y's numbers are more than read, warps of their own do it for all.
bool wants_fragments(const mma_shape& mma) { return mma.element_bytes == 4; }

/// Of a lane, for one of the tensor cores' products.
std::int64_t fragment_words(const step& st, const batched_tile& t) {
    const auto& mma = *mma_of(st, t);
    return parts_of(st) * (mma.rows / 8) * (4 / mma.splits) * mma.words;
}

/// Of a slice.
std::int64_t fragment_bytes(const step& st, const batched_tile& t) {
    if (!t.realigned) return 0;
    const auto& mma = *mma_of(st, t);
    if (t.warpgroups) return parts_of(st) * mma.words * 2 * products_of_sum(st) * (16 * t.panel + 16);
    return t.panel / mma.rows * products_of_sum(st) * warp * fragment_words(st, t) * 4;
}

/// Of a thread, predicted.
std::int64_t registers_of(const step& st, const batched_tile& t, bool x_is_split) {
    const auto& mma = *mma_of(st, t);
    const std::int64_t elements = 4 / mma.splits, lane_columns = mma.rows / 8, parts = parts_of(st);
    // 2-byte numbers are kept in pairs.
    const auto held = products_of_sum(st) * t.tile_m * elements * parts * (x_is_split ? mma.words : 1) /
                      (mma.element_bytes == 2 ? 2 : 1);
    const auto sets = parts * (mma.repeats > 1 && !t.warpgroups ? 2 : 1);
    const auto sums = 2 * lane_columns * t.tile_m * t.tile_n * sets * (mma.element_bytes == 8 ? 2 : 1);
    const auto read = t.warpgroups ? 0 : t.tile_n * fragment_words(st, t);
    const auto split = x_is_split ? 0 : t.tile_m * elements * parts * mma.words * (t.warpgroups ? 2 : 1);
    const auto as_it_came = t.warpgroups && x_is_split && parts > 1 ? 24 : 0; // beside what it is split into
    return held + sums + read + split + as_it_came +
           (t.rows_of_16      ? own_of_16_rows + sums // the compiler has each sum in two places
            : mma.repeats > 1 ? own_of_split
                              : own_registers);
}

std::int64_t compute_warps(const step& st, const batched_tile& t) {
    return stationary_row_warps(st, t) * column_groups(st, t);
}

/// Of each thread when a kernel starts.
std::int64_t registers_at_first(const batched_tile& t, std::int64_t blocks) {
    return std::min(most_registers, registers_of_an_sm / (blocks * t.threads) / 8 * 8);
}

/// Where the last four warps are all those that do not compute, they need fewer registers than there are. A kernel
/// that changes them starts with as many as launch_bounds allows, whatever it needs itself.
stationary_registers registers_apart(const step& st, const batched_tile& t, std::int64_t blocks) {
    const auto all = registers_at_first(t, blocks), helper = t.realigned ? of_fragments : of_copying,
               apart = warps_at_once * warp;
    if (t.threads / warp - compute_warps(st, t) < warps_at_once || all <= helper || all == most_registers) return {};
    return {std::min(most_registers, (all * t.threads - helper * apart) / (t.threads - apart) / 8 * 8), helper};
}

/// Of a thread that computes.
std::int64_t registers_for(const step& st, const batched_tile& t, std::int64_t blocks) {
    return std::max(registers_at_first(t, blocks), registers_apart(st, t, blocks).compute);
}

std::int64_t least_registers(const step& st, const batched_tile& t) {
    return registers_of(st, t, mma_of(st)->repeats == 1);
}

int resident_blocks(const step& st, const batched_tile& t, const machine& chip) {
    const auto shared = stationary_shared_bytes(st, t);
    auto blocks = std::min({shared_of_an_sm(chip) / (shared + shared_of_a_block),
                            threads_of_an_sm / t.threads, most_resident});
    const auto needed = least_registers(st, t);
    // The compiler fills what it may have to the last: with few, it misses some.
    while (blocks > 0 && registers_for(st, t, blocks) < needed + (blocks > 1 ? 4 : 0)) --blocks;
    return static_cast<int>(blocks);
}

/// k_apart whose reads of Y wait least, the smallest of them: lines may be set apart for any, runs not.
int best_apart(const step& st, batched_tile t) {
    if (t.warpgroups) return 0;
    return least_apart(extent_of(st, k), [&](int apart) {
        t.k_apart = apart;
        return slice_conflicts(st, 2, stationary_layout_of(st, t).pitch[2], t);
    });
}

/// Lines of X in a slice: about as many bytes as the slices of Y and C together have.
std::int64_t lines_of_x(const step& st, const batched_tile& t) {
    const auto x = *lines_of(st, 1);
    const auto whole = x.along_k ? 8 : 16 * std::max<std::int64_t>(t.k_apart, 1);
    const auto bytes = t.panel * (extent_of(st, k) * size_of(operand_of(st, 2).type) +
                                  extent_of(st, m) * size_of(operand_of(st, 0).type));
    const auto lines = bytes / (x.length * size_of(operand_of(st, 1).type)) / whole * whole;
    return std::clamp(lines, whole, up(x.count, whole) * whole);
}

void add_stages(std::vector<batched_tile>& out, const step& st, batched_tile t, const machine& chip) {
    t.k_panel = static_cast<std::int32_t>(lines_of_x(st, t)); // as wide as for no apart, for the layout
    t.k_apart = best_apart(st, t);
    t.k_panel = static_cast<std::int32_t>(lines_of_x(st, t));
    const auto stage = stationary_layout_of(st, t).stage_bytes;
    if (stage > most_stage_bytes) return;
    std::int64_t last = 0;
    for (std::int64_t blocks = 1; blocks <= most_resident; ++blocks) {
        const auto room = shared_of_an_sm(chip) / blocks - shared_of_a_block;
        auto stages = most_stages;
        const auto fits = [&] {
            t.stages = static_cast<std::int32_t>(stages);
            return stationary_shared_bytes(st, t) <= room;
        };
        while (stages >= least_stages && !fits()) --stages;
        if (stages < least_stages || stages == last || resident_blocks(st, t, chip) < blocks) continue;
        last = stages;
        out.push_back(t);
    }
}

/// Of mma_shape's cycles.
double rate_of(const mma_shape& mma, const batched_tile& t) {
    if (t.warpgroups) return std::max(1.0, 13.0 / 4 / t.tile_n); // ptx_wgmma.cuh
    return mma.repeats > 1 ? three_products : mma.element_bytes == 8 ? doubles : 1;
}

/// All with t's kind of product.
void add_tiles(std::vector<batched_tile>& out, const step& st, batched_tile t, const machine& chip) {
    const auto& mma = *mma_of(st, t);
    const auto row_tiles = up(extent_of(st, m), 8), column_tiles = up(extent_of(st, n), mma.rows);
    t.realigned = wants_fragments(mma);
    for (std::int64_t tm = 1; tm <= std::min(row_tiles, most_tile_m); ++tm) {
        t.tile_m = static_cast<std::int32_t>(tm);
        const auto row_warps = stationary_row_warps(st, t);
        if (t.warpgroups ? tm != 2 : up(row_tiles, row_warps) < tm)
            continue; // as many warps with smaller tiles would do the same
        for (std::int64_t tn = 1; tn <= std::min(column_tiles, most_tile_n); ++tn)
            for (const std::int64_t groups : {1, 2, 3, 4}) {
                const std::int64_t columns = groups * tn * mma.rows, helpers = t.realigned ? 3 : 2;
                if (columns > most_columns || (groups * tn > 1 && columns >= extent_of(st, n) + mma.rows)) continue;
                const auto instructions = static_cast<double>(products_of_sum(st) * tn) *
                                          (static_cast<double>(tm * mma.repeats) * (is_complex(st.compute) ? 4 : 1) +
                                           2.0 * mma.issue * static_cast<double>(parts_of(st)));
                if (!t.warpgroups && instructions > most_instructions) continue;
                t.tile_n = static_cast<std::int32_t>(tn);
                t.panel = static_cast<std::int32_t>(columns);
                // A quarter of an SM has registers for as many as another.
                const auto least = up(row_warps * groups + helpers, warps_at_once),
                           apart = up(row_warps * groups, warps_at_once) + 1;
                for (auto fours = least; fours <= apart; ++fours) {
                    if (fours * warps_at_once > most_warps) continue;
                    t.threads = static_cast<std::int32_t>(fours * warps_at_once * warp);
                    add_stages(out, st, t, chip);
                }
            }
    }
}

} // namespace

step with_columns(step st) {
    const auto rows = axes_of(st, m), columns = axes_of(st, n);
    const auto& strides = st.operands[0].stride;
    if (rows.size() != 1 || columns.size() != 1 || strides[static_cast<std::size_t>(rows.front())] == 1 ||
        strides[static_cast<std::size_t>(columns.front())] != 1)
        return st;
    return with_sides_swapped(std::move(st));
}

bool takes_stationary(const step& st, const machine& chip) {
    if (!has_bulk_copies(chip) || mma_of(st, chip) == nullptr) return false;
    for (const auto c : {m, n, k})
        if (axes_of(st, c).size() != 1) return false;
    if (largest_side(st) > largest_batched) return false;
    for (int o = 0; o < 3; ++o)
        if (!lines_of(st, o)) return false;
    return !stationary_candidates(st, chip).empty();
}

std::vector<batched_tile> stationary_candidates(const step& st, const machine& chip) {
    std::vector<batched_tile> out;
    batched_tile t;
    t.core = batched_core::mma;
    t.c_transposed = true;
    add_tiles(out, st, t, chip);
    if ((t.rows_of_16 = has_rows_of_16(*mma_of(st), chip))) add_tiles(out, st, t, chip);
    if ((t.warpgroups = has_warpgroup_products(*mma_of(st), chip))) add_tiles(out, st, t, chip);
    return out;
}

std::vector<double> stationary_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip) {
    const auto s = sizes_of(st);
    const double seconds_a_cycle = static_cast<double>(extent_of(st, batch)) / (sm_clock(chip) * chip.processors);
    const double x_bytes = stationary_x_is_for_all(st) ? 0 : static_cast<double>(s.m * s.k * s.x_bytes),
                 y_bytes = static_cast<double>(s.k * s.n * s.y_bytes);
    const double c_bytes = static_cast<double>(s.m * s.n * s.c_bytes) * (st.op == assignment::assign ? 1 : 2);
    const int parts = s.complex ? 2 : 1;
    std::vector<double> out;
    for (const auto& t : tiles) {
        const auto layout = stationary_layout_of(st, t);
        const auto& mma = *mma_of(st, t);
        const int lane_columns = mma.rows / 8;
        const matrix_lines lines[] = {*lines_of(st, 0), *lines_of(st, 1), *lines_of(st, 2)};
        const auto conflicts = [&](int o) {
            return slice_conflicts(st, o, layout.pitch[static_cast<std::size_t>(o)], t);
        };
        const auto column_slices = static_cast<double>(up(s.n, t.panel)),
                   x_slices = static_cast<double>(up(lines[1].count, t.k_panel));
        const double groups = static_cast<double>(column_groups(st, t)),
                     row_warps = static_cast<double>(stationary_row_warps(st, t));
        const double products = static_cast<double>(products_of_sum(st)), elements = 4.0 / mma.splits,
                     tiles_of_warp = t.tile_m * t.tile_n;
        // Of a warp and slice.
        const double multiplies = products * tiles_of_warp * mma.repeats * (s.complex ? 4 : 1),
                     numbers = products * t.tile_n * lane_columns * elements * parts;
        const double results = 2 * tiles_of_warp * lane_columns * parts;
        // Fragments are made once for all rows.
        const double shares = t.realigned ? row_warps : 1,
                     reading = t.realigned && !t.warpgroups
                                   ? products * t.tile_n * static_cast<double>(fragment_words(st, t)) / 4
                                   : 0;
        const double splitting =
            stationary_splits_x_once(st, t, chip) ? 0 : products * t.tile_m * elements * parts * 3;
        const double issue =
            (t.warpgroups ? multiplies / tiles_of_warp : multiplies) + splitting + reading +
            numbers * (mma.issue + 3 * (shares > 1)) / shares + results * 8 + 60;
        const double wavefronts_of_slice = numbers * conflicts(2) / shares + 4 * reading * (1 + 1 / shares) +
                                           results * conflicts(0) * (st.op == assignment::assign ? 1 : 2);
        const double arithmetic = products * tiles_of_warp * (s.complex ? 4 : 1) * mma.cycles * rate_of(mma, t);
        const double warps = row_warps * groups, slices = column_slices * warps;
        // X: each warp reads its rows once.
        const double x_numbers = products * t.tile_m * elements * parts;
        const auto resident = stationary_resident_blocks(st, t, chip);
        // A quarter of an SM has its own tensor core and issues one instruction a cycle; the two warps that copy are
        // idle, nearly.
        const double uneven = std::ceil(warps * resident / 4) * 4 / (warps * resident);
        const double chain = products * (mma.repeats > 1 ? 2 : 1) * (s.complex ? 2 : 1) * mma_latency;
        const double alone = std::max({chain, own_cycles * issue, warps / 4 * std::max(issue, arithmetic)});
        const auto copying = [&](int o, double copies, double bytes) {
            const auto at = static_cast<std::size_t>(o);
            const bool aligned = lines[o].between * size_of(operand_of(st, o).type) % 16 == 0;
            const auto unit = size_of(real_of(operand_of(st, o).type));
            if (layout.is_run[at]) return copies * copy_cycles;
            return bytes / static_cast<double>((aligned ? 16 : unit) * warp) * unit_cycles *
                   (aligned || unit >= 4 ? 1 : 8) / static_cast<double>(stationary_warps_of(st, t).load);
        };
        const double memory =
            ring_rate * (x_bytes + y_bytes + c_bytes) * static_cast<double>(extent_of(st, batch)) / chip.bandwidth;
        const double shared = (slices * wavefronts_of_slice + warps * x_numbers * conflicts(1) +
                               2 * (x_bytes + y_bytes + c_bytes) / 128) *
                              seconds_a_cycle;
        const double issuing =
            stationary_issue * uneven * (slices * issue + warps * x_numbers * (mma.issue + 2)) / 4 * seconds_a_cycle;
        const double multiplying = uneven * slices * arithmetic * seconds_a_cycle;
        const double loading =
            copying(1, x_slices, x_bytes) + copying(2, column_slices, y_bytes) + copying(0, column_slices, c_bytes);
        const double working = column_slices * (slice_cycles + alone) + x_slices * slice_cycles + x_numbers * 8;
        const double a_fragment = t.warpgroups ? warpgroup_fragment_cycles : fragment_cycles,
                     fragments = products * static_cast<double>(up(s.n, 16));
        const double making =
            t.realigned ? fragments * a_fragment / static_cast<double>(stationary_warps_of(st, t).fragment) : 0;
        const double latency = std::max({loading, working, making}) / resident * seconds_a_cycle +
                               (t.realigned ? own_memory * memory / resident : 0);
        const double slowest = std::max({memory, shared, issuing, multiplying});
        out.push_back(std::max(slowest + beside * (memory + shared + issuing + multiplying - slowest), latency) +
                      idle_ends * latency);
    }
    return out;
}

stationary_warps stationary_warps_of(const step& st, const batched_tile& t) {
    stationary_warps out;
    out.compute = compute_warps(st, t);
    const auto helpers = std::min(t.threads / warp - out.compute, warps_at_once) - 1; // beside the one that stores
    out.load = t.realigned ? std::max<std::int64_t>(1, helpers / 3) : helpers;
    out.fragment = helpers - out.load;
    return out;
}

stationary_registers stationary_registers_of(const step& st, const batched_tile& t, const machine& chip) {
    return registers_apart(st, t, stationary_resident_blocks(st, t, chip));
}

bool stationary_splits_x_once(const step& st, const batched_tile& t, const machine& chip) {
    return registers_of(st, t, true) <= registers_for(st, t, stationary_resident_blocks(st, t, chip));
}

std::int64_t stationary_row_warps(const step& st, const batched_tile& t) {
    const auto warps = up(up(extent_of(st, m), 8), t.tile_m);
    return t.warpgroups ? up(warps, warps_at_once) * warps_at_once : warps;
}

bool stationary_x_is_for_all(const step& st) {
    const auto& x = operand_of(st, 1);
    const auto axes = axes_of(st, batch);
    return x.gathers.empty() &&
           std::all_of(axes.begin(), axes.end(), [&](auto a) { return x.stride[static_cast<std::size_t>(a)] == 0; });
}

std::int64_t stationary_barrier_bytes(const batched_tile& t) {
    // three barriers and two places a stage; two stages of fragments, a word a warp
    return up(t.stages * 32 + (t.realigned ? 256 : 0), 128) * 128;
}

std::int64_t stationary_shared_bytes(const step& st, const batched_tile& t) {
    return stationary_barrier_bytes(t) + t.stages * stationary_layout_of(st, t).stage_bytes +
           fragment_stages * fragment_bytes(st, t);
}

int stationary_resident_blocks(const step& st, const batched_tile& t, const machine& chip) {
    return std::max(1, resident_blocks(st, t, chip));
}

std::int64_t stationary_blocks(const step& st, const batched_tile& t, const machine& chip) {
    return std::min<std::int64_t>(extent_of(st, batch),
                                  std::int64_t{stationary_resident_blocks(st, t, chip)} * chip.processors);
}

} // namespace ricci::lowering
