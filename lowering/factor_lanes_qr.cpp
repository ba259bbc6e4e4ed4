// factor_lanes_qr: layouts of QR in registers, and a model of their time from counts of what the kernel's loops do.
#include "lowering/factor_lanes_qr.hpp"

#include "lowering/matrix_sizes.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace ricci::lowering {
namespace {

/// Cycles of the back substitution: a column of R, and what a lane does of it for a right-hand side; to fetch the
/// sides, and for the solutions to leave. In registers by one lane or by lanes of a warp; in shared memory (of
/// kernels before, not fitted again).
struct substitution {
    double column, row, sides;
};
constexpr substitution in_registers{113, 35, 1000}, in_shared{120, 150, 10500};

/// What kernels/factor_lanes_qr_shape.cuh makes of the constants.
struct lane_grid {
    std::int64_t m, n, r, size; ///< bytes of an element
    std::int64_t column_slots, column_lanes, row_lanes, row_slots;
    std::int64_t row_unit;               ///< rows of a lane that lie next to each other
    std::int64_t groups_of_warp, groups; ///< matrices at a time
    bool many_warps, one_lane;
    std::int64_t taus; ///< in shared memory, of the smallest solution

    std::int64_t words() const { return size / 4; }
    std::int64_t padded_rows() const { return (up(m, row_lanes) | 1) * row_lanes; }
};

/// In registers: with right-hand sides as further ones, but where the smallest solution is wanted.
std::int64_t columns_of(const step& st) {
    const auto s = matrix_sizes_of(st);
    return st.matrices.smallest_norm ? s.n : s.n + s.r;
}

lane_grid grid_of(const step& st, const batched_tile& tile) {
    const auto s = matrix_sizes_of(st);
    lane_grid g{};
    g.m = s.m, g.n = s.n, g.r = s.r, g.size = size_of(st.compute);
    g.column_slots = tile.tile_n;
    g.column_lanes = up(columns_of(st), g.column_slots);
    g.row_lanes = power_of_two_to(tile.tile_m / g.column_lanes);
    if (const auto rounded = up(g.column_lanes, g.row_lanes) * g.row_lanes; rounded * g.row_lanes <= tile.tile_m)
        g.column_lanes = rounded;
    g.many_warps = tile.tile_m > warp;
    g.one_lane = tile.tile_m == 1;
    const auto* const a = operand_in(st, matrix_role::matrix);
    const bool is_together = tile.boxed && !g.one_lane && a->stride[static_cast<std::size_t>(st.matrices.row)] == 1 &&
                             g.m * g.n * g.size % 16 == 0;
    g.row_unit = 16 / g.size;
    while (g.row_unit > 1 && !(is_together && tile.k_panel % g.row_unit == 0 && g.m % g.row_unit == 0))
        g.row_unit /= 2;
    g.row_slots = up(g.m, g.row_unit * g.row_lanes) * g.row_unit;
    g.groups_of_warp = g.many_warps ? 1 : warp / tile.tile_m;
    g.groups = g.many_warps ? 1 : tile.threads / warp * g.groups_of_warp;
    g.taus = st.matrices.smallest_norm ? g.groups * g.n : 0;
    return g;
}

/// Bytes of kernels/factor_slab.cuh; moved: of all that matrices are moved apart.
std::int64_t slab_bytes(std::int64_t matrices, std::int64_t apart, std::int64_t size, std::int64_t moved = 16) {
    return up_to(matrices * apart * size + 127 + moved, 128);
}
std::int64_t padded_apart(std::int64_t lead, std::int64_t columns, std::int64_t size) {
    return ((lead * columns * size + 15) / 16 | 1) * 16 / size;
}

/// Whether matrices may be moved apart, each by a copy of its own, as kernels/factor_lanes_qr_shared.cuh has it.
bool may_be_moved(const lane_grid& g, const batched_tile& tile) {
    constexpr std::int64_t moved_bytes = 2048;
    const auto bytes = g.m * g.n * g.size;
    return tile.boxed && g.groups_of_warp > 1 && bytes % 16 == 0 && bytes >= moved_bytes;
}

/// Registers that a thread needs; with fewer it spills. As NVRTC 13.0 for sm_90 has it: with row lanes more where
/// slots of rows and of columns end at different pivots, and where rows are read one by one; fewer with right-hand
/// sides as columns, which keep no reflections.
std::int64_t registers_needed(const lane_grid& g) {
    const bool is_uneven = g.column_lanes % g.row_lanes != 0;
    const auto beside = g.words() > 1 ? 61 : g.row_lanes == 2 ? 62 : 50;
    const bool has_sides = g.r > 0 && g.taus == 0;
    const std::int64_t alone = has_sides    ? -8
                               : g.one_lane ? 4
                                            : 22,
                       together = (is_uneven ? 24 : 0) + (g.row_unit == 1 ? 6 : 0) - (has_sides ? 20 : 0);
    return g.column_slots * g.row_slots * g.words() + beside + (g.row_lanes > 1 ? together : alone);
}

constexpr std::int64_t most_registers = 255;

/// Warps that an SM has room for: each quarter of it has a quarter of its registers, for whole warps.
std::int64_t resident_warps(const batched_tile& tile) {
    const std::int64_t cap = std::min(most_registers, registers_of_an_sm / (tile.stages * tile.threads) / 8 * 8);
    return 4 * (registers_of_an_sm / 4 / (std::max<std::int64_t>(cap, 8) * warp));
}

/// Of so many that are needed, those that a thread cannot have.
std::int64_t registers_missing(std::int64_t needed, const batched_tile& tile) {
    const auto had = std::min(most_registers, registers_of_an_sm / (resident_warps(tile) * warp) / 8 * 8);
    return std::max<std::int64_t>(needed - had, 0);
}

/// What spills more is not offered.
constexpr std::int64_t most_registers_missing = 32;

/// Of one warp that factors groups_of_warp matrices, or its part of one.
struct warp_work {
    double instructions = 0, arithmetic = 0, shared = 0, latency = 0; ///< the last in cycles
};

/// Cycles: of a sum over twice as many row lanes; of a row of a pivot's; of a barrier of several warps; of the start
/// of a loop's code; of the kernel; of a register that comes from memory by way of shared memory, and leaves.
constexpr double reduction_latency = 150, step_row_latency = 18, barrier_latency = 60, loop_latency = 640,
                 start_latency = 2000, value_latency = 55;
constexpr double copy_latency = 250; ///< of the start of a matrix's own copy, each way
constexpr double of_exchange = 1.4;  ///< accesses to shared memory, of a word

/// As the machine code of NVRTC 13.0 has it: 90 sets of parameters for f64 16 to 32, where it is 5% off.
warp_work work_of(const step& st, const lane_grid& g, const batched_tile& tile) {
    const bool complex_numbers = is_complex(st.compute);
    const double by = complex_numbers ? 4 : 1, words = static_cast<double>(g.words());
    const auto reductions = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(g.row_lanes)) - 1);
    const auto unit = g.row_unit, panel = std::max<std::int64_t>(tile.k_panel, 1) * g.row_lanes,
               pivots = std::min(g.m, g.n);
    warp_work out;
    for (std::int64_t k = 0, end = 0; k < pivots; k = end) {
        end = std::min({(k / panel + 1) * panel, (k / g.column_lanes + 1) * g.column_lanes, pivots});
        const auto top = k / (unit * g.row_lanes) * unit,
                   mixed = (end - 1) / (unit * g.row_lanes) * unit + unit - top;
        const auto steps = static_cast<double>(end - k),
                   live = static_cast<double>(g.column_slots - k / g.column_lanes),
                   rows = static_cast<double>(g.row_slots - top);
        const double units = g.one_lane ? 0 : rows * words / 4, told = g.one_lane ? 0 : 1;
        const double arithmetic =
            ((2 * rows + 2) * live + 13) * by + live * reductions * (complex_numbers ? 2 : 1) + (g.one_lane ? 10 : 0);
        const double exchanged = (live * reductions + (g.row_lanes > 1 ? 1 : 0)) * words;
        out.arithmetic += steps * arithmetic;
        out.instructions += steps * (arithmetic + 3 * units + 2 * told + exchanged + 20 +
                                     (g.one_lane ? 0 : 12 + 5 * words * static_cast<double>(mixed)));
        out.shared += steps * (of_exchange * exchanged + 4 * (3 * units + 2 * told));
        out.latency += steps * (reduction_latency * reductions + step_row_latency * rows +
                                (g.many_warps ? barrier_latency : 0)) +
                       loop_latency;
    }
    const auto values = static_cast<double>(g.column_slots * g.row_slots) * words;
    out.instructions += 350 + 70 * static_cast<double>(g.column_slots) + values * (unit > 1 ? 1.75 : 2.5);
    // pairs of rows of odd matrices cannot be read at once, and often meet on the same banks
    out.shared += (unit == 1 && g.row_lanes > 1 ? 4 : 2) * values;
    out.latency += start_latency + value_latency * values;
    if (may_be_moved(g, tile)) out.latency += copy_latency * static_cast<double>(tile.products);
    const auto& solving = g.many_warps || g.taus > 0 ? in_shared : in_registers;
    if (g.r > 0) out.latency += solving.sides;
    if (g.taus > 0) { // a sum over the lanes for each reflector and side, as for a pivot; not measured
        const auto sharing = std::min<std::int64_t>(g.column_lanes * g.row_lanes, warp);
        const auto turns = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(sharing)));
        const auto sides = static_cast<double>(g.many_warps ? up(g.r, up(g.column_lanes * g.row_lanes, warp)) : g.r);
        out.latency +=
            static_cast<double>(g.n) * sides * (60 + 67 * turns + 49 * static_cast<double>(up(g.m, sharing)));
    }
    for (std::int64_t k = 0; g.r > 0 && k < g.n; ++k)
        out.latency += solving.column + solving.row * static_cast<double>(g.r * up(k, g.column_lanes * g.row_lanes));
    return out;
}

