// lane_ring_model: the legal parameters of kernels/batched_lane_ring.cuh and batched_lane_shifts.cuh, and what each
// would cost.
//
// Fitted to 2700 timings on an H200 (f64, f32, f16, c64, sizes of 8 to 64, lines aligned and not). Blocks stay, and
// rings bring what they need ahead of them: the memory, shared memory's wavefronts and the
// instructions work side by side, and the slowest of them counts, if enough bytes are under way.
#include "lowering/lane_ring_model.hpp"

#include "lowering/families.hpp"
#include "lowering/lane_ring_layout.hpp"
#include "lowering/lanes_product.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <cmath>

namespace ricci::lowering {
namespace {

using enum axis_class;

// Copies alone, measured on an H200 (2 GB, f32, C's lines read and written): of the fastest of them by lines of 64,
// 128, 256, 512 and 1024 bytes that start at multiples of 128 bytes 0.70, 0.97, 0.98, 0.98, 0.98, and at others of 16
// 0.50, 0.68, 0.79, 0.87, 0.92; the fastest is 0.94 of the triad.
constexpr double copy_rate = 0.94; ///< of the triad's
constexpr double aligned_loss = 24, aligned_power = 2.8, unaligned_loss = 96, unaligned_power = 1.5; ///< bytes
constexpr double often_unaligned = 0.17;    ///< of lines at multiples of 16 bytes: how many at none of 128
constexpr double l2_rate = 1.43;            ///< of the L2 cache, in the memory's
constexpr double shifted_excess = 106;      ///< bytes that a line that starts anywhere takes of it in vain
constexpr double load_cycles = 1120;        ///< from asking a busy memory for bytes to having them
constexpr double idle_stages = 1.37;        ///< that have nothing under way: the one that is read, at times the next
constexpr double part_cycles = 835;         ///< of a part of C, between its last sum and the next part's first
constexpr double late_c = 1.4;              ///< of them more, where C's next part comes only when one has left
constexpr double panel_cycles = 66;         ///< of a panel, what the warps that multiply wait at its barriers
constexpr double lone_halves = 2.6;          ///< times as long, what is multiplied 2 bytes at a time
constexpr double few_warps = 3;             ///< of an SM, that multiply: with as many, waits double the time
constexpr double overlap = 9.7;             ///< how well units work side by side: 1 not at all, infinite wholly

} // namespace

lane_ring_model::lane_ring_model(const step& st, const machine& chip) : st_(st), chip_(chip), p_(st) {}

double lane_ring_model::seconds(const batched_tile& t) const {
    const auto& chip = chip_;
    const auto& p = p_;
    const auto& s = p.s;
    const auto layout = lane_ring_layout_of(p, t);
    const auto resident =
        static_cast<double>(std::max<std::int64_t>(1, lane_ring_resident_blocks(p, t, layout, chip)));
    // A part's.
    const double products = t.products, steps = static_cast<double>(up(s.k, t.k_panel) * t.k_panel),
                 panels = static_cast<double>(up(s.k, t.k_panel));
    const double warps = static_cast<double>(t.threads) / warp - lane_helper_warps(t);
    const double tile = t.tile_m * t.tile_n, sides = t.tile_m + t.tile_n, neighbors = t.thread_products;
    const auto wavefronts = [&](int bytes) { return std::max(1.0, neighbors * bytes / 4.0); };
    const double in_stage = static_cast<double>(layout.stage_bytes), c_part = static_cast<double>(layout.c_bytes);
    const double copied = panels * in_stage + (p.accumulates ? c_part : 0);
    const double shared = warps * (steps * (t.tile_m * wavefronts(s.x_bytes) + t.tile_n * wavefronts(s.y_bytes)) +
                             tile * wavefronts(s.c_bytes) * (p.accumulates ? 2 : 1)) +
                    (copied + c_part) / 128;
    const double conversions = ((s.x_bytes == 2 ? t.tile_m : 0) + (s.y_bytes == 2 ? t.tile_n : 0)) * neighbors;
    const double multiply_rate = s.doubles ? 2 : 1; // an SM's instructions of them a cycle, of four
    const double instructions =
        warps * (steps * (tile * neighbors * p.multiplies() * multiply_rate + sides + conversions + 2) +
                 tile * (6 + 4 * neighbors) + panels * 25 + 60);
    // Of an SM, as many for each batch: one kernel serves all.
    const double own_parts = p.batches / products * static_cast<double>(layout.row_blocks * layout.column_blocks) /
                             chip.processors,
                 seconds_a_cycle = 1 / sm_clock(chip);
    const double line = products * p.least_bytes;
    const double aligned = std::pow(aligned_loss / line, aligned_power),
                 unaligned = std::pow(unaligned_loss / line, unaligned_power);
    // Lines read as boxes of residues cost what aligned ones do.
    const double loss_in = is_shifted(t) ? aligned : aligned + often_unaligned * unaligned,
                 loss_out = is_shifted(t) ? unaligned : loss_in;
    const double taken =
        p.batches * ((p.x_taken + p.y_taken) * (1 + loss_in) + p.c_taken * (1 + loss_out));
    const double through_l2 =
        p.batches * (p.x_taken * static_cast<double>(layout.column_blocks) +
                     p.y_taken * static_cast<double>(layout.row_blocks) + p.c_taken) / l2_rate *
        (is_shifted(t) ? 1 + shifted_excess / line : 1);
    const double memory = std::max(taken, through_l2) / (copy_rate * chip.bandwidth);
    const double under_way = std::min((t.stages - idle_stages) * in_stage, 2 * copied);
    const double latency = copied / under_way * load_cycles * own_parts / resident;
    // What the warps that multiply do and wait for, one after the other: of a block alone nothing hides it.
    const double issue = std::max(instructions * (1 + few_warps / (warps * resident)) / 4,
                                  warps < 4 ? instructions / warps : 0) *
                         (is_shifted(t) && s.x_bytes == 2 ? lone_halves : 1);
    const double chain =
        (std::max(issue, shared) * resident + part_cycles * (t.slices == 1 ? 1 + late_c : 1) +
         panels * panel_cycles) /
        resident * own_parts;
    double sum = 0;
    for (const double unit : {memory, chain * seconds_a_cycle, latency * seconds_a_cycle})
        sum += std::pow(unit, overlap);
    return std::pow(sum, 1 / overlap);
}

namespace {

constexpr std::int64_t most_compute = 512, least_compute = 64; ///< threads that multiply
constexpr std::int64_t most_parts = 12;                         ///< of C's rows and of its columns together
constexpr std::int64_t largest_stage = 72 << 10, longest_box = 256;

/// Adds those of one way to cut C, over how the panels come.
void add_panels(std::vector<batched_tile>& out, const lane_ring_product& p, const machine& chip, batched_tile t) {
    const auto k = p.s.k;
    const auto& shifts = p.shifts;
    const std::int64_t repeats = shifts.steps[1] || shifts.steps[2] ? 16 / p.s.x_bytes : 1; // panels begin alike
    const double work = static_cast<double>(t.tile_m * t.tile_n * t.thread_products * p.s.words) * p.multiplies();
    for (const std::int64_t wanted : {2, 4, 8, 16, 32, 64, 128}) {
        const auto k_panel = std::min(wanted, k);
        if (wanted >= 2 * k || (is_shifted(t) && k_panel != k && k_panel % repeats != 0)) continue;
        // beyond the sum's end only what comes by boxes of residues is not multiplied
        if (!is_shifted(t) && 5 * up(k, k_panel) * k_panel > 6 * k) continue;
        t.k_panel = static_cast<std::int32_t>(k_panel);
        t.k_unrolled = static_cast<std::int32_t>(std::min<std::int64_t>(k_panel, work > 48 ? 2 : 4));
        if (lane_ring_layout_of(p, t).stage_bytes > largest_stage) continue;
        for (const int stages : {2, 3, 4, 6}) {
            if (stages > 2 * up(k, k_panel) && stages > 3) continue;
            t.stages = stages;
            if (lane_ring_resident_blocks(p, t, lane_ring_layout_of(p, t), chip) > 0) out.push_back(t);
        }
    }
}

/// Of batched_lane_ring.
void add_aligned(std::vector<batched_tile>& out, const lane_ring_product& p, const machine& chip) {
    const auto& s = p.s;
    const auto widest = std::max({s.c_bytes, s.x_bytes, s.y_bytes});
    for (const auto& [tm, tn, neighbors] : thread_tiles(p)) {
        const auto row_tiles = up(s.m, tm), column_tiles = up(s.n, tn);
        for (const auto rows : parts_of(row_tiles))
            for (const auto columns : parts_of(column_tiles))
                for (auto products = std::max(least_line / p.least_bytes, 16 / p.least_bytes * neighbors);
                     products * p.least_bytes <= longest_line; products *= 2) {
                    const auto compute = products / neighbors * rows * columns;
                    if (compute > most_compute || compute < least_compute || compute % warp != 0) continue;
                    if (up(row_tiles, rows) + up(column_tiles, columns) > most_parts) continue;
                    if (std::max({products * (widest > 8 ? 2 : 1), rows * tm, columns * tn}) > longest_box) continue;
                    batched_tile t;
                    t.boxed = true, t.thread_products = static_cast<std::int32_t>(neighbors);
                    t.tile_m = static_cast<std::int32_t>(tm), t.tile_n = static_cast<std::int32_t>(tn);
                    t.products = static_cast<std::int32_t>(products);
                    t.panel = static_cast<std::int32_t>(columns * tn);
                    t.threads = static_cast<std::int32_t>(compute) + warp * lane_helper_warps(t);
                    for (const int c_stages : {1, 2}) t.slices = c_stages, add_panels(out, p, chip, t);
                }
    }
}

/// Threads across a side whose tiles are `side` long: all of it or nearly equal parts, multiples of `whole`; of
/// threads, of `apart`.
std::vector<std::int64_t> threads_across(std::int64_t extent, std::int64_t side, std::int64_t whole,
                                         std::int64_t apart) {
    std::vector<std::int64_t> out;
    for (std::int64_t parts = 1; parts <= 8; ++parts) {
        auto across = up(up(extent, parts), side);
        while (across % apart != 0 || across * side % whole != 0) ++across;
        if (10 * up(extent, across * side) * across * side <= 14 * extent && (out.empty() || across != out.back()))
            out.push_back(across);
    }
    return out;
}

/// Of batched_lane_shifts.
void add_shifted(std::vector<batched_tile>& out, const lane_ring_product& p, const machine& chip) {
    const auto& s = p.s;
    const std::int64_t residues = 16 / s.x_bytes;
    const auto& shifts = p.shifts;
    const auto where = [&](bool is_so) { return is_so ? residues : 1; };
    // See the kernel: what a thread's rows and columns have in common, and what boxes of residues divide.
    const auto rows_apart = where(shifts.steps[1] && shifts.others[1]),
               columns_apart = where((shifts.steps[2] && shifts.others[2]) || shifts.steps[0]);
    const auto row_whole = where(shifts.others[0] || shifts.others[1]), column_whole = where(shifts.others[2]);
    for (std::int64_t tm = 1; tm <= 8; ++tm)
        for (std::int64_t tn = 1; tn <= 8; ++tn) {
            // NVRTC takes 300 ms for more that is unrolled.
            if (tm * tn * residues > 224) continue;
            if (tm * tn * s.words > 64 || 4 * std::min(tm, tn) < std::max(tm, tn)) continue;
            for (const auto rows : threads_across(s.m, tm, row_whole, rows_apart))
                for (const auto columns : threads_across(s.n, tn, column_whole, columns_apart))
                    for (auto products = least_line / p.least_bytes; products * p.least_bytes <= longest_line;
                         products *= 2) {
                        const auto compute = products * rows * columns;
                        if (compute > most_compute || compute < least_compute || compute % warp != 0) continue;
                        if (up(s.m, rows * tm) + up(s.n, columns * tn) > most_parts) continue;
                        if (std::max({products + residues, rows * tm, columns * tn}) > longest_box) continue;
                        batched_tile t;
                        t.boxed = t.skewed = true;
                        t.tile_m = static_cast<std::int32_t>(tm), t.tile_n = static_cast<std::int32_t>(tn);
                        t.products = static_cast<std::int32_t>(products);
                        t.panel = static_cast<std::int32_t>(columns * tn);
                        t.threads = static_cast<std::int32_t>(compute) + warp * lane_helper_warps(t);
                        for (const int c_stages : {1, 2}) {
                            t.slices = c_stages;
                            if (c_stages == 1 || p.accumulates) add_panels(out, p, chip, t);
                        }
                    }
        }
}

} // namespace

std::vector<batched_tile> lane_ring_model::candidates() const {
    std::vector<batched_tile> out;
    if (moves_lanes_in_boxes(st_, chip_)) add_aligned(out, p_, chip_);
    else if (shifts_lanes(st_, chip_)) add_shifted(out, p_, chip_);
    return out;
}

} // namespace ricci::lowering
