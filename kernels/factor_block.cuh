// factor_block: a matrix a block, whole in shared memory, with its right-hand sides as further columns.
//
// Columns are in strips of eight. Warp 0 brings the next strip up to date and factors it (factor_block_panels) while
// the other warps update the strips behind it by the panel before (factor_block_strips): one barrier a strip.
//
// Constants: factor.hpp's, and
//   threads_per_block, matrices_of_block (one after another), shared_bytes
//   lines_of_lane   QR: 2: the pivot's column stays in registers from its sums to the update, 1: it is read again
//   stages          blocks that an SM shall have room for, by their registers; 0: as many as have shared memory there
// From the start of shared memory: the columns, two panel_results, 32 elements a warp (QR, 64; solves, 64), info; of
// smallest_norm the reflectors' conj(tau) behind them.
#pragma once

#include "factor_block_panels.cuh"
#include "factor_block_q.cuh"
#include "ptx_copy.cuh"

static_assert(rows > 0 && columns > 0, "sizes are constants");

constexpr int m = static_cast<int>(rows), n = static_cast<int>(columns), sides = static_cast<int>(right_sides);
constexpr int side_column = round_up(n, strip), all_columns = side_column + round_up(sides, strip);
constexpr int ld = leading_dimension(padded_rows), strips = side_column / strip, all_strips = all_columns / strip;
/// That the panels' updates reach: not the right-hand sides of smallest_norm.
constexpr int updated_strips = smallest_norm ? strips : all_strips;
constexpr int given_rows = smallest_norm ? n : m, solution_rows = smallest_norm ? m : n;
constexpr int pivot_count = smaller_of(m, n), panels = (pivot_count + strip - 1) / strip;
constexpr int scratch_elements = method == qr_method || has_sides ? 64 : 32;

struct block_memory {
    element columns_in_shared[ld * all_columns];
    panel_results<strip> results[2];
    element scratch[warps][scratch_elements];
    int info;
};
constexpr int taus_place = sizeof(block_memory),
              taus_bytes = smallest_norm ? panels * strip * static_cast<int>(sizeof(element)) : 0;
static_assert(shared_bytes == 0 || taus_place + taus_bytes <= shared_bytes, "fits");

/// Blocks that an SM has shared memory for, as long as their threads have some registers each.
constexpr int registers_wanted = doubles && is_complex                       ? 168
                                 : method == qr_method && keeps_pivot_column ? (is_complex || doubles ? 150 : 96)
                                 : doubles                                   ? 96
                                                                             : 80;
constexpr int blocks_by_memory = 233472 / (static_cast<int>(sizeof(block_memory)) + 1024);
constexpr int blocks_by_registers = 65536 / (threads_per_block * registers_wanted);
constexpr int blocks_of_sm = stages > 0 ? stages
                                        : smaller_of(32, smaller_of(blocks_by_memory, blocks_by_registers) > 1
                                                          ? smaller_of(blocks_by_memory, blocks_by_registers)
                                                          : 1);

/// move(i, j) for all elements of a matrix's columns from `begin` to `end` by the whole block, neighbors in memory by
/// neighboring threads.
template <int Role, class Move>
RICCI_FUNCTION void each_element(int height, int begin, int end, const Move& move) {
    const int thread = static_cast<int>(threadIdx.x), width = end - begin;
    if constexpr (length_of_step(matrix_step[Role][0]) <= length_of_step(matrix_step[Role][1])) {
        RICCI_UNROLL_4
        for (int e = thread; e < height * width; e += threads_per_block) move(e % height, begin + e / height);
    } else {
        RICCI_UNROLL_4
        for (int e = thread; e < height * width; e += threads_per_block) move(e / width, begin + e % width);
    }
}

RICCI_FUNCTION void load_columns(const arguments& a, long long at, element* s, int begin, int end) {
    const element* const from = operand_of<matrix_role>(a, at);
    constexpr int unit = static_cast<int>(sizeof(real));
    each_element<matrix_role>(m, begin, end, [&](int i, int j) {
        if (method == cholesky_method && i < j) return;
        const element* const x = from + offset_of<matrix_role>(a, i, j);
        if constexpr (conjugated) {
            s[i + j * ld] = as_meant(*x);
        } else {
            // complex numbers are aligned to their parts only
            for (int part = 0; part < parts; ++part)
                async_copy<unit>(reinterpret_cast<real*>(s + i + j * ld) + part,
                                 reinterpret_cast<const real*>(x) + part, unit);
        }
    });
    commit_async_copies();
}