// Factors by which the counts become cycles of an SM, fitted to 196 measurements on an H100 of 14 sizes from 16 to 32
// in f64, and to 21 of other sizes and types; what a right-hand side takes in registers, and leaves free, to 495 on
// an H200, 2 to 32 rows, which it is 22% off. The parts share the units: powers of what each would take are added.
// The first choice of each of the 14 sizes is within 2% of the best measured; with right-hand sides 2% slower on
// average, 21% at 4 rows.
constexpr double of_issue = 0.9, of_arithmetic = 1.7, of_shared = 0.88, of_copies = 0.97, sharing_power = 3.5;
constexpr double of_missing_register = 0.02; ///< more instructions and latency
/// The same where slots of rows and of columns end at different pivots.
constexpr double of_uneven_slots = 0.075;

/// Cycles of an SM for a block.
double cycles_of(const step& st, const batched_tile& tile, const machine& chip) {
    const auto g = grid_of(st, tile);
    const auto s = matrix_sizes_of(st);
    const auto work = work_of(st, g, tile);
    const double warps = tile.threads / warp, rounds = static_cast<double>(up(tile.products, g.groups)),
                 blocks = std::max(static_cast<double>(resident_warps(tile)) / warps, 1.0);
    const bool is_uneven = g.row_lanes > 1 && g.column_lanes % g.row_lanes != 0;
    const double slower =
        (1 + of_missing_register * static_cast<double>(registers_missing(registers_needed(g), tile))) *
        (is_uneven ? 1 + of_uneven_slots : 1);
    const bool wide = real_of(st.compute) == scalar_type::f64;
    const double f64_turns = wide ? std::max(1.0, chip.flops_f32 / std::max(chip.flops_f64, 1.0)) : 1;
    const double all = warps * rounds;
    const double issued = of_issue * all * work.instructions / 4 * slower,
                 computed = of_arithmetic * all * work.arithmetic * f64_turns / 4,
                 moved = of_shared * all * work.shared, waited = rounds * work.latency / blocks * slower;
    const double elements = static_cast<double>(s.m * s.n) * (st.matrices.keeps_factors ? 2 : 1) +
                            static_cast<double>((s.m + s.n) * s.r + s.vector());
    const double bytes = elements * static_cast<double>(g.size) * tile.products;
    const double copied = of_copies * bytes / chip.bandwidth * chip.processors * sm_clock(chip);
    double sum = 0;
    for (const double part : {issued, computed, moved, waited, copied}) sum += std::pow(part, sharing_power);
    return std::pow(sum, 1 / sharing_power);
}

