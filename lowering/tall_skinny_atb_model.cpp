// tall_skinny_atb_model: the legal parameters of the GPU's kernels for C = X^T Y with a long k, and what each would
// cost.
#include "lowering/tall_skinny_atb_model.hpp"

#include "lowering/batched_layout.hpp"
#include "lowering/box_layout.hpp"
#include "lowering/families.hpp"
#include "lowering/mma_shape.hpp"
#include "lowering/panel_model.hpp"
#include "lowering/panel_shifts.hpp"
#include "lowering/sm_limits.hpp"
#include "lowering/tall_skinny_atb_layout.hpp"
#include "lowering/tuning_key.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

using enum axis_class;

constexpr std::int64_t most_stages = barrier_bytes / 16; ///< two barriers each
/// a thread's or a warp's in the code: more take NVRTC too long
constexpr std::int64_t most_multiplies = 1000;
constexpr double memory_latency = 1000;                  ///< cycles, under load

double real(std::int64_t x) { return static_cast<double>(x); }

void add_new(std::vector<batched_tile>& out, const batched_tile& t) {
    if (std::find(out.begin(), out.end(), t) == out.end()) out.push_back(t);
}

// ---- tall_skinny_atb ----

/// Registers that a thread may have for C: split and complex numbers need many others. Then two blocks of 256 threads
/// share an SM.
std::int64_t most_sums(const step& st, const mma_shape* mma) {
    return mma == nullptr ? 64 : is_complex(st.compute) ? 32 : mma->repeats > 1 ? 36 : 64;
}

/// Panels of about so many bytes, as many as fit `most_bytes`; false if not two do.
bool set_ring(batched_tile& t, const step& st, std::int64_t panel_bytes, std::int64_t most_bytes) {
    const auto x_bytes = atb_sizes_of(st).x;
    const std::int64_t of_box = t.boxed || t.realigned ? box_elements(x_bytes) : 1,
                       least = t.slices * std::max<std::int64_t>(of_box, t.core == batched_core::mma ? 16 : 1);
    t.k_panel = static_cast<std::int32_t>(std::max(power_of_two_to(panel_bytes / atb_sizes_of(st).row), least));
    const auto layout = panel_layout_of(st, t);
    const auto room = most_bytes - atb_barrier_bytes(t);
    const auto stages = !t.realigned
                            ? std::min(layout.by_bulk ? most_stages : 4, room / layout.stage_bytes)
                            : std::min(most_raw_stages, (room - moved_stages * layout.stage_bytes) /
                                                            shifted_panel_layout_of(st, t).stage_bytes);
    t.stages = static_cast<std::int32_t>(stages);
    return t.stages >= 2 && atb_shared_bytes(st, t) <= most_bytes &&
           atb_blocks_by_registers(atb_registers(st, t), atb_threads(st, t)) > 0;
}

/// All rings of tiles whose size is set.
void add_rings(std::vector<batched_tile>& out, batched_tile t, std::int64_t tiles, std::int64_t tile_threads,
               const step& st, const machine& chip, panel_reads& reads) {
    for (const std::int64_t threads : {256, 128, 512}) {
        if (tiles * tile_threads > threads) continue;
        for (auto slices = power_of_two_to(threads / (tiles * tile_threads)); slices > 0; slices /= 2) {
            bool any = false;
            t.slices = static_cast<std::int32_t>(slices);
            t.threads = static_cast<std::int32_t>(up(tiles * tile_threads * t.slices, warp) * warp);
            for (const std::int64_t panel : {16 << 10, 8 << 10, 32 << 10, 64 << 10})
                for (const std::int64_t blocks : {2, 1})
                    if (set_ring(t, st, panel, chip.shared_bytes / blocks - shared_of_a_block)) {
                        any = true, add_new(out, t);
                        auto apart = t;
                        apart.k_apart = reads.best_apart(t, t.k_panel / t.slices);
                        add_new(out, apart);
                    }
            // else fewer threads share a panel: wide operands' smallest panels, or all sums, would not fit
            if (any) break;
        }
    }
}

/// Whether X and Y may come in boxes, which the tensor cores' tiles read: columns, of numbers of 4 or 8 bytes.
bool takes_boxes(const step& st, const machine& chip) {
    const auto s = atb_sizes_of(st);
    return std::min(s.x, s.y) >= 4 && std::min(s.m, s.n) >= 8 && boxes_of(st, 1, k, m, chip) &&
           boxes_of(st, 2, k, n, chip);
}

