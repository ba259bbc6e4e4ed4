// factor_cpu: which of a CPU's kernels factors, and how long it takes.
//
// The model counts cycles of a core: of what moves between memory and scratch, of what a step of a factorization
// waits for (roots, divisions, searches), of rows that are exchanged, and of multiply-adds. Its numbers were fitted
// by hand to f64 on one core of an Intel Xeon with AVX-512 and AMX (L1 48 KB, L2 2 MB; taken for 3 GHz), g++ 12: n =
// 8, 32, 64 of factor_lanes, 16 to 256 of factor_block, where it is within a third. Other types and machines were not
// measured.
#include "lowering/factor_cpu.hpp"

#include "lowering/core_rates.hpp"
#include "lowering/matrix_sizes.hpp"

#include <algorithm>
#include <cmath>

namespace ricci::lowering {
namespace {

constexpr std::int64_t largest_scratch = 16 << 20; // kernels/factor_block_cpu.hpp: bytes of a thread
constexpr std::int64_t largest_in_lanes = 128;     // beyond, all that a vector's lanes factor has no room in the L2
constexpr std::int64_t panel_columns = 8;

std::int64_t lanes_of(const step& st, const machine& chip) {
    return std::max<std::int64_t>(chip.vector_bytes / size_of(real_of(st.compute)), 1);
}
std::int64_t parts_of(const step& st) { return is_complex(st.compute) ? 2 : 1; }

/// Of interleaved matrices, a solve's few columns among them.
std::int64_t bytes_in_lanes(const step& st, const machine& chip) {
    const auto s = matrix_sizes_of(st);
    return (s.m + 1) * (s.n + 8) * lanes_of(st, chip) * size_of(st.compute);
}

bool fits_lanes(const step& st, const machine& chip) {
    const auto s = matrix_sizes_of(st);
    return !st.dynamic_extents && std::max(s.m, s.n) <= largest_in_lanes &&
           bytes_in_lanes(st, chip) <= largest_scratch / 2;
}

/// What factor_block copies to scratch, a little more than it is.
std::int64_t bytes_in_block(const step& st) {
    const auto s = matrix_sizes_of(st);
    const auto height = std::max(s.m, s.n) + 64;
    const auto reflectors = st.matrices.method == matrix_method::qr ? 64 + 128 * 2 : 0;
    return height * (s.n + std::min<std::int64_t>(s.r, 64) + reflectors) * size_of(st.compute);
}
/// Where it works in the matrix itself: one that it may write, of which a column and the pivots or tau have room.
bool can_stay_in_place(const step& st) {
    const auto s = matrix_sizes_of(st);
    return st.matrices.keeps_factors && (s.m + s.vector()) * size_of(st.compute) <= largest_scratch;
}

/// Multiply-adds of real numbers, of one matrix: its factorization, and its solves.
struct work {
    double factor = 0, solve = 0;
};
work work_of(const step& st) {
    const auto s = matrix_sizes_of(st);
    const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), r = static_cast<double>(s.r);
    const double k = std::min(m, n), l = std::max(m, n), of_lu = k * k * (l - k / 3) / 2;
    const double number = is_complex(st.compute) ? 4 : 1;
    switch (st.matrices.method) {
    case matrix_method::cholesky:
        return {number * n * n * n / 6, number * n * n * r};
    case matrix_method::qr:
        return {number * 2 * of_lu, number * (2 * m * n + n * n / 2) * r};
    default:
        return {number * of_lu, number * n * n * r};
    }
}

/// What a step of a factorization waits for, in cycles.
struct waits {
    double lanes, block;
};
waits waits_of(matrix_method m) {
    switch (m) {
    case matrix_method::cholesky:
        return {60, 60};
    case matrix_method::qr:
        return {150, 250};
    case matrix_method::lu:
        return {120, 150};
    default:
        return {60, 100};
    }
}

/// Reals of a matrix that are copied, twice where the factors are kept, and of its right-hand sides.
double copied_reals(const step& st) {
    const auto s = matrix_sizes_of(st);
    const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), r = static_cast<double>(s.r);
    const double part = st.matrices.method == matrix_method::cholesky ? (1 + 8 / std::max(n, 8.0)) / 2 : 1;
    return static_cast<double>(parts_of(st)) * ((st.matrices.keeps_factors ? 2 : 1) * part * m * n + (m + n) * r);
}