/// What candidates are sorted by, whatever the number of matrices, so that another one needs no other kernel: long
/// code, whose compilation the first run waits for, has to be worth it.
double rank_of(const step& st, const batched_tile& tile, const machine& chip) {
    const auto g = grid_of(st, tile);
    const auto values = static_cast<double>(g.column_slots * g.row_slots * g.words());
    return cycles_of(st, tile, chip) / tile.products * (1 + 4e-4 * values);
}

} // namespace

std::int64_t qr_lanes_shared_bytes(const step& st, const batched_tile& tile, const machine&) {
    const auto g = grid_of(st, tile);
    const auto units = up(g.row_slots, 16 / g.size), vector_units = units < 2 ? 1 : up(units - 1, 8) * 8 + 1,
               vectors = g.one_lane ? 0 : g.groups * g.row_lanes;
    const std::int64_t told = 2 * g.size, sets = g.many_warps ? 2 : 1;
    std::int64_t end =
        std::max<std::int64_t>(told, 16) + (g.one_lane ? 0 : up_to(g.groups * g.column_lanes * told, 16));
    end = up_to(end + sets * vectors * vector_units * 16 + g.taus * g.size, 128);
    if (g.r > 0) end += slab_bytes(tile.products, padded_apart(g.padded_rows(), g.r, g.size), g.size);
    const auto moved = std::max<std::int64_t>(16, may_be_moved(g, tile) ? 112 * tile.products : 0);
    return end + (tile.boxed ? slab_bytes(tile.products, g.m * g.n, g.size, moved)
                             : slab_bytes(tile.products, padded_apart(g.padded_rows(), g.n, g.size), g.size));
}