void add_panels(std::vector<batched_tile>& out, const step& st, const machine& chip) {
    const auto s = atb_sizes_of(st);
    const auto before = out.size();
    panel_reads reads(st);
    for (const auto* core : {mma_of(st, chip), static_cast<const mma_shape*>(nullptr)}) {
        // elements of C: multiply-adds would take longer than the memory
        constexpr std::int64_t most_multiplied = 1024;
        if (core == nullptr && s.m * s.n > most_multiplied && out.size() > before) continue;
        auto t = start_tile(st, core);
        const auto* mma = set_product(t, st, core, t.c_transposed ? s.n : s.m, chip);
        const bool may_be_boxed = mma != nullptr && takes_boxes(st, chip),
                   may_be_shifted =
                       mma != nullptr && has_tall_columns_off_lines(st, chip) && has_shifted_panels(st, chip);
        t.panel = static_cast<std::int32_t>(s.n);
        const auto high = mma == nullptr ? s.m : t.c_transposed ? up(s.n, mma->rows) : up(s.m, mma->rows);
        const auto wide = mma == nullptr ? s.n : t.c_transposed ? up(s.m, 8) : up(s.n, 8);
        const auto largest = most_sums(st, mma) / (s.compute / 4) / (mma == nullptr ? 1 : mma->rows / 4);
        for (const std::int64_t tm : {1, 2, 3, 4, 6, 8})
            for (const std::int64_t tn : {1, 2, 3, 4, 6, 8}) {
                if (tm > high || tn > wide || tm * tn > largest) continue;
                t.tile_m = static_cast<std::int32_t>(tm), t.tile_n = static_cast<std::int32_t>(tn);
                // what is read ahead takes registers
                t.k_unrolled = mma != nullptr && (mma->repeats > 1 || atb_sum_registers(st, t) > 32) ? 1 : 2;
                struct variant {
                    bool boxed, realigned, is_legal;
                };
                for (const auto v : {variant{false, false, true},
                                     {true, false, may_be_boxed},
                                     {may_be_boxed, true, may_be_shifted}}) {
                    if (!v.is_legal) continue;
                    t.boxed = v.boxed, t.realigned = v.realigned;
                    add_rings(out, t, up(high, tm) * up(wide, tn), mma == nullptr ? 1 : warp, st, chip, reads);
                }
            }
    }
}

// ---- tall_skinny_atb_threads, _warps ----

/// With all blocks and all numbers on their way that registers and shared memory allow.
void add_in_registers(std::vector<batched_tile>& out, batched_tile t, const step& st, const machine& chip,
                      std::int64_t multiplies) {
    for (const int unrolled : {1, 2, 3, 4, 6, 8})
        for (const int blocks : {1, 2}) {
            t.k_unrolled = unrolled, t.stages = blocks;
            if (unrolled * multiplies > most_multiplies) continue;
            if (atb_blocks_by_registers(atb_registers(st, t), t.threads) < blocks) continue;
            if (blocks * (atb_shared_bytes(st, t) + shared_of_a_block) > chip.shared_bytes) continue;
            add_new(out, t);
        }
}

void add_threads(std::vector<batched_tile>& out, const step& st, const machine& chip) {
    const auto s = atb_sizes_of(st);
    constexpr std::int64_t most_sums = 128; // registers
    if (s.m * s.n * s.compute / 4 > most_sums) return;
    batched_tile t;
    t.in_registers = true;
    t.tile_m = static_cast<std::int32_t>(s.m), t.tile_n = static_cast<std::int32_t>(s.n);
    const auto longest = std::max<std::int64_t>(1, 16 / std::min(s.x, s.y));
    for (auto k_lane = std::max<std::int64_t>(1, longest / 2); k_lane <= 2 * longest; k_lane *= 2)
        for (const int threads : {128, 256, 512}) {
            t.k_panel = static_cast<std::int32_t>(k_lane), t.threads = threads,
            t.slices = threads / static_cast<int>(warp);
            add_in_registers(out, t, st, chip, k_lane * s.m * s.n * (is_complex(st.compute) ? 4 : 1));
        }
}

