// factor_block: how much memory kernels/factor_block.cuh and factor_blocked.cuh take, and how long they are expected
// to take.
#include "lowering/factor_block.hpp"

#include "lowering/matrix_sizes.hpp"
#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ricci::lowering {
namespace {

constexpr std::int64_t strip = 8;                ///< as in the kernels
constexpr std::int64_t largest_panel_rows = 320; ///< of a warp's registers: ten rows a lane

struct counts {
    matrix_sizes s;
    std::int64_t element, part, warps; ///< bytes of a number, of its real part
    bool is_qr, smallest_norm;
};
counts counts_of(const step& st, const batched_tile& tile) {
    const std::int64_t element = size_of(st.compute);
    return {matrix_sizes_of(st),
            element,
            is_complex(st.compute) ? element / 2 : element,
            tile.threads / warp,
            st.matrices.method == matrix_method::qr,
            st.matrices.smallest_norm};
}

std::int64_t leading_dimension(std::int64_t padded_rows, std::int64_t element) {
    return padded_rows + (element == 16 ? 2 : 4);
}
/// struct panel_results
std::int64_t results_bytes(std::int64_t k, std::int64_t element) { return 20 * k + k * k * element; }

/// struct block_memory
std::int64_t block_bytes(const counts& c) {
    const auto columns = up_to(c.s.n, strip) + up_to(c.s.r, strip);
    const std::int64_t scratch = c.is_qr || c.s.r > 0 ? 64 : 32, taus = c.smallest_norm ? up_to(c.s.n, strip) : 0;
    return up_to(leading_dimension(up_to(c.s.m, 8), c.element) * columns * c.element +
                     2 * results_bytes(strip, c.element) + c.warps * scratch * c.element + 24,
                 16) +
           taus * c.element;
}

/// struct blocked_memory, up to where the panel begins
std::int64_t blocked_bytes(const counts& c, std::int64_t panel) {
    const auto exchange = 2 * (c.warps + 1) * strip * c.element + 3 * c.warps * c.part + 2 * c.warps * 4;
    const auto scratch = c.warps * strip * (panel + 4) * c.element;
    return up_to(results_bytes(panel, c.element) + results_bytes(strip, c.element) + exchange + scratch + 24, 128);
}
std::int64_t panel_bytes(const counts& c, std::int64_t panel) {
    return leading_dimension(up_to(std::max(c.s.m, panel), 8), c.element) * panel * c.element;
}
bool panel_fits(const counts& c, std::int64_t panel, const machine& chip) {
    return blocked_bytes(c, panel) + panel_bytes(c, panel) <= chip.shared_bytes;
}
/// Of factor_blocked, which counts a panel's elements, one for each thread beyond them, and lines of the matrix and
/// of the right-hand sides in 32 bits.
bool can_be_counted(const counts& c, std::int64_t panel, std::int64_t threads) {
    constexpr std::int64_t most = INT32_MAX, most_lines = most / 2;
    if (std::max({c.s.m, c.s.n, c.s.r}) > most_lines) return false;
    if (c.s.vector() == 0) return true;
    return panel_bytes(c, panel) / c.element + threads <= most;
}

batched_tile tile_of(std::int32_t threads, std::int32_t panel, std::int32_t stages) {
    batched_tile out;
    out.products = 1, out.threads = threads, out.k_panel = panel, out.stages = stages;
    return out;
}

/// Multiply-adds count two.
double flops_of(const counts& c, const step& st) {
    const auto m = static_cast<double>(c.s.m), n = static_cast<double>(c.s.n), r = static_cast<double>(c.s.r),
               k = std::min(m, n);
    double out = m * n * k - (m + n) * k * k / 2 + k * k * k / 3; // multiply-adds of LU
    if (c.is_qr)
        out *= 2;
    else if (st.matrices.method == matrix_method::cholesky)
        out /= 2;
    out += r * k * (c.is_qr ? 2 * m : k);
    return 2 * out * (is_complex(st.compute) ? 4 : 1);
}

// What an H100 made of square f64 matrices in large batches, in GFLOP/s, with the parameters below: measured but for
// n = 113, from which on an SM has room for one block, and the least n of LU and QR in panels.
struct measured {
    double n, rate;
};
constexpr measured cholesky_in_block[] = {{33, 1010}, {40, 1610},  {48, 2160},  {64, 3000},  {80, 3350},
                                          {96, 2650}, {112, 3460}, {113, 2250}, {128, 2530}, {160, 3460}},
                   lu_in_block[] = {{33, 1270}, {40, 2050},  {48, 2670},  {64, 3350},  {80, 3450},
                                    {96, 3040}, {112, 3400}, {113, 2300}, {128, 2630}, {160, 3360}},
                   qr_in_block[] = {{33, 1530}, {40, 2350},  {48, 2700},  {64, 4090},  {80, 4750},
                                    {96, 4150}, {112, 5010}, {113, 3200}, {128, 3670}, {160, 4860}},
                   cholesky_blocked[] = {{96, 1160},  {128, 2860}, {192, 3120}, {256, 4520},
                                         {384, 3700}, {512, 4590}, {1024, 1210}},
                   lu_blocked[] = {{96, 1500},  {128, 2240}, {192, 2630}, {256, 3320},
                                   {384, 2790}, {512, 3540}, {1024, 1330}},
                   qr_blocked[] = {{96, 1500}, {160, 2530}, {192, 2910}, {256, 3630}, {384, 3750}, {512, 5240}};

template <std::size_t Count>
double rate_at(const measured (&of)[Count], double n) {
    n = std::max(n, 1.0);
    if (n <= of[0].n) return of[0].rate * n / of[0].n;
    for (std::size_t i = 1; i < Count; ++i)
        if (n <= of[i].n)
            return of[i - 1].rate + (of[i].rate - of[i - 1].rate) * (n - of[i - 1].n) / (of[i].n - of[i - 1].n);
    return of[Count - 1].rate;
}
double rate_of(matrix_method method, bool whole, double n) {
    if (method == matrix_method::cholesky)
        return whole ? rate_at(cholesky_in_block, n) : rate_at(cholesky_blocked, n);
    if (method == matrix_method::qr) return whole ? rate_at(qr_in_block, n) : rate_at(qr_blocked, n);
    return whole ? rate_at(lu_in_block, n) : rate_at(lu_blocked, n);
}

/// How many times the rate of f64 other types have: a complex product has four times the work of a real one. (The
/// rates of QR are as measured after a change that f32 and c64 have no part of.)
double type_factor(scalar_type type, const counts& c, bool whole) {
    if (c.part == 8) return is_complex(type) ? 1.1 : 1;
    if (!whole) return is_complex(type) ? 1.5 : 1;
    const double before = c.is_qr ? 1 / 1.17 : 1;
    return before * (is_complex(type) ? 2.6 : c.s.m > 112 ? 2.2 : 1.5); // more blocks to an SM
}

/// How many times the time of the best parameters these take.
double slowness(const counts& c, matrix_method method, bool whole, const batched_tile& tile) {
    const auto rows = static_cast<double>(c.s.m);
    double threads = 0, out = 1;
    if (whole) { // a warp every 32 rows, and where the panel takes less time another
        const double warps = std::floor(rows / warp);
        threads = std::clamp<double>((method == matrix_method::qr ? warps : warps + 1) * warp, 64, 256);
        if (method == matrix_method::qr && tile.tile_n < 2) out = 1.3;
    } else {
        // fewer rows: more blocks are better than more threads
        const bool is_cholesky = method == matrix_method::cholesky;
        threads = c.s.m <= (is_cholesky ? 160 : 256) ? 128 : 256;
        const double panel = c.s.m <= (is_cholesky ? 160 : c.is_qr ? 192 : 0) ? 16 : 32;
        out += 0.2 * std::abs(std::log2(static_cast<double>(tile.k_panel) / panel));
    }
    return out + 0.1 * std::abs(std::log2(static_cast<double>(tile.threads) / threads));
}

} // namespace