double qr_lanes_seconds(const step& st, const batched_tile& tile, const machine& chip) {
    const auto blocks = static_cast<double>(up(matrix_sizes_of(st).matrices, tile.products));
    return cycles_of(st, tile, chip) / sm_clock(chip) * blocks / chip.processors;
}

namespace {

/// For a matrix: so many that slots of rows and of columns end together, each end of which begins a loop of its own;
/// and the fewest, where a warp has room for more matrices then, or a matrix needs fewer warps.
std::vector<std::int64_t> lanes_to_try(std::int64_t columns, std::int64_t slots, std::int64_t row_lanes) {
    const auto fewest = up(columns, slots) * row_lanes,
               rounded = up(fewest, row_lanes * row_lanes) * row_lanes * row_lanes;
    std::vector<std::int64_t> out;
    if (up(rounded, warp) <= up(fewest, warp)) out.push_back(rounded);
    if (out.empty() || warp / fewest > warp / rounded) out.push_back(fewest);
    return out;
}

/// Blocks of one layout: all but how many an SM is to have room for.
batched_tile tile_of(const step& st, std::int64_t lanes_at_work, std::int64_t slots, bool dense) {
    const auto s = matrix_sizes_of(st);
    const auto lanes = lanes_at_work <= warp ? lanes_at_work : up(lanes_at_work, warp) * warp;
    batched_tile tile{};
    tile.tile_m = static_cast<std::int32_t>(lanes), tile.tile_n = static_cast<std::int32_t>(slots);
    tile.boxed = dense;
    tile.threads = static_cast<std::int32_t>(std::max<std::int64_t>(lanes, warp));
    auto g = grid_of(st, tile);
    // Rolled where a pivot's own code would be long: compilation, and the SM's memory of instructions. A loop covers
    // four pivots, or as many as there are row lanes; of longer ones NVRTC 13.0 keeps the matrix in local memory.
    tile.k_panel = g.row_lanes == 1 ? 4 : g.row_lanes == 2 ? 2 : 1;
    // A slab of some kilobytes, for copies that are worth their start; along the batch, whole sectors.
    const auto matrix_bytes = s.m * s.n * g.size;
    while (!g.many_warps && tile.threads < 128 && matrix_bytes * g.groups < 6144) {
        tile.threads *= 2;
        g = grid_of(st, tile);
    }
    tile.products = static_cast<std::int32_t>(g.groups);
    if (!dense && g.groups * g.size < 64 && matrix_bytes < 4096)
        tile.products = static_cast<std::int32_t>(up(64 / g.size, g.groups) * g.groups);
    return tile;
}

} // namespace