void add_warps(std::vector<batched_tile>& out, const step& st, const machine& chip) {
    const auto s = atb_sizes_of(st);
    const auto* core = mma_of(st, chip);
    if (core == nullptr || is_complex(st.compute)) return;
    batched_tile t;
    t.core = batched_core::mma;
    t.in_registers = true;
    const auto* mma = set_product(t, st, core, s.m, chip);
    const std::int64_t lane_rows = mma->rows / 8, elements = 4 / mma->splits, most_sums = 128;
    for (const std::int64_t row_parts : {1, 2, 4})
        for (const std::int64_t column_parts : {1, 2, 4}) {
            t.tile_m = static_cast<std::int32_t>(up(up(s.m, row_parts * 8), lane_rows) * lane_rows);
            t.tile_n = static_cast<std::int32_t>(up(s.n, column_parts * 8));
            const auto v = atb_vectors_of(st, t);
            if (v.parts[1] != row_parts || v.parts[2] != column_parts || atb_sum_registers(st, t) > most_sums)
                continue;
            const auto longest = v.along_k[1] || v.along_k[2] ? std::max(elements, 16 / s.x) : elements;
            for (auto k_lane = elements; k_lane <= 2 * longest; k_lane *= 2)
                for (const int threads : {128, 256, 512}) {
                    const auto slices = threads / warp / (row_parts * column_parts);
                    if (slices == 0) continue;
                    t.k_panel = static_cast<std::int32_t>(k_lane), t.threads = threads,
                    t.slices = static_cast<std::int32_t>(slices);
                    const auto products = k_lane / elements * (t.tile_m / lane_rows) * t.tile_n * mma->repeats;
                    const auto numbers = k_lane * (t.tile_m + t.tile_n) * (mma->repeats > 1 ? 6 : 1);
                    add_in_registers(out, t, st, chip, 2 * (products + numbers));
                }
        }
}

// ---- what they cost ----

step of_class_height(step st, const machine& chip) {
    const auto steps = class_height(st, atb_sizes_of(st).row, chip);
    for (const auto a : axes_of(st, k)) st.axes[static_cast<std::size_t>(a)].extent = steps;
    return st;
}

/// Of an SM and all its steps: cycles that each unit is busy, and those that pass because too few bytes are on their
/// way.
struct cost {
    double issue = 0, arithmetic = 0, l1 = 0, asking = 0, waiting = 0;
};

/// Instructions of a warp for an operand's numbers of t.k_panel steps of each lane, and lines of memory they meet.
struct load_cost {
    double instructions = 0, lines = 0;
};
load_cost loads_of(std::int64_t numbers, std::int64_t at_once, std::int64_t bytes, double lines_of_access) {
    const double accesses = real(numbers) / real(at_once) * std::max(1.0, real(at_once * bytes) / 16);
    return {3 * accesses, accesses * lines_of_access};
}

cost cost_of_threads(const step& st, const batched_tile& t, double steps, double on_way) {
    const auto s = atb_sizes_of(st);
    const auto v = atb_vectors_of(st, t);
    load_cost loads;
    for (std::size_t o = 1; o < 3; ++o) {
        const auto sides = o == 1 ? s.m : s.n, bytes = o == 1 ? s.x : s.y;
        const auto at_once = v.threads[o] == atb_vectors::whole_rows ? sides * t.k_panel
                             : v.threads[o] == atb_vectors::of_steps ? t.k_panel
                                                                     : 1;
        const auto own = loads_of(sides * t.k_panel, at_once, bytes,
                                  std::max(1.0, real(std::min<std::int64_t>(at_once * bytes, 128)) / 4));
        loads.instructions += own.instructions, loads.lines += own.lines;
    }
    const double warps = steps / real(warp * t.k_panel), parts = is_complex(st.compute) ? 4 : 1;
    const double multiplies = real(s.m * s.n * t.k_panel) * parts,
                 converts = real(t.k_panel) * ((s.x == 2 ? 2.0 * real(s.m) : 0) + (s.y == 2 ? 2.0 * real(s.n) : 0));
    cost out;
    out.issue = warps * (multiplies + converts + loads.instructions + 6) / 4;
    out.arithmetic = warps * multiplies / (real_of(st.compute) == scalar_type::f64 ? 2 : 4);
    out.l1 = warps * loads.lines;
    out.waiting = steps * real(s.row) / on_way * memory_latency;
    return out;
}

