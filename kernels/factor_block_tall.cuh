// factor_block_tall: eight columns of any height, factored where they are by all threads of a block: thread t has
// rows t, t + threads_per_block, ... One or two barriers a column.
#pragma once

#include "factor_block_strips.cuh"

/// What the block's warps tell each other, twice: of this column and the one before.
struct tall_exchange {
    element sums[2][warps][strip], top[2][strip];
    pivot_key keys[2][warps];
    int pivot_rows[2][warps];
    real largest[warps];
};

/// All threads return the same: the first failing column + 1, or 0. height: of p, padded to a multiple of 8 with
/// zeros.
RICCI_FUNCTION int factor_tall_cholesky(element* p, int ld, int height, int steps, panel_results<strip>& out) {
    const int thread = static_cast<int>(threadIdx.x);
    int failed = 0;
    RICCI_UNROLL_ONCE
    for (int c = 0; c < strip; ++c) {
        const real d = real_of(p[c + c * ld]);
        if (c < steps && failed == 0 && !(d > 0)) failed = c + 1;
        const real inverse = c < steps ? reciprocal_sqrt(d) : real(0);
        for (int t = thread; t < height; t += threads_per_block)
            if (t > c) p[t + c * ld] = scaled(p[t + c * ld], inverse);
        __syncthreads();
        if (thread == 0) {
            if (c < steps) p[c + c * ld] = of_parts<element>(d * inverse, real(0));
            out.g[c + c * strip] = of_parts<element>(inverse, real(0));
        }
        for (int t = thread; t < height; t += threads_per_block) {
            if (t <= c) continue;
            const element l = p[t + c * ld];
            for (int k = c + 1; k <= smaller_of(t, strip - 1); ++k) {
                element x = p[t + k * ld];
                subtract_product(x, l, conjugate(p[k + c * ld]));
                p[t + k * ld] = x;
            }
        }
        __syncthreads();
    }
    return failed;
}

/// The first row that has the block's largest key; row < 0: none of this thread.
RICCI_FUNCTION int row_of_largest(pivot_key key, int row, tall_exchange& shared, int parity) {
    const auto take = [&](pivot_key other, int there) {
        const bool is_better = there >= 0 && (row < 0 || other > key || (other == key && there < row));
        if (is_better) key = other, row = there;
    };
    RICCI_UNROLL
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        const pivot_key other = __shfl_xor_sync(0xffffffffu, key, lanes);
        const int there = __shfl_xor_sync(0xffffffffu, row, lanes);
        take(other, there);
    }
    const int thread = static_cast<int>(threadIdx.x);
    if (thread % 32 == 0) shared.keys[parity][thread / 32] = key, shared.pivot_rows[parity][thread / 32] = row;
    __syncthreads();
    row = -1;
    for (int w = 0; w < warps; ++w) take(shared.keys[parity][w], shared.pivot_rows[parity][w]);
    return row;
}

/// height: of p, without what pads it. Pivots go to memory as rows of matrix `at`, whose row `first` is p's first.
RICCI_FUNCTION int factor_tall_lu(element* p, int ld, int height, int steps, panel_results<strip>& out,
                                  tall_exchange& shared, const arguments& a, long long at, int first, bool& is_odd) {
    const int thread = static_cast<int>(threadIdx.x);
    int failed = 0;
    RICCI_UNROLL_ONCE
    for (int c = 0; c < steps; ++c) {
        if constexpr (method == lu_method) {
            pivot_key key = 0;
            int row = -1;
            for (int t = thread; t < height; t += threads_per_block) {
                const pivot_key other = key_of(p[t + c * ld]);
                if (t >= c && (row < 0 || other > key)) key = other, row = t;
            }
            row = row_of_largest(key, row, shared, c % 2);
            if (row != c) {
                is_odd = !is_odd;
                if (thread < strip) {
                    const element x = p[c + thread * ld];
                    p[c + thread * ld] = p[row + thread * ld];
                    p[row + thread * ld] = x;
                }
            }
            if (thread == 0) out.pivots[c] = row, write_pivot(a, at, first + c, first + row);
        }
        __syncthreads();
        element top[strip];
        RICCI_UNROLL
        for (int k = 0; k < strip; ++k) top[k] = p[c + k * ld];
        const element pivot = p[c + c * ld];
        const bool is_singular = size_of_pivot(pivot) == 0;
        if (is_singular && failed == 0) failed = c + 1;
        const real grown = has_reciprocal(pivot) ? real(1) : reciprocal_growth;
        const element inverse = is_singular ? one() : one() / scaled(pivot, grown);
        RICCI_UNROLL_ONCE
        for (int t = thread; t < height; t += threads_per_block) {
            if (t <= c) continue;
            element x[strip];
            RICCI_UNROLL
            for (int k = 0; k < strip; ++k) x[k] = p[t + k * ld];
            const element l = scaled(p[t + c * ld], is_singular ? real(1) : grown) * inverse;
            p[t + c * ld] = l;
            RICCI_UNROLL
            for (int k = 1; k < strip; ++k)
                if (k > c) {
                    subtract_product(x[k], l, top[k]);
                    p[t + k * ld] = x[k];
                }
        }
    }
    __syncthreads();
    if constexpr (method == lu_method) {
        if (thread < 16) write_exchanges<strip>(out.rows_moved, thread, steps, [&](int c) { return out.pivots[c]; });
        __syncthreads();
    }
    return failed;
}

