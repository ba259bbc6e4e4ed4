// factor_lanes: the legal parameters of the GPU's factor_lanes kernel for Cholesky and LU, and what each would cost.
#include "lowering/factor_lanes.hpp"

#include "lowering/matrix_sizes.hpp"
#include "lowering/priced_tile.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <iterator>

namespace ricci::lowering {
namespace {

constexpr std::int64_t most_rows = 64, most_lines = 4;

struct shape {
    std::int64_t m, n, r, size; ///< size: bytes of an element
    bool is_cholesky, exchanges;
    std::int64_t pivots() const { return std::min(m, n); }
};

shape shape_of(const step& st) {
    const auto s = matrix_sizes_of(st);
    return {s.m,
            s.n,
            s.r,
            size_of(st.compute),
            st.matrices.method == matrix_method::cholesky,
            st.matrices.method == matrix_method::lu};
}

/// LU's lanes are a grid (factor_lanes_lu.cuh): of as few groups of rows as have all, and as many of columns as that
/// leaves.
std::int64_t row_groups_of(const shape& s, const batched_tile& t) {
    if (s.is_cholesky || t.tile_m == 1) return t.tile_m;
    std::int64_t groups = 1;
    while (groups * t.tile_n < s.m) groups *= 2;
    return groups;
}
std::int64_t columns_of_lane(const shape& s, const batched_tile& t) {
    return up(s.n, t.tile_m / row_groups_of(s, t));
}

/// Registers that hold a thread's part of the matrix.
std::int64_t data_registers(const shape& s, const batched_tile& t) {
    std::int64_t elements = 0;
    if (t.tile_m == 1)
        elements = s.is_cholesky ? s.n * (s.n + 1) / 2 : s.m * s.n;
    else
        for (std::int64_t r = 0; r < t.tile_n; ++r)
            elements += s.is_cholesky ? std::min<std::int64_t>(s.n, t.tile_m * (r + 1)) : columns_of_lane(s, t);
    return elements * s.size / 4;
}

/// And what it needs besides (as NVRTC 13.0 counts them for sm_90: fewer make it spill).
std::int64_t registers_of(const shape& s, const batched_tile& t) {
    const std::int64_t data = data_registers(s, t), wide = s.size > 8 ? 12 : 0;
    const std::int64_t others = t.tile_m == 1  ? (s.is_cholesky ? 24 : 30 + data / 16)
                                : t.tile_n > 2 ? (s.is_cholesky ? 48 : 36)
                                               : 32;
    // of right-hand sides: a thread has its matrix yet when it solves, lanes have theirs in shared memory
    const std::int64_t sides = s.r == 0 ? 0 : t.tile_m == 1 ? 2 * s.n * s.size / 4 : 4;
    return std::clamp<std::int64_t>(up_to(data + others + wide + sides, 8), s.r > 0 ? 72 : 40, 255);
}

/// Blocks that an SM has at once: each of its quarters has its own registers.
std::int64_t blocks_of(const shape& s, const batched_tile& t, std::int64_t shared, const machine& chip) {
    const std::int64_t of_an_sm = shared_of_an_sm(chip);
    const std::int64_t warps_of_quarter = registers_of_an_sm / 4 / (warp * up_to(registers_of(s, t), 8));
    return std::min({blocks_of_an_sm, threads_of_an_sm / t.threads, 4 * warps_of_quarter / up(t.threads, warp),
                     of_an_sm / (shared + shared_of_a_block)});
}

std::int64_t gcd_with_8(std::int64_t units) {
    return units % 8 == 0 ? 8 : units % 4 == 0 ? 4 : units % 2 == 0 ? 2 : 1;
}

/// As factor_slab.cuh has it.
std::int64_t slab_bytes(const shape& s, const batched_tile& t, std::int64_t groups, std::int64_t shift) {
    const std::int64_t matrix = s.m * s.n * s.size, apart = t.boxed ? matrix : (up(matrix, 16) | 1) * 16;
    return up_to(t.products * apart + 127 + shift * groups, 128);
}

/// Whether neighbors in memory are matrices of the batch.
bool batch_is_fastest(const step& st) {
    const auto* const o = operand_in(st, matrix_role::matrix);
    if (o == nullptr) return false;
    const auto batch = batch_of_matrices(st);
    return std::any_of(batch.begin(), batch.end(), [&](std::int32_t a) {
        return st.axes[static_cast<std::size_t>(a)].extent > 1 && o->stride[static_cast<std::size_t>(a)] == 1;
    });
}

/// The part of the bandwidth that the matrices' layout leaves a tile whose bytes in flight suffice.
double reached_by(const step& st, const shape& s, const batched_tile& t) {
    const auto slab = static_cast<double>(t.products * s.m * s.n * s.size);
    if (t.boxed) return slab / (slab + 600);
    const double sector = 32;
    if (batch_is_fastest(st)) return 0.9 * std::min(1.0, static_cast<double>(t.products * s.size) / sector);
    return t.tile_m == 1 ? 0.35 : 0.7;
}

/// The grid that was fastest for LU on an H100 (f64, fraction of triad: 0.91 at 12, 0.92 at 16, 0.78 at 20, 0.69 at
/// 24, 0.68 at 28, 0.73 at 32, 0.50 at 33, 0.51 at 40, 0.52 at 48, 0.53 at 56). The smaller its panels, loops of
/// fewer and fewer registers, the fewer updates are idle, and the longer it compiles: 0.1 to 0.2 s each.
struct measured_grid {
    std::int64_t most_rows;
    std::int32_t lanes, lines, panel;
};
constexpr measured_grid measured_grids[] = {{12, 4, 3, 4},  {16, 8, 2, 4},  {20, 8, 3, 4},  {24, 8, 3, 6},
                                            {30, 16, 2, 6}, {32, 32, 1, 4}, {33, 16, 3, 6}, {48, 32, 3, 8},
                                            {56, 32, 2, 8}, {64, 64, 2, 8}};
measured_grid measured_for(const shape& s) {
    if (s.size == 4 && std::max(s.m, s.n) == 32) return {32, 16, 2, 6}; // f32 has instructions for its bound
    return *std::find_if(std::begin(measured_grids), std::end(measured_grids) - 1,
                         [&](const measured_grid& g) { return std::max(s.m, s.n) <= g.most_rows; });
}
bool was_fastest(const shape& s, const batched_tile& t) {
    if (s.is_cholesky || s.m <= 8 || s.size > 8) return false;
    const auto best = measured_for(s);
    return t.tile_m == best.lanes && t.tile_n == best.lines && t.k_panel == best.panel &&
           t.threads == std::max<std::int32_t>(warp, best.lanes);
}

std::vector<std::int32_t> panels_of(const shape& s, const batched_tile& t) {
    std::vector<std::int32_t> panels{8};
    if (t.tile_m == 1) return panels;
    if (s.is_cholesky && s.pivots() > 16) panels.push_back(16);
    if (const auto panel = measured_for(s).panel; !s.is_cholesky && panel != 8) panels.push_back(panel);
    return panels;
}

} // namespace

std::int64_t factor_lanes_shared_bytes(const step& st, const batched_tile& tile, const machine&) {
    const auto s = shape_of(st);
    const std::int64_t pivot_bytes = s.exchanges ? up_to(tile.products * s.pivots() * 4, 16) : 0;
    if (tile.tile_m == 1) {
        if (!tile.boxed) return 128 + pivot_bytes;
        const std::int64_t matrix = s.m * s.n * s.size;
        std::int64_t groups = matrix % 16 == 0 ? gcd_with_8(matrix / 16) : 1;
        while (tile.products % groups != 0) groups /= 2;
        return 128 + slab_bytes(s, tile, groups, 16) + pivot_bytes;
    }
    const std::int64_t lines = s.is_cholesky ? tile.tile_n : up(s.m, tile.tile_m), // of a lane that has whole rows
        in_access = std::max<std::int64_t>(1, 16 / s.size), at_once = std::max<std::int64_t>(1, 128 / lines / s.size),
                       sides = st.dynamic_extents ? at_once : std::min(s.r, at_once),
                       pitch = (up(std::max<std::int64_t>(s.n + tile.k_panel, sides), in_access) | 1) * in_access;
    const bool two_warps = tile.tile_m > warp;
    // groups of the slab, of matrices by rows one
    const std::int64_t rows_at_once = row_groups_of(s, tile), run = rows_at_once * s.size,
                       bytes = s.m * s.n * s.size | 128, apart = bytes & -bytes;
    std::int64_t groups = tile.boxed && run < apart ? apart / run : 1;
    while (groups > tile.products) groups /= 2;
    std::int64_t scratch = (2 * pitch + (two_warps ? 4 : 1) * in_access) * s.size;
    if (!s.is_cholesky) {
        const std::int64_t column_groups = tile.tile_m / rows_at_once,
                           column = column_groups == 1 ? 0 : up_to(rows_at_once * tile.tile_n, in_access),
                           row = (up(columns_of_lane(s, tile), in_access) | 1) * in_access,
                           notes = 8 + (two_warps ? 5 : 2) * up_to(s.m, 2);
        std::int64_t units = up(2 * (column + column_groups * row) * s.size + 4 * notes, 16);
        while (units % 8 != column_groups % 8) ++units;
        scratch = std::max(units * 16, s.r > 0 ? scratch : 0);
    }
    return 128 + slab_bytes(s, tile, groups, std::max<std::int64_t>(16, run)) + pivot_bytes + tile.products * scratch;
}

double factor_lanes_seconds(const step& st, const batched_tile& tile, const machine& chip) {
    const auto s = shape_of(st);
    const auto matrices = static_cast<double>(matrix_sizes_of(st).matrices);
    const std::int64_t shared = factor_lanes_shared_bytes(st, tile, chip), steps = s.pivots();
    const auto blocks = static_cast<double>(std::max<std::int64_t>(1, blocks_of(s, tile, shared, chip)));
    const double words = static_cast<double>(s.size) / 4, parts = is_complex(st.compute) ? 4 : 1, lines = tile.tile_n,
                 warps = tile.threads / 32.0,
                 // cycles of a warp's multiply-add on its quarter of an SM
        fma = (s.size == 4 || st.compute == scalar_type::c64 ? 1.0 : 2.0) * parts;

    // Instructions' cycles of a warp, its accesses of shared memory in cycles of the SM, and the latency of one that
    // has its quarter for itself.
    double issue = 0, wavefronts = 0, latency = 0;
    const double elements = static_cast<double>(s.m * s.n);
    if (tile.tile_m == 1) {
        const auto n = static_cast<double>(s.n), k = static_cast<double>(steps);
        issue = fma * n * n * k * (s.is_cholesky ? 1.0 / 6 : 1.0 / 3) + 60 * k +
                (s.exchanges ? elements * k * words : 0) + 4 * elements;
        wavefronts = 2 * elements * words * (tile.boxed ? 1 : 4);
        latency = 1.2 * issue + 250 * k;
    } else {
        const double per_line = s.is_cholesky ? 8 : 12, per_step = s.is_cholesky ? 25 : s.exchanges ? 55 : 35;
        const std::int64_t column_groups = tile.tile_m / row_groups_of(s, tile);
        const auto grid_columns = s.is_cholesky ? s.n : columns_of_lane(s, tile);
        for (std::int64_t k = 0; k < steps; ++k) {
            const std::int64_t first = k / tile.k_panel * tile.k_panel / column_groups;
            double updates = 0;
            for (std::int64_t r = 0; r < tile.tile_n; ++r)
                updates += static_cast<double>(std::max<std::int64_t>(
                    0, (s.is_cholesky ? std::min<std::int64_t>(s.n, tile.tile_m * (r + 1)) : grid_columns) - first));
            const double reads = static_cast<double>(grid_columns - first) * words / 4 +
                                 (column_groups > 1 ? lines * words / 2 : 0),
                         publishes = s.is_cholesky ? lines : reads * (1 + (lines - 1) / 2);
            issue += fma * updates + reads + publishes + per_step + per_line * lines + (column_groups > 1 ? 20 : 0);
            // (what LU reads of 16 bytes comes back to a warp's lanes in 3 to 4 cycles)
            wavefronts += s.is_cholesky ? reads + 2 * lines * words : 4 * reads + lines * words;
            latency += (s.is_cholesky ? 220
                        : s.exchanges ? 300
                                      : 250) +
                       (tile.tile_m <= warp ? 0
                        : s.is_cholesky     ? 80
                                            : 150) +
                       (column_groups > 1 ? 80 : 0) + fma * updates + reads;
        }
        const double moved = lines * static_cast<double>(s.n) * words;
        issue += lines * static_cast<double>(s.n) * (s.exchanges ? 3 : 1);
        wavefronts += moved * (s.exchanges ? 3 : 1);
    }
    if (s.r > 0) {
        const auto r = static_cast<double>(s.r), k = static_cast<double>(steps);
        issue += 2 * r * k * lines * fma + (tile.tile_m == 1 ? r * k * k * fma : 40 * k);
        latency += 2 * k * (tile.tile_m == 1 ? 40 * r : 120);
    }
    const double resident_warps = blocks * warps, in_and_out = 3000;
    const double of_issue = issue / 4, of_latency = (latency + in_and_out) / resident_warps;
    const double matrices_of_warp = 32.0 / tile.tile_m;
    // (LU by grids takes a third longer than any of these says: they share the time)
    const double together = !s.is_cholesky && tile.tile_m > 1 ? 1.35 : 1;
    const double cycles = std::max({of_issue * 1.15, wavefronts * 1.2, of_latency}) * together / matrices_of_warp;

    double bytes = elements * static_cast<double>(s.size) * (st.matrices.keeps_factors ? 2 : 1);
    bytes += 2 * static_cast<double>(s.n * s.r * s.size) + static_cast<double>(s.exchanges ? 4 * steps : 0) + 4;
    const double in_flight = blocks * static_cast<double>(tile.products) * elements * static_cast<double>(s.size),
                 reached = reached_by(st, s, tile) * std::min(1.0, in_flight / 40e3);
    const double by_memory = bytes / (chip.bandwidth * reached), by_sms = cycles / (sm_clock(chip) * chip.processors);
    // a block's copies hide behind other blocks' work only
    return matrices * (std::max(by_memory, by_sms) + std::min(by_memory, by_sms) / blocks);
}

std::vector<batched_tile> factor_lanes_candidates(const step& st, const machine& chip) {
    const auto method = st.matrices.method;
    const bool is_of_it =
        st.matrices.task == matrix_task::factor &&
        (method == matrix_method::cholesky || method == matrix_method::lu || method == matrix_method::lu_unpivoted);
    const auto s = shape_of(st);
    if (!is_of_it || st.dynamic_extents || s.m < 1 || s.n < 1 || s.m > most_rows || s.n > most_rows) return {};
    const bool boxed = matrices_are_dense(st);

    std::vector<priced_tile> found;
    const auto consider = [&](batched_tile t) {
        const auto shared = factor_lanes_shared_bytes(st, t, chip);
        if (shared > chip.shared_bytes) return;
        const auto blocks = blocks_of(s, t, shared, chip);
        if (blocks < 1) return;
        t.stages = static_cast<std::int32_t>(blocks);
        found.push_back({t, factor_lanes_seconds(st, t, chip) * (was_fastest(s, t) ? 0.5 : 1)}); // it comes first
    };
    const auto consider_lanes = [&](std::int32_t lanes, std::int32_t lines) {
        batched_tile t;
        t.tile_m = lanes, t.tile_n = lines, t.boxed = boxed;
        if (lanes == 1 && (s.m > 12 || s.n > 12 || s.r * s.n > 32)) return; // all unrolled
        if (data_registers(s, t) > (lanes == 1 ? 160 : s.is_cholesky ? 200 : 224)) return;
        for (const auto panel : panels_of(s, t)) {
            t.k_panel = panel;
            for (const std::int32_t threads : {32, 64, 128, 256, 512}) {
                t.threads = threads, t.products = threads / lanes;
                // slabs of odd numbers of 8-byte elements would begin between multiples of 16 bytes
                const bool splits_units =
                    s.m * s.n * s.size % 16 != 0 && t.products % (16 / std::min<std::int64_t>(16, s.size)) != 0;
                if (threads < lanes || (boxed && splits_units && lanes < warp)) continue;
                consider(t);
            }
        }
    };
    for (const std::int32_t lanes : {1, 4, 8, 16, 32, 64}) {
        // few lanes idle, and what a thread has fits its registers
        if (lanes > 4 && lanes / 2 >= s.m) continue;
        if (lanes == 1 || s.is_cholesky) {
            const auto lines = lanes == 1 ? 1 : up(s.m, lanes);
            if (lines <= most_lines) consider_lanes(lanes, static_cast<std::int32_t>(lines));
            continue;
        }
        // LU: whole rows, or a grid of two or four column groups
        for (const std::int32_t column_groups : {1, 2, 4}) {
            const std::int32_t row_groups = lanes / column_groups;
            if (row_groups < 4 || row_groups > warp || (column_groups > 1 && lanes < warp)) continue;
            const auto lines = up(s.m, row_groups);
            if (lines <= (column_groups == 4 ? 8 : most_lines))
                consider_lanes(lanes, static_cast<std::int32_t>(lines));
        }
    }
    sort_by_price(found);
    // Of each number of lanes the best three; of one lane, whose blocks differ by their slabs alone, of which the
    // model knows little, five: at 4 rows the fastest on an H100 is not among three. And the best one as the compiler
    // likes it: a few registers' estimates are 8 bytes short.
    std::vector<batched_tile> out, uncapped;
    for (const auto& f : found) {
        const auto same =
            std::count_if(out.begin(), out.end(), [&](const batched_tile& t) { return t.tile_m == f.tile.tile_m; });
        if (same < (f.tile.tile_m == 1 ? 5 : 3)) out.push_back(f.tile);
        if (same == 0) uncapped.push_back(f.tile), uncapped.back().stages = 0;
    }
    out.insert(out.end(), uncapped.begin(), uncapped.end());
    return out;
}

} // namespace ricci::lowering