cost cost_of_warps(const step& st, const batched_tile& t, double steps, double on_way) {
    const auto s = atb_sizes_of(st);
    const auto v = atb_vectors_of(st, t);
    const auto* mma = mma_of(st, t);
    load_cost loads;
    double numbers = 0;
    for (std::size_t o = 1; o < 3; ++o) {
        const auto own = loads_of(v.slots[o] * t.k_panel, v.along_k[o] ? t.k_panel : v.vector[o], o == 1 ? s.x : s.y,
                                  v.along_k[o] ? 8 : 4);
        loads.instructions += own.instructions, loads.lines += own.lines;
        numbers += real(v.slots[o] * t.k_panel);
    }
    const double parts = real(v.parts[1]) * v.parts[2], warps = steps / real(4 * t.k_panel) * parts;
    const double reading = mma->repeats > 1 ? 7 : mma->element_bytes == 2 ? 0.7 : 0;
    const double products = real(t.k_panel * mma->splits / 4 * (t.tile_m * 8 / mma->rows) * t.tile_n);
    cost out;
    out.issue = warps * (products * mma->repeats + numbers * reading + loads.instructions + 6) / 4;
    out.arithmetic = fitted_cycles(*mma) * warps * products;
    out.l1 = warps * loads.lines;
    out.waiting = steps * real(s.row) / on_way * memory_latency;
    return out;
}

cost cost_of_panels(const step& st, const batched_tile& t, double steps, double on_way, bool anywhere,
                    const machine& chip, panel_reads& reads) {
    const auto s = atb_sizes_of(st);
    const double loads = t.tile_m + t.tile_n, multiplies = t.tile_m * t.tile_n,
                 parts = is_complex(st.compute) ? 2 : 1;
    // Instructions of a warp for one of its steps, and the warps of all tiles at a step.
    double a_step = 0, warps = 0, products = 0;
    if (t.core == batched_core::mma) {
        const auto* mma = mma_of(st, t);
        const auto rows = t.c_transposed ? s.n : s.m, columns = t.c_transposed ? s.m : s.n;
        const double lane_rows = mma->rows / 8.0;
        a_step = (4 * (t.tile_m * lane_rows + t.tile_n) * mma->issue * parts +
                  mma->splits * multiplies * parts * parts * mma->repeats) /
                 16;
        warps = real(up(up(rows, mma->rows), t.tile_m) * up(up(columns, 8), t.tile_n));
        products = mma->splits * multiplies * parts * parts / 16 * fitted_cycles(*mma);
    } else {
        const bool converts = s.x == 2 || s.y == 2;
        a_step = loads * (converts ? 2 : parts) + multiplies * parts * parts + 2;
        warps = real(up(s.m, t.tile_m) * up(s.n, t.tile_n)) / warp;
    }
    const bool by_bulk = panel_layout_of(st, t).by_bulk && (t.realigned || !anywhere);
    const double blocks = real(atb_resident_blocks(st, t, chip));
    // another block's warps compute while one's wait for a panel
    const double handed_over_by = by_bulk ? 1 : blocks;
    const double a_panel = by_bulk ? 100 : 400;          // cycles for all warps to hand over a panel
    // instructions of moving what boxes have brought, 512 bytes of a warp at a time; of asynchronous copies:
    // addresses, bounds and the copy itself
    const double copies = t.realigned ? real(s.row) / 512 * (s.x == 2 ? 10 : 6) : by_bulk ? 0 : real(s.row) / 32;
    // of an SM: with fewer, each waits for its own shared memory and products
    constexpr double busy_warps = 8;
    cost out;
    out.issue = steps * (a_step * warps + copies) / 4 * std::max(1.0, busy_warps * warp / (blocks * t.threads)) +
                steps / t.k_panel * a_panel / handed_over_by;
    out.arithmetic = steps * warps * products;
    out.l1 = steps * warps * reads.passes(t, t.k_panel / t.slices) / (t.k_panel / t.slices);
    if (t.realigned) {
        constexpr double a_box = 53; // of one warp that asks for boxes, on an H100
        out.asking = steps / t.k_panel * real(shifted_panel_layout_of(st, t).boxes) * a_box / blocks;
    }
    out.waiting = steps * real(s.row) / on_way * memory_latency;
    return out;
}

/// From the last product on: slices' sums, the kernel behind, and the blocks' sums, through the L2 cache.
double tail_seconds(const step& st, const batched_tile& t, const machine& chip) {
    const auto s = atb_sizes_of(st);
    const auto sums = real(s.m * s.n * s.compute), blocks = real(atb_blocks(st, t, chip));
    constexpr double shared_bytes_a_second = 150e9; // of an SM
    return sums * t.slices * 2 / shared_bytes_a_second +
           (blocks > 1 ? atb_seconds_of_sums + 2 * blocks * sums / chip.bandwidth : 0);
}