/// The first strip is there afterwards; the others once all threads have waited for their copies.
RICCI_FUNCTION void load_block(const arguments& a, long long at, element* s) {
    const int thread = static_cast<int>(threadIdx.x);
    load_columns(a, at, s, 0, smaller_of(strip, n));
    load_columns(a, at, s, smaller_of(strip, n), n);
    if constexpr (has_sides) {
        const element* b = nullptr;
        if constexpr (has_role[given_role]) b = operand_of<given_role>(a, at);
        each_element<has_role[given_role] ? given_role : solution_role>(m, 0, sides, [&](int i, int j) {
            element x = i == j ? one() : zero();
            if constexpr (has_role[given_role]) x = i < given_rows ? b[offset_of<given_role>(a, i, j)] : zero();
            s[i + (side_column + j) * ld] = x;
        });
    }
    // rows and columns that fill tiles
    if constexpr (padded_rows > m)
        for (int e = thread; e < (padded_rows - m) * all_columns; e += threads_per_block)
            s[m + e % at_least_one(padded_rows - m) + e / at_least_one(padded_rows - m) * ld] = zero();
    if constexpr (side_column > n)
        for (int e = thread; e < m * (side_column - n); e += threads_per_block) s[e % m + (n + e / m) * ld] = zero();
    if constexpr (all_columns > side_column + sides)
        for (int e = thread; e < m * (all_columns - side_column - sides); e += threads_per_block)
            s[e % m + (side_column + sides + e / m) * ld] = zero();
    wait_async_copies<1>();
    __syncthreads();
}

RICCI_FUNCTION void store_block(const arguments& a, long long at, const element* s, int info) {
    if constexpr (keeps_factors) {
        element* const to = operand_of<matrix_role>(a, at);
        each_element<matrix_role>(m, 0, n, [&](int i, int j) {
            if (method != cholesky_method || i >= j) to[offset_of<matrix_role>(a, i, j)] = as_meant(s[i + j * ld]);
        });
    }
    if constexpr (has_sides) {
        element* const to = operand_of<solution_role>(a, at);
        each_element<solution_role>(solution_rows, 0, sides, [&](int i, int j) {
            to[offset_of<solution_role>(a, i, j)] = info == 0 ? s[i + (side_column + j) * ld] : not_a_number();
        });
    }
}

/// Strip s by panel p: its columns from the panel's first row on.
RICCI_FUNCTION void update_strip(const block_memory& memory, element* all, int p, int s, element* scratch) {
    const int first = p * strip;
    const int begin = method == cholesky_method ? (s < strips ? (s - p) * strip : -1) : s - p;
    update_near_strip<strip>(all + first + first * ld, ld, padded_rows - first, memory.results[p % 2],
                             all + first + s * strip * ld, begin, scratch, strip);
}

/// By warp 0.
RICCI_FUNCTION void factor_strip(block_memory& memory, element* all, int p, int& info, bool& is_odd) {
    const int first = p * strip, steps = smaller_of(strip, pivot_count - first);
    element* const mine = all + first + first * ld;
    panel_results<strip>& out = memory.results[p % 2];
    int failed = 0;
    if constexpr (method == cholesky_method)
        failed = factor_cholesky_panel(mine, ld, padded_rows - first, steps, out);
    else if constexpr (is_lu)
        failed = factor_lu_panel(mine, ld, m - first, padded_rows - first, steps, out, is_odd);
    else
        factor_qr_panel(mine, ld, (padded_rows - first) / 4, steps, out);
    if (failed != 0 && info == 0) info = first + failed;
    __syncwarp();
}

