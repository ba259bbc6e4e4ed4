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

/// Cycles of the back substitution: a column of R, and what a lane does of it for a right-hand side.
constexpr double solve_latency = 200, row_latency = 300,
                 sides_latency = 15000; ///< to fetch them, and for the solutions to leave

/// What kernels/factor_lanes_qr_shape.cuh makes of the constants.
struct lane_grid {
    std::int64_t m, n, r, size; ///< bytes of an element
    std::int64_t column_slots, column_lanes, row_lanes, row_slots;
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
    g.row_lanes = static_cast<std::int64_t>(
        std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(tile.tile_m / g.column_lanes, 1))));
    if (const auto rounded = up(g.column_lanes, g.row_lanes) * g.row_lanes; rounded * g.row_lanes <= tile.tile_m)
        g.column_lanes = rounded;
    g.row_slots = up(g.m, g.row_lanes);
    g.many_warps = tile.tile_m > warp;
    g.one_lane = tile.tile_m == 1;
    g.groups_of_warp = g.many_warps ? 1 : warp / tile.tile_m;
    g.groups = g.many_warps ? 1 : tile.threads / warp * g.groups_of_warp;
    g.taus = st.matrices.smallest_norm ? g.groups * g.n : 0;
    return g;
}

/// Bytes of kernels/factor_slab.cuh.
std::int64_t slab_bytes(std::int64_t matrices, std::int64_t apart, std::int64_t size) {
    return (matrices * apart * size + 127 + 16 + 127) / 128 * 128;
}
std::int64_t padded_apart(std::int64_t lead, std::int64_t columns, std::int64_t size) {
    return ((lead * columns * size + 15) / 16 | 1) * 16 / size;
}

/// Registers that a thread needs; with fewer it spills. Where slots of rows and of columns end at different pivots
/// NVRTC 13.0 for sm_90 takes more.
std::int64_t registers_needed(const lane_grid& g) {
    return g.column_slots * g.row_slots * g.words() + (g.words() == 1 ? 50 : 61) +
           (g.row_lanes > 1 ? 0
            : g.r > 0       ? 36
                            : 4) +
           (g.row_lanes > 1 && g.column_lanes % g.row_lanes != 0 ? 24 : 0);
}

constexpr std::int64_t most_registers = 255;

/// Warps that an SM has room for: each quarter of it has a quarter of its registers, for whole warps.
std::int64_t resident_warps(const batched_tile& tile) {
    const std::int64_t cap = std::min(most_registers, registers_of_an_sm / (tile.stages * tile.threads) / 8 * 8);
    return 4 * (registers_of_an_sm / 4 / (std::max<std::int64_t>(cap, 8) * warp));
}

std::int64_t registers_missing(const lane_grid& g, const batched_tile& tile) {
    const auto had = std::min(most_registers, registers_of_an_sm / (resident_warps(tile) * warp) / 8 * 8);
    return std::max<std::int64_t>(registers_needed(g) - had, 0);
}

/// Of one warp that factors groups_of_warp matrices, or its part of one.
struct warp_work {
    double instructions = 0, arithmetic = 0, shared = 0, latency = 0; ///< the last in cycles
};