/// Of a vector's lanes of matrices.
double cycles_in_lanes(const step& st, const machine& chip) {
    const auto s = matrix_sizes_of(st);
    const auto steps = static_cast<double>(s.vector()), n = static_cast<double>(s.n);
    const auto lanes = static_cast<double>(lanes_of(st, chip)), parts = static_cast<double>(parts_of(st));
    const auto bytes = bytes_in_lanes(st, chip);
    const bool is_qr = st.matrices.method == matrix_method::qr;
    // multiply-adds a cycle: sums in registers, or reflectors that pass over all columns again and again
    const double rate = bytes <= chip.shared_bytes ? 0.9 : is_qr && bytes > 2 * chip.shared_bytes ? 0.4 : 0.6;
    const double turned = 5 * copied_reals(st); // 40 cycles for 8 x 8 numbers
    const double exchanged = st.matrices.method == matrix_method::lu ? 1.2 * steps * n * lanes * parts : 0;
    const auto w = work_of(st);
    return turned + exchanged + steps * waits_of(st.matrices.method).lanes + (w.factor + w.solve) / rate;
}

/// Of a matrix.
double cycles_in_block(const step& st, const machine& chip) {
    const auto s = matrix_sizes_of(st);
    const auto steps = static_cast<double>(s.vector()), n = static_cast<double>(s.n);
    const auto lanes = static_cast<double>(lanes_of(st, chip)), parts = static_cast<double>(parts_of(st));
    const auto w = work_of(st);
    if (bytes_in_block(st) > largest_scratch ||
        st.dynamic_extents) // by elements, or with sizes that are no constants
        return 4 * (w.factor + w.solve) / (bytes_in_block(st) > largest_scratch ? 1 : lanes);
    const double exchanged = st.matrices.method == matrix_method::lu ? 3 * steps * n * parts : 0;
    return 0.5 * copied_reals(st) + exchanged + steps * waits_of(st.matrices.method).block +
           w.factor / (0.8 * lanes) + w.solve / (0.4 * lanes);
}

} // namespace

std::vector<batched_tile> factor_cpu_candidates(const step& st, const machine& chip) {
    if (st.kernel == family::factor_blocked) return {}; // a GPU's
    batched_tile tile;
    tile.threads = 1;
    tile.k_panel = panel_columns;
    if (st.kernel == family::factor_lanes) {
        if (!fits_lanes(st, chip)) return {};
        tile.products = static_cast<std::int32_t>(lanes_of(st, chip));
        return {tile};
    }
    const bool is_empty = matrix_sizes_of(st).vector() == 0;
    if (bytes_in_block(st) > largest_scratch && !can_stay_in_place(st) && !is_empty) return {};
    tile.products = 1;
    std::vector<batched_tile> out{tile};
    if (st.matrices.method != matrix_method::qr) return out;
    // f64, GF/s with panels of 8 and 32: 51 and 43 of n = 512, 37 and 44 of 1000
    const auto s = matrix_sizes_of(st);
    for (const int columns : {16, 32}) {
        if (s.vector() <= 2 * columns) continue;
        tile.k_panel = columns;
        out.insert(s.vector() > 700 ? out.begin() : out.end(), tile);
    }
    return out;
}

double factor_cpu_seconds(const step& st, const batched_tile& tile, const machine& chip) {
    const auto s = matrix_sizes_of(st);
    const bool in_lanes = st.kernel == family::factor_lanes;
    const auto lanes = static_cast<double>(in_lanes ? lanes_of(st, chip) : 1);
    const double cycles = in_lanes ? cycles_in_lanes(st, chip) : cycles_in_block(st, chip);
    const auto matrices = static_cast<double>(s.matrices), item = static_cast<double>(std::max(tile.products, 1));
    // Threads take whole items, and a vector has all its lanes.
    const double rounds = std::ceil(std::ceil(matrices / item) / chip.processors);
    const double computing = rounds * std::ceil(item / lanes) * cycles * chip.processors / core_clock(st, chip);
    const double bytes = matrices * copied_reals(st) * static_cast<double>(size_of(real_of(st.compute)));
    return std::max(computing, bytes / chip.bandwidth);
}

} // namespace ricci::lowering