/// By what measured times (an H100, 2026-11-22, of columns that start anywhere 2026-11-25) of tall products are
/// longer than the model says otherwise.
double slower(const step& st, const batched_tile& t, bool anywhere) {
    if (!t.in_registers) return t.realigned ? 1.08 : anywhere ? 1.2 : (panel_layout_of(st, t).by_bulk ? 1.04 : 1.12);
    if (atb_kernel_of(t) != atb_kernel::warps) return anywhere ? 1.1 : 1;
    const auto s = atb_sizes_of(st);
    if (anywhere) return s.x == 8 ? 1.8 : s.x == 4 ? 2.2 : 2;
    // Columns of which a warp reads half a line of memory at a time, and those that several warps read.
    const auto v = atb_vectors_of(st, t);
    const bool halves = (v.along_k[1] && 4 * t.k_panel * s.x < 128) || (v.along_k[2] && 4 * t.k_panel * s.y < 128);
    const bool again = (v.along_k[1] || v.along_k[2]) && v.parts[1] * v.parts[2] > 1;
    return (halves ? 1.15 : 1) * (again ? 1.15 : 1);
}

/// Columns that start within sectors of the memory: what of a column comes at once has one more, which mostly is in
/// the L2 cache still (an H100, 2026-11-25: f64 16 and f16 64 by 128 bytes 1.13 times as long).
double by_sectors(const step& st, const batched_tile& t) {
    const auto s = atb_sizes_of(st);
    const auto kernel = atb_kernel_of(t);
    const auto lanes = kernel == atb_kernel::threads ? warp : kernel == atb_kernel::warps ? 4 : 1;
    return 1 + 16 / real(lanes * t.k_panel * std::max(s.x, s.y));
}

/// Where columns start that are not all at multiples of 32 bytes, and the product is tall enough for that to count.
enum class columns_start { on_sectors, within_sectors, anywhere };

double seconds_of(const step& st, const batched_tile& t, columns_start start, const machine& chip,
                  panel_reads& reads) {
    const bool anywhere = start == columns_start::anywhere;
    const auto s = atb_sizes_of(st);
    const double clock = sm_clock(chip);
    // Where blocks are few or their units large, some have more than others.
    const auto blocks = atb_blocks(st, t, chip), units = up(s.k, atb_unit(t));
    const double own = real(up(units, blocks) * atb_unit(t)), resident = real(atb_resident_blocks(st, t, chip));
    const double steps = std::min(own * std::min(resident, real(blocks)), real(s.k));
    // Of the panels all but one are on their way; of k_unrolled times what a lane takes at once, all but half of one.
    const double on_way =
        resident * real(atb_unit(t) * s.row) * (t.in_registers ? t.k_unrolled - 0.5 : t.stages - 1.0);
    const auto kernel = atb_kernel_of(t);
    const auto c = kernel == atb_kernel::threads ? cost_of_threads(st, t, steps, on_way)
                   : kernel == atb_kernel::warps ? cost_of_warps(st, t, steps, on_way)
                                                 : cost_of_panels(st, t, steps, on_way, anywhere, chip, reads);
    constexpr double issue_rate = 0.7, l1_rate = 0.5, arithmetic_rate = 0.8;
    const double memory = real(s.k * s.row) / chip.bandwidth * std::max(1.0, own * real(blocks) / real(s.k));
    const double parts[] = {memory,
                            c.issue / issue_rate / clock,
                            c.arithmetic / arithmetic_rate / clock,
                            c.l1 / l1_rate / clock,
                            c.asking / clock,
                            c.waiting / clock};
    double slowest = 0, sum = 0;
    for (const double p : parts) slowest = std::max(slowest, p), sum += p;
    constexpr double beside = 0.05; // of the units that are not the slowest, what is not hidden
    const double sectors = start == columns_start::within_sectors ? by_sectors(st, t) : 1;
    return slower(st, t, anywhere) * sectors * (slowest + beside * (sum - slowest)) + tail_seconds(st, t, chip) +
           chip.launch_seconds;
}

} // namespace

std::vector<batched_tile> atb_candidates(const step& st, const machine& chip) {
    std::vector<batched_tile> out;
    add_threads(out, st, chip);
    add_warps(out, st, chip);
    add_panels(out, st, chip);
    return out;
}

std::vector<double> atb_seconds(const step& given, const std::vector<batched_tile>& tiles, const machine& chip) {
    const auto st = of_class_height(given, chip);
    const auto start = has_tall_columns_off_lines(st, chip)     ? columns_start::anywhere
                       : has_tall_columns_off_sectors(st, chip) ? columns_start::within_sectors
                                                                : columns_start::on_sectors;
    std::vector<double> out;
    panel_reads reads(st);
    for (const auto& t : tiles) out.push_back(seconds_of(st, t, start, chip, reads));
    return out;
}

} // namespace ricci::lowering