/// Panel p's pivots or tau; by a warp that has time.
RICCI_FUNCTION void write_vector(const arguments& a, long long at, const panel_results<strip>& of, element* taus,
                                 int p) {
    const int lane = static_cast<int>(threadIdx.x % 32), c = p * strip + lane;
    if (lane >= strip) return;
    if constexpr (smallest_norm) taus[c] = of.g[lane + lane * strip];
    if (c >= pivot_count) return;
    if constexpr (method == lu_method) write_pivot(a, at, c, p * strip + of.pivots[lane]);
    if constexpr (method == qr_method) write_tau(a, at, c, conjugate(of.g[lane + lane * strip]));
}

/// The right-hand sides become Q R^-H of them.
RICCI_FUNCTION void solve_smallest(block_memory& memory, const element* taus) {
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
    element *const all = memory.columns_in_shared, *const scratch = memory.scratch[warp];
    const auto l = [&](int i, int k) { return conjugate(all[k + i * ld]); };
    RICCI_UNROLL_ONCE
    for (int s = strips + warp; s < all_strips; s += warps)
        solve_lower_rows(n, l, near_view{all + s * strip * ld, ld}, scratch, strip);
    panel_results<strip>& now = memory.results[0];
    RICCI_UNROLL_ONCE
    for (int p = panels - 1; p >= 0; --p) {
        const int first = p * strip, height = padded_rows - first;
        const reflectors v{all + first + first * ld, ld};
        if (thread < strip) now.g[thread * (strip + 1)] = taus[first + thread];
        multiply_reflectors<strip>(v, height, now);
        __syncthreads();
        RICCI_UNROLL_ONCE
        for (int s = strips + warp; s < all_strips; s += warps)
            multiply_by_q<strip>(v, height, now, near_view{all + first + s * strip * ld, ld}, scratch, strip);
        __syncthreads();
    }
}

RICCI_FUNCTION void factor_matrix(const arguments& a, long long at, block_memory& memory, element* taus) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    element* const all = memory.columns_in_shared;
    load_block(a, at, all);
    int info = 0;
    bool is_odd = false;
    // LU: the strips on the left are updated for their rows
    RICCI_UNROLL_ONCE
    for (int p = -1; p < panels; ++p) {
        const int left = method == lu_method && p > 0 ? p : 0, next = p + 1,
                  right = p < 0 ? 0 : updated_strips - next;
        const bool has_next = next < panels;
        // warp 0 has but the next panel's strip, where there is one; the others share the rest
        const bool is_apart = warps > 1 && has_next;
        const int end = is_apart && warp == 0 ? smaller_of(right, 1) : right + left, step = is_apart ? warps - 1 : warps;
        RICCI_UNROLL_ONCE
        for (int e = warp; e < end; e += step)
            update_strip(memory, all, p, e < right ? next + e : e - right, memory.scratch[warp]);
        if (p >= 0 && warp == warps - 1) write_vector(a, at, memory.results[p % 2], taus, p);
        if (warp == 0 && has_next) factor_strip(memory, all, next, info, is_odd);
        if (p < 0) wait_async_copies<0>();
        __syncthreads();
    }
    const auto diagonal = [&](int c) { return all[c + c * ld]; };
    if (warp == 0) {
        if constexpr (method == qr_method && has_sides) info = first_zero(n, diagonal);
        if (threadIdx.x == 0) {
            memory.info = info;
            store_info(a, at, info);
        }
        write_determinant(a, at, pivot_count, info, is_odd, diagonal);
    }
    if constexpr (smallest_norm) {
        solve_smallest(memory, taus);
    } else if constexpr (has_sides) {
        const auto u = [&](int i, int k) {
            return method == cholesky_method ? conjugate(all[k + i * ld]) : all[i + k * ld];
        };
        for (int s = strips + warp; s < all_strips; s += warps)
            solve_upper(n, u, near_view{all + s * strip * ld, ld}, memory.scratch[warp], 8);
        __syncthreads();
    }
    store_block(a, at, all, has_sides ? memory.info : 0);
}

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_sm)
    ricci_factor(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(shared);
    block_memory& memory = *reinterpret_cast<block_memory*>(shared);
    element* const taus = reinterpret_cast<element*>(shared + taus_place);
    const long long first = block_number() * matrices_of_block;
    for (long long at = first; at < first + matrices_of_block && at < a.matrices; ++at) {
        if (at > first) __syncthreads();
        factor_matrix(a, at, memory, taus);
    }
}