std::vector<batched_tile> qr_lanes_candidates(const step& st, const machine& chip) {
    const auto s = matrix_sizes_of(st);
    if (st.dynamic_extents || s.m < 1 || s.n < 1 || s.m > 64 || s.n > 64 || s.r > 64 || (s.r > 0 && s.m < s.n))
        return {};
    const bool dense = matrices_are_dense(st);
    const auto columns = columns_of(st);
    struct rated {
        batched_tile tile;
        double rank;
    };
    std::vector<rated> all;
    const auto add = [&](batched_tile tile) {
        const auto shared = qr_lanes_shared_bytes(st, tile, chip);
        if (shared > chip.shared_bytes) return;
        const auto room = std::min(
            {blocks_of_an_sm, threads_of_an_sm / tile.threads, shared_of_an_sm(chip) / (shared + shared_of_a_block)});
        // Caps of registers for 255, 168, 128, 96, 80 and 64 of them. What is between has room for no more warps.
        for (const std::int64_t warps : {8, 12, 16, 20, 24, 32}) {
            const auto blocks = std::max<std::int64_t>(warps * warp / tile.threads, 1);
            if (warps > 8 && blocks > room) break;
            tile.stages = static_cast<std::int32_t>(std::min(blocks, room));
            if (registers_missing(registers_needed(grid_of(st, tile)), tile) > most_registers_missing) break;
            all.push_back({tile, rank_of(st, tile, chip)});
        }
    };
    for (std::int64_t row_lanes = 1; row_lanes <= std::min<std::int64_t>(s.m, 8); row_lanes *= 2)
        for (std::int64_t slots = 1; slots <= std::min<std::int64_t>(columns, 8); ++slots) {
            if (up(columns, up(columns, slots)) != slots) continue;
            for (const auto lanes : lanes_to_try(columns, slots, row_lanes)) {
                if (lanes > 128) continue;
                const auto tile = tile_of(st, lanes, slots, dense);
                if (grid_of(st, tile).row_lanes == row_lanes && tile.tile_m % row_lanes == 0) add(tile);
            }
        }
    std::stable_sort(all.begin(), all.end(), [](const rated& a, const rated& b) { return a.rank < b.rank; });
    std::vector<batched_tile> out;
    for (const auto& c : all) {
        if (out.size() == 16) break;
        out.push_back(c.tile);
    }
    return out;
}

} // namespace ricci::lowering