warp_work work_of(const step& st, const lane_grid& g, std::int64_t panel) {
    const bool complex_numbers = is_complex(st.compute),
               heads_first = !g.many_warps && g.row_lanes * g.column_slots <= 20;
    const double by = complex_numbers ? 4 : 1, words = static_cast<double>(g.words());
    const auto reductions = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(g.row_lanes)) - 1);
    warp_work out;
    for (std::int64_t k = 0; k < std::min(g.m, g.n); ++k) {
        const auto live = static_cast<double>(g.column_slots - k / g.column_lanes),
                   rows = static_cast<double>(g.row_slots - k / g.row_lanes / panel * panel);
        const double sums = live + (g.many_warps ? 1 : 0), units = g.one_lane ? 0 : rows * words / 4;
        const double exchanged = sums * reductions * words +
                                 (g.row_lanes == 1 ? 0
                                  : heads_first    ? words
                                                   : live * words) +
                                 (g.one_lane || g.many_warps ? 0 : words);
        const double arithmetic = (rows * (sums + live) + 3 * live) * by + (complex_numbers ? 30 : 16) +
                                  (live + 1) * reductions * (complex_numbers ? 2 : 1);
        out.arithmetic += arithmetic;
        out.instructions += arithmetic + 3 * units + exchanged + (g.one_lane ? 0 : 3) + 20 +
                            words * live * static_cast<double>(panel - 1) * 0.6;
        out.shared += 4 * units + exchanged;
        out.latency += 195 + 134 * reductions + (g.many_warps ? 60 : 0) + rows * (complex_numbers ? 98 : 49) +
                       (g.one_lane ? 0 : 60);
    }
    const auto values = static_cast<double>(g.column_slots * g.row_slots) * words;
    const auto met = g.one_lane ? std::gcd<std::int64_t>(g.m * g.n, 16)
                                : std::max<std::int64_t>(std::gcd<std::int64_t>(g.m, 16) / g.row_lanes, 1);
    const auto orders = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(met)) - 1);
    out.instructions += 2 * values * (0.75 + orders) + 300;
    out.shared += 2 * values;
    out.latency += 2500 + values * (1.5 + orders);
    if (g.r > 0) out.latency += sides_latency;
    if (g.taus > 0) { // a sum over the lanes for each reflector and side, as for a pivot; not measured
        const auto sharing = std::min<std::int64_t>(g.column_lanes * g.row_lanes, warp);
        const auto turns = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(sharing)));
        const auto sides = static_cast<double>(g.many_warps ? up(g.r, up(g.column_lanes * g.row_lanes, warp)) : g.r);
        out.latency +=
            static_cast<double>(g.n) * sides * (60 + 67 * turns + 49 * static_cast<double>(up(g.m, sharing)));
    }
    for (std::int64_t k = 0; g.r > 0 && k < g.n; ++k)
        out.latency += solve_latency + row_latency * static_cast<double>(g.r * up(k, g.column_lanes * g.row_lanes));
    return out;
}

// Factors by which the counts become cycles of an SM, fitted to 136 measurements on an H100 (2 to 64 rows, all
// types), those of right-hand sides to 10 more. The parts share the units: the cubes of what each would take are
// added. Without sides the model is 6% off in the mean; its first choice, where that was measured, is within 3.5% of
// the best measured (64 x 64: 4.4%). With sides it is 10% off, least sure for 16 and 20 columns.
constexpr double of_issue = 0.42, of_arithmetic = 1.63, of_shared = 0.71, of_latency = 0.955, of_copies = 1.04;
constexpr double of_missing_register = 0.024; ///< more instructions and latency

/// Cycles of an SM for a block.
double cycles_of(const step& st, const batched_tile& tile, const machine& chip) {
    const auto g = grid_of(st, tile);
    const auto s = matrix_sizes_of(st);
    const auto work = work_of(st, g, std::max(tile.k_panel, 1));
    const double warps = tile.threads / warp, rounds = static_cast<double>(up(tile.products, g.groups)),
                 blocks = std::max(static_cast<double>(resident_warps(tile)) / warps, 1.0);
    const double spilled = 1 + of_missing_register * static_cast<double>(registers_missing(g, tile));
    const bool wide = real_of(st.compute) == scalar_type::f64;
    const double f64_turns = wide ? std::max(1.0, chip.flops_f32 / std::max(chip.flops_f64, 1.0)) : 1;
    const double all = warps * rounds;
    const double issued = of_issue * all * work.instructions / 4 * spilled,
                 computed = of_arithmetic * all * work.arithmetic * f64_turns / 4,
                 moved = of_shared * all * work.shared,
                 waited = of_latency * rounds * work.latency / blocks * spilled;
    const double elements = static_cast<double>(s.m * s.n) * (st.matrices.keeps_factors ? 2 : 1) +
                            static_cast<double>((s.m + s.n) * s.r + s.vector());
    const double bytes = elements * static_cast<double>(g.size) * tile.products;
    const double copied = of_copies * bytes / chip.bandwidth * chip.processors * sm_clock(chip);
    const auto cube = [](double x) { return x * x * x; };
    return std::cbrt(cube(issued) + cube(computed) + cube(moved) + cube(waited) + cube(copied));
}

/// What candidates are sorted by, whatever the number of matrices, so that another one needs no other kernel: long
/// code, whose compilation the first run waits for, has to be worth it.
double rank_of(const step& st, const batched_tile& tile, const machine& chip) {
    const auto g = grid_of(st, tile);
    const auto values = static_cast<double>(g.column_slots * g.row_slots * g.words());
    return cycles_of(st, tile, chip) / tile.products * (1 + 6e-4 * values) *
           (registers_missing(g, tile) > 0 ? 1.02 : 1.0);
}

} // namespace