/// height: of p, padded with zeros. tau goes to memory, its conjugate to the diagonal of out.g.
RICCI_FUNCTION void factor_tall_qr(element* p, int ld, int height, int steps, panel_results<strip>& out,
                                   tall_exchange& shared, const arguments& a, long long at, int first) {
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
    for (int e = thread; e < strip * strip; e += threads_per_block) out.g[e] = zero();
    __syncthreads();
    RICCI_UNROLL_ONCE
    for (int c = 0; c < steps; ++c) {
        const int parity = c % 2;
        real shrink = 1;
        bool is_nothing = false; ///< below the diagonal, where the sums were not safe
        element sum[strip];
        // of the column below its diagonal, times shrink, with all
        const auto multiply = [&] {
            RICCI_UNROLL
            for (int k = 0; k < strip; ++k) sum[k] = zero();
            RICCI_UNROLL_ONCE
            for (int t = thread; t < height; t += threads_per_block) {
                const element x = t > c ? conjugate(scaled(p[t + c * ld], shrink)) : zero();
                RICCI_UNROLL
                for (int k = 0; k < strip; ++k)
                    if (t > c) add_product(sum[k], x, k == c ? conjugate(x) : p[t + k * ld]);
            }
            RICCI_UNROLL
            for (int k = 0; k < strip; ++k)
                RICCI_UNROLL
                for (int lanes = 16; lanes > 0; lanes /= 2) sum[k] = sum[k] + shuffle_xor(sum[k], lanes);
            if (lane == 0) {
                RICCI_UNROLL
                for (int k = 0; k < strip; ++k) shared.sums[parity][thread / 32][k] = sum[k];
            }
            if (thread == c) {
                RICCI_UNROLL
                for (int k = 0; k < strip; ++k) shared.top[parity][k] = p[c + k * ld];
            }
            __syncthreads();
            RICCI_UNROLL
            for (int k = 0; k < strip; ++k) {
                sum[k] = shared.sums[parity][0][k];
                for (int w = 1; w < warps; ++w) sum[k] = sum[k] + shared.sums[parity][w][k];
            }
        };
        element alpha;
        real squares = 0;
        RICCI_UNROLL_ONCE
        for (int attempt = 0; attempt < 2; ++attempt) {
            multiply();
            alpha = scaled(shared.top[parity][c], shrink);
            bool is_safe = true;
            RICCI_UNROLL
            for (int k = 0; k < strip; ++k) {
                is_safe = is_safe && is_finite(sum[k]);
                if (k == c) squares = real_of(sum[k]);
            }
            is_safe = is_safe && squares >= least_squares_sum && squares + squared(alpha) <= largest_squares_sum;
            if (attempt > 0 || is_safe) break; // all threads
            real below = 0;
            for (int t = thread; t < height; t += threads_per_block) {
                const real size = t > c ? size_of_pivot(p[t + c * ld]) : real(0);
                if (!(size <= below)) below = size;
            }
            RICCI_UNROLL
            for (int lanes = 16; lanes > 0; lanes /= 2) {
                const real other = __shfl_xor_sync(0xffffffffu, below, lanes);
                if (!(other <= below)) below = other;
            }
            if (lane == 0) shared.largest[thread / 32] = below;
            __syncthreads();
            for (int w = 0; w < warps; ++w)
                if (!(shared.largest[w] <= below)) below = shared.largest[w];
            is_nothing = below == 0;
            const real top = size_of_pivot(alpha);
            shrink = shrinking(below <= top ? top : below);
        }
        if (squares == 0 && !is_nothing) squares = squared(alpha) * static_cast<real>(0x1p-120); // by underflow
        reflector h{zero(), zero(), real_of(alpha)};
        if (squares != 0 || imaginary_of(alpha) != 0) h = reflector_of(alpha, squares);
        element by[strip];
        RICCI_UNROLL
        for (int k = 0; k < strip; ++k) {
            const element top = shared.top[parity][k], w = top + conjugate(h.inverse) * sum[k],
                          f = conjugate(h.tau) * w;
            by[k] = h.inverse * f;
            if (thread == c && k > c) p[c + k * ld] = top - f;
            if (thread == c && k < c) out.g[c + k * strip] = w;
        }
        if (thread == c) {
            p[c + c * ld] = of_parts<element>(h.beta / shrink, real(0));
            out.g[c + c * strip] = conjugate(h.tau);
            write_tau(a, at, first + c, h.tau);
        }
        RICCI_UNROLL_ONCE
        for (int t = thread; t < height; t += threads_per_block) {
            if (t <= c) continue;
            const element x = scaled(p[t + c * ld], shrink);
            RICCI_UNROLL
            for (int k = 1; k < strip; ++k)
                if (k > c) {
                    element y = p[t + k * ld];
                    subtract_product(y, x, by[k]);
                    p[t + k * ld] = y;
                }
            p[t + c * ld] = x * h.inverse;
        }
    }
    __syncthreads();
}