std::int64_t factor_block_shared_bytes(const step& st, const batched_tile& tile, const machine& chip) {
    const auto c = counts_of(st, tile);
    if (st.kernel == family::factor_block) return block_bytes(c);
    const auto own = blocked_bytes(c, tile.k_panel);
    return panel_fits(c, tile.k_panel, chip) ? own + panel_bytes(c, tile.k_panel) : own;
}

std::int64_t factor_block_workspace_bytes(const step& st, const batched_tile& tile, const machine& chip) {
    if (st.kernel != family::factor_blocked) return 0;
    const auto c = counts_of(st, tile);
    std::int64_t out = 0; // of a matrix
    if (!st.matrices.keeps_factors) out += c.s.m * c.s.n * c.element;
    if (c.is_qr && c.s.m > c.s.n) out += (c.smallest_norm ? c.s.n : c.s.m * c.s.r) * c.element;
    if (!panel_fits(c, tile.k_panel, chip)) out += panel_bytes(c, tile.k_panel);
    return out * c.s.matrices;
}

std::vector<batched_tile> factor_block_candidates(const step& st, const machine& chip) {
    std::vector<batched_tile> out;
    const auto s = matrix_sizes_of(st);
    if (chip.kind != target::cuda || st.matrices.task != matrix_task::factor) return out;
    if (st.kernel == family::factor_block) {
        if (st.dynamic_extents) return out;
        const auto strips = up(s.n, strip) + up(s.r, strip);
        for (const std::int32_t threads : {64, 96, 128, 192, 256}) {
            const auto t = tile_of(threads, strip, 0);
            if (s.m > largest_panel_rows || factor_block_shared_bytes(st, t, chip) > chip.shared_bytes) continue;
            if (threads / warp > std::max<std::int64_t>(strips, 2)) continue;
            out.push_back(t);
            if (st.matrices.method != matrix_method::qr) continue;
            out.back().tile_n = 2;
            out.push_back(t);
        }
    } else if (st.kernel == family::factor_blocked) {
        for (const std::int32_t panel : {16, 32, 8})
            for (const std::int32_t threads : {256, 128, 512}) {
                const auto t = tile_of(threads, panel, 0);
                const auto c = counts_of(st, t);
                if (!can_be_counted(c, panel, threads)) continue;
                // a panel in global memory only where none fits
                if (!panel_fits(c, panel, chip) && (panel != 8 || panel_fits(c, 8, chip))) continue;
                if (blocked_bytes(c, panel) <= chip.shared_bytes) out.push_back(t);
            }
    }
    std::stable_sort(out.begin(), out.end(), [&](const batched_tile& a, const batched_tile& b) {
        return factor_block_seconds(st, a, chip) < factor_block_seconds(st, b, chip);
    });
    return out;
}