std::int64_t qr_lanes_shared_bytes(const step& st, const batched_tile& tile, const machine&) {
    const auto g = grid_of(st, tile);
    const auto units = up(g.row_slots, 16 / g.size), vector_units = units < 2 ? 1 : up(units - 1, 8) * 8 + 1,
               vectors = g.one_lane ? 0 : g.groups * g.row_lanes;
    std::int64_t end = 16 + (g.one_lane ? 0 : up(2 * g.groups * g.size, 16) * 16);
    end = up(end + 2 * vectors * vector_units * 16 + g.taus * g.size, 128) * 128;
    if (g.r > 0) end += slab_bytes(tile.products, padded_apart(g.padded_rows(), g.r, g.size), g.size);
    return end +
           slab_bytes(tile.products, tile.boxed ? g.m * g.n : padded_apart(g.padded_rows(), g.n, g.size), g.size);
}

double qr_lanes_seconds(const step& st, const batched_tile& tile, const machine& chip) {
    const auto blocks = static_cast<double>(up(matrix_sizes_of(st).matrices, tile.products));
    return cycles_of(st, tile, chip) / sm_clock(chip) * blocks / chip.processors;
}

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
    for (std::int64_t row_lanes = 1; row_lanes <= 8; row_lanes *= 2)
        for (std::int64_t slots = 1; slots <= std::min<std::int64_t>(columns, 8); ++slots) {
            const auto needed = up(columns, slots);
            if (row_lanes > s.m || up(columns, needed) != slots) continue;
            const auto rounded = up(needed, row_lanes) * row_lanes;
            const auto lanes_used =
                (rounded * row_lanes <= up(needed * row_lanes, warp) * warp ? rounded : needed) * row_lanes;
            const auto lanes = lanes_used <= warp ? lanes_used : up(lanes_used, warp) * warp;
            if (lanes > 128) continue;
            batched_tile tile{};
            tile.tile_m = static_cast<std::int32_t>(lanes), tile.tile_n = static_cast<std::int32_t>(slots);
            tile.boxed = dense;
            tile.threads = static_cast<std::int32_t>(std::max<std::int64_t>(lanes, warp));
            if (lanes <= warp) tile.threads = warp;
            auto g = grid_of(st, tile);
            if (g.row_lanes != row_lanes || lanes % row_lanes != 0) continue;
            // Rolled where a pivot's own code would be long: compilation, and the SM's memory of instructions. With
            // row lanes each loop covers row_lanes pivots; of longer ones NVRTC 13.0 keeps the matrix in local
            // memory.
            const auto rolled = g.row_lanes == 2                      ? 2
                                : g.row_lanes > 2 || g.row_slots <= 8 ? 1
                                : g.row_slots <= 20                   ? 4
                                                                      : 8;
            tile.k_panel = static_cast<std::int32_t>(rolled);
            // A slab of some kilobytes, for copies that are worth their start; along the batch, whole sectors.
            const auto matrix_bytes = s.m * s.n * g.size;
            if (!g.many_warps) {
                while (tile.threads < 128 && matrix_bytes * g.groups < 6144) {
                    tile.threads *= 2;
                    g = grid_of(st, tile);
                }
            }
            tile.products = static_cast<std::int32_t>(g.groups);
            if (!dense && g.groups * g.size < 64 && matrix_bytes < 4096)
                tile.products = static_cast<std::int32_t>(up(64 / g.size, g.groups) * g.groups);
            const auto shared = qr_lanes_shared_bytes(st, tile, chip);
            if (shared > chip.shared_bytes) continue;
            const auto room = std::min(
                {blocks_of_an_sm, threads_of_an_sm / tile.threads, chip.shared_bytes / (shared + shared_of_a_block)});
            // Caps of registers for 255, 168, 128, 96, 80 and 64 of them. What is between has room for no more warps.
            for (const std::int64_t warps : {8, 12, 16, 20, 24, 32}) {
                const auto blocks = std::max<std::int64_t>(warps * warp / tile.threads, 1);
                if (warps > 8 && blocks > room) break;
                tile.stages = static_cast<std::int32_t>(std::min(blocks, room));
                if (registers_missing(g, tile) > 32) break;
                all.push_back({tile, rank_of(st, tile, chip)});
            }
        }
    std::stable_sort(all.begin(), all.end(), [](const rated& a, const rated& b) { return a.rank < b.rank; });
    std::vector<batched_tile> out;
    for (const auto& c : all) {
        if (out.size() == 8) break;
        out.push_back(c.tile);
    }
    return out;
}

} // namespace ricci::lowering
