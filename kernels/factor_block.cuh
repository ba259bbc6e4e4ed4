// factor_block: a matrix a block, whole in shared memory, with its right-hand sides as further columns.
//
// Columns are in strips of eight. Warp 0 brings the next strip up to date and factors it (factor_block_panels,
// factor_block_qr_panel) while the other warps update the strips behind it by the panel before (factor_block_strips):
// one barrier a strip. Of QR of f64 and c128 all warps bring the next strip up to date, for three barriers more, since
// what all wait for is warp 0.
//
// Constants: factor.hpp's, and
//   threads_per_block, matrices_of_block (1), shared_bytes
//   lines_of_lane   QR: 2: the pivot's column stays in registers from its sums to the update, 1: it is read again
//   stages          blocks that an SM shall have room for, by their registers; 0: as many as have shared memory there
#pragma once

#include "factor_block_memory.cuh"
#include "factor_block_q.cuh"

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

/// Strip s by panel p: its columns from the panel's first row on.
RICCI_FUNCTION void update_strip(const block_memory& memory, element* all, int p, int s, element* scratch) {
    const int first = p * strip;
    const int begin = method == cholesky_method ? (s < strips ? (s - p) * strip : -1) : s - p;
    update_near_strip<strip>(all + first + first * ld, ld, padded_rows - first, memory.results[p % 2],
                             all + first + s * strip * ld, begin, scratch, strip);
}

/// Strip p + 1 by panel p of QR, by all warps, which share its rows.
constexpr bool shares_next = method == qr_method && uses_mma && warps > 1;
template <int Warps>
RICCI_FUNCTION void update_next_strip(block_memory& memory, element* all, int p, int warp) {
    const int first = p * strip, height = padded_rows - first, lane = static_cast<int>(threadIdx.x % 32);
    const panel_results<strip>& of = memory.results[p % 2];
    const element* const factored = all + first + first * ld;
    const reflectors v{factored, ld};
    const near_view c{all + first + (p + 1) * strip * ld, ld};
    element* const w = memory.scratch[0];
    multiply_adjoint<strip, Warps>(v, height, c, memory.scratch[warp], strip, warp);
    __syncthreads();
    if (warp == 0) {
        RICCI_UNROLL
        for (int e = lane; e < strip * strip; e += 32)
            for (int other = 1; other < Warps; ++other) w[e] = w[e] + memory.scratch[other][e];
        __syncwarp();
        solve_reflectors<strip>(of.g, w, strip);
    }
    __syncthreads();
    const auto y = [&](int k, int j) { return w[k + j * strip]; };
    if (warp == 0)
        subtract_from_strip<strip>(
            0, strip, [&](int i, int k) { return v.at(i, k, true); }, y, c);
    RICCI_UNROLL_ONCE
    for (int i = strip + 16 * warp; i < height; i += 16 * Warps)
        subtract_from_strip<strip>(
            i, smaller_of(i + 16, height), [&](int row, int k) { return factored[row + k * ld]; }, y, c);
    __syncthreads();
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
    // with what the compiler knows to be the same in all lanes branches and barriers take less
    const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0);
    element* const all = memory.columns_in_shared;
    const bool in_bulk = moves_in_bulk(a, at);
    load_block(a, at, memory, in_bulk);
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
        if constexpr (shares_next)
            if (p >= 0 && has_next) update_next_strip<warps>(memory, all, p, warp);
        const int own = shares_next ? 0 : smaller_of(right, 1), end = is_apart && warp == 0 ? own : right + left,
                  step = is_apart ? warps - 1 : warps;
        RICCI_UNROLL_ONCE
        for (int e = warp; e < end; e += step)
            update_strip(memory, all, p, e < right ? next + e : e - right, memory.scratch[warp]);
        if (p >= 0 && warp == warps - 1) {
            write_vector(a, at, memory.results[p % 2], taus, p);
            if (stores_early && in_bulk)
                store_spans(operand_of<matrix_role>(a, at), all, p * strip, smaller_of((p + 1) * strip, n));
        }
        if (warp == 0 && has_next) factor_strip(memory, all, next, info, is_odd);
        if (p < 0) wait_for_columns<1>(memory, in_bulk);
        if constexpr (stores_early) show_columns();
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
    store_block(a, at, all, in_bulk, has_sides ? memory.info : 0);
    finish_storing();
}

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_sm)
    ricci_factor(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(shared);
    block_memory& memory = *reinterpret_cast<block_memory*>(shared);
    element* const taus = reinterpret_cast<element*>(shared + taus_place);
    const long long at = block_number();
    if (at >= a.matrices) return; // the whole block
    start_barriers(memory);
    factor_matrix(a, at, memory, taus);
}