double factor_block_seconds(const step& st, const batched_tile& tile, const machine& chip) {
    const auto c = counts_of(st, tile);
    const bool whole = st.kernel == family::factor_block;
    const auto m = static_cast<double>(c.s.m), n = static_cast<double>(c.s.n), k = std::min(m, n),
               matrices = static_cast<double>(c.s.matrices), element = static_cast<double>(c.element);
    const double panel = tile.k_panel;
    // memory: whole, once in and out; else every panel passes over what is on its right
    double passes = 2;
    if (!whole) passes += 2 * (1 - k / (3 * std::max({m, n, 1.0}))) * k / (2 * panel);
    const double memory = passes * m * n * element / chip.bandwidth;
    // Latencies limit, so other chips differ by their SMs and clocks.
    constexpr double h100_clocks = 132 * 1.98e9;
    const auto method = st.matrices.method;
    const double size = std::sqrt(m * n), chips = sm_clock(chip) * chip.processors / h100_clocks;
    const double rate = 1e9 * rate_of(method, whole, size) * type_factor(st.compute, c, whole) * chips;
    const double work = flops_of(c, st) * slowness(c, method, whole, tile) / rate;
    // a batch that does not fill the chip takes as long as one that does
    const auto blocks = std::clamp<double>(
        std::min(static_cast<double>(shared_of_an_sm(chip)) /
                     static_cast<double>(factor_block_shared_bytes(st, tile, chip) + shared_of_a_block),
                 static_cast<double>(registers_of_an_sm) / (static_cast<double>(tile.threads) * 128)),
        1, static_cast<double>(blocks_of_an_sm));
    const double at_least = std::floor(blocks) * chip.processors;
    return std::max(matrices * memory, std::max(matrices, at_least) * work);
}

} // namespace ricci::lowering
