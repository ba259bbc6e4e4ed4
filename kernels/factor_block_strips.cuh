// factor_block_strips: what a warp does to a strip of eight columns right of a factored panel: row exchanges, solving
// with the panel's triangle, and the product with what lies below it. f64 and c128 use the tensor cores.
//
// In a warp's product of 8 (or 16) rows by 8 columns lane l holds columns q and q + 4, q = l % 4, of row h = l / 4
// (and h + 8): the tensor cores' columns 2q and 2q + 1. So its lanes lie on different banks.
#pragma once

#include "factor_block_parts.cuh"
#include "ptx_mma.cuh"

constexpr bool uses_mma = doubles;
constexpr int parts = is_complex ? 2 : 1;

/// Where the tensor cores' column h is in a strip.
RICCI_FUNCTION int column_of(int h) { return h / 2 + h % 2 * 4; }

template <int Halves>
RICCI_FUNCTION void multiply_halves(double (&d)[2 * Halves], const double (&a)[Halves], double b) {
    if constexpr (Halves == 1) {
        mma_f64(d, a[0], b);
    } else {
#if RICCI_ON_GPU && __CUDA_ARCH__ < 900
        double low[2] = {d[0], d[1]}, high[2] = {d[2], d[3]};
        mma_f64(low, a[0], b), mma_f64(high, a[1], b);
        d[0] = low[0], d[1] = low[1], d[2] = high[0], d[3] = high[1];
#else
        mma_f64(d, a, b);
#endif
    }
}

/// Sums of a tile of 8*Halves rows.
template <int Halves>
struct strip_tile {
    double sums[parts][2 * Halves];
    RICCI_FUNCTION element get(int e) const {
        return of_parts<element>(static_cast<real>(sums[0][e]), static_cast<real>(sums[parts - 1][e]));
    }
    RICCI_FUNCTION void set(int e, element x) {
        sums[parts - 1][e] = imaginary_of(x);
        sums[0][e] = real_of(x);
    }
    /// += a*b
    RICCI_FUNCTION void add(const element (&a)[Halves], element b) {
        double re[Halves];
        RICCI_UNROLL
        for (int i = 0; i < Halves; ++i) re[i] = real_of(a[i]);
        multiply_halves<Halves>(sums[0], re, real_of(b));
        if constexpr (is_complex) {
            double im[Halves];
            RICCI_UNROLL
            for (int i = 0; i < Halves; ++i) im[i] = imaginary_of(a[i]);
            multiply_halves<Halves>(sums[parts - 1], re, imaginary_of(b));
            multiply_halves<Halves>(sums[0], im, -imaginary_of(b));
            multiply_halves<Halves>(sums[parts - 1], im, real_of(b));
        }
    }
};

template <int K, int Halves, class A, class View>
RICCI_FUNCTION void subtract_tile(int i, const A& a_of, const element (&b)[K / 4], const View& c) {
    const int lane = static_cast<int>(threadIdx.x % 32), q = lane % 4, h = lane / 4;
    strip_tile<Halves> d;
    RICCI_UNROLL
    for (int e = 0; e < 2 * Halves; ++e) d.set(e, c.get(i + e / 2 * 8 + h, q + e % 2 * 4));
    RICCI_UNROLL
    for (int s = 0; s < K / 4; ++s) {
        element a[Halves];
        RICCI_UNROLL
        for (int e = 0; e < Halves; ++e) a[e] = a_of(i + e * 8 + h, 4 * s + q);
        d.add(a, b[s]);
    }
    RICCI_UNROLL
    for (int e = 0; e < 2 * Halves; ++e) c.put(i + e / 2 * 8 + h, q + e % 2 * 4, d.get(e));
}

/// c(i, j) -= sum over k < K of a_of(i, k) b_of(k, j), by one warp, of rows from begin to end, multiples of 8.
template <int K, class A, class B, class View>
RICCI_FUNCTION void subtract_from_strip(int begin, int end, const A& a_of, const B& b_of, const View& c) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    if constexpr (uses_mma) {
        element b[K / 4];
        RICCI_UNROLL
        for (int s = 0; s < K / 4; ++s) b[s] = -b_of(4 * s + lane % 4, column_of(lane / 4));
        int i = begin;
        RICCI_UNROLL_2
        for (; i + 16 <= end; i += 16) subtract_tile<K, 2>(i, a_of, b, c);
        if (i < end) subtract_tile<K, 1>(i, a_of, b, c);
    } else {
        RICCI_UNROLL_ONCE
        for (int i = begin + lane; i < end; i += 32) {
            element sum[strip];
            RICCI_UNROLL
            for (int j = 0; j < strip; ++j) sum[j] = c.get(i, j);
            RICCI_UNROLL_ONCE
            for (int k0 = 0; k0 < K; k0 += 8)
                RICCI_UNROLL
                for (int k = 0; k < 8; ++k) {
                    const element x = a_of(i, k0 + k);
                    RICCI_UNROLL
                    for (int j = 0; j < strip; ++j) subtract_product(sum[j], x, b_of(k0 + k, j));
                }
            RICCI_UNROLL
            for (int j = 0; j < strip; ++j) c.put(i, j, sum[j]);
        }
    }
}

/// A panel's reflectors in shared memory, where R stands above them.
struct reflectors {
    const element* p;
    int ld;
    /// is_top: i may be among the first K rows.
    RICCI_FUNCTION element at(int i, int k, bool is_top) const {
        const element x = p[i + k * ld];
        return !is_top || i > k ? x : i == k ? one() : zero();
    }
};

/// w(k, j) = sum over i < end of conj(v(i, k)) c(i, j), by one warp; with Parts of every so-manieth eight rows, from
/// number `part` on.
template <int K, int Parts = 1, class View>
RICCI_FUNCTION void multiply_adjoint(const reflectors& v, int end, const View& c, element* w, int ldw, int part = 0) {
    static_assert(Parts == 1 || (K == 8 && uses_mma));
    const int lane = static_cast<int>(threadIdx.x % 32), q = lane % 4, h = lane / 4;
    if constexpr (uses_mma) {
        // chains of products that do not wait for each other
        constexpr int halves = K == 8 ? 1 : 2, tiles = K / (8 * halves), chains = K == 8 ? 4 : 2;
        strip_tile<halves> d[tiles][chains];
        RICCI_UNROLL
        for (int t = 0; t < tiles; ++t)
            RICCI_UNROLL
            for (int e = 0; e < 2 * halves; ++e)
                RICCI_UNROLL
                for (int s = 0; s < chains; ++s) d[t][s].set(e, zero());
        const auto add = [&](int i, bool is_top, int chain) {
            RICCI_UNROLL
            for (int s = 0; s < 2; ++s) {
                const element b = c.get(i + 4 * s + q, column_of(h));
                RICCI_UNROLL
                for (int t = 0; t < tiles; ++t) {
                    element a[halves];
                    RICCI_UNROLL
                    for (int e = 0; e < halves; ++e)
                        a[e] = conjugate(v.at(i + 4 * s + q, (t * halves + e) * 8 + h, is_top));
                    d[t][chain + s].add(a, b);
                }
            }
        };
        int i = 8 * part;
        if constexpr (K == 8) { // the masks cost less than another loop where c is far
            constexpr int apart = 8 * Parts;
            if (part == 0) add(0, true, 0), i = apart;
            RICCI_UNROLL_2
            for (; i + apart < end; i += 2 * apart) add(i, false, 0), add(i + apart, false, 2);
            if (i < end) add(i, false, 2);
            RICCI_UNROLL
            for (int e = 0; e < 2 * halves; ++e) {
                d[0][0].set(e, d[0][0].get(e) + d[0][2 % chains].get(e));
                d[0][1].set(e, d[0][1].get(e) + d[0][3 % chains].get(e));
            }
        } else {
            RICCI_UNROLL_2
            for (; i < end; i += 8) add(i, true, 0);
        }
        RICCI_UNROLL
        for (int t = 0; t < tiles; ++t)
            RICCI_UNROLL
            for (int e = 0; e < 2 * halves; ++e)
                w[(t * halves + e / 2) * 8 + h + (q + e % 2 * 4) * ldw] = d[t][0].get(e) + d[t][1].get(e);
    } else {
        constexpr int count = K / 4;
        const int j = lane % 8, first = lane / 8;
        element sum[count];
        RICCI_UNROLL
        for (int e = 0; e < count; ++e) sum[e] = zero();
        const auto add = [&](int i, bool is_top) {
            const element x = c.get(i, j);
            RICCI_UNROLL
            for (int e = 0; e < count; ++e) add_product(sum[e], conjugate(v.at(i, first + 4 * e, is_top)), x);
        };
        int i = 0;
        for (; i < smaller_of(K, end); ++i) add(i, true);
        RICCI_UNROLL_4
        for (; i < end; ++i) add(i, false);
        RICCI_UNROLL
        for (int e = 0; e < count; ++e) w[first + 4 * e + j * ldw] = sum[e];
    }
}

/// Solves with the lower triangle l(t, c), c < t < K, in the strip w, by one warp: x(t) = scale(t) * (w(t) - sum of
/// l(t, c) x(c)); Scaled false: without the scale.
template <int K, bool Scaled, class L, class Scale>
RICCI_FUNCTION void solve_lower(const L& l, const Scale& scale, element* w, int ldw) {
    const int lane = static_cast<int>(threadIdx.x % 32), j = lane % 8;
    RICCI_UNROLL_ONCE
    for (int t0 = 0; t0 < K; t0 += 8) {
        element x[8];
        RICCI_UNROLL
        for (int t = 0; t < 8; ++t) x[t] = w[t0 + t + j * ldw];
        RICCI_UNROLL
        for (int c = 0; c < 8; ++c) {
            if constexpr (Scaled) x[c] = x[c] * scale(t0 + c);
            RICCI_UNROLL
            for (int t = c + 1; t < 8; ++t) subtract_product(x[t], l(t0 + t, t0 + c), x[c]);
        }
        __syncwarp();
        if (lane < 8) {
            RICCI_UNROLL
            for (int t = 0; t < 8; ++t) w[t0 + t + j * ldw] = x[t];
        }
        if constexpr (K > 8) {
            for (int t = t0 + 8 + lane / 8; t < K; t += 4) {
                element sum = w[t + j * ldw];
                RICCI_UNROLL
                for (int c = 0; c < 8; ++c) subtract_product(sum, l(t, t0 + c), x[c]);
                w[t + j * ldw] = sum;
            }
        }
        __syncwarp();
    }
}

/// What multiply_adjoint found becomes what the reflectors are multiplied by, by one warp. g: panel_results's.
template <int K>
RICCI_FUNCTION void solve_reflectors(const element* g, element* w, int ldw) {
    solve_lower<K, true>([&](int t, int k) { return g[t + k * K]; }, [&](int t) { return g[t + t * K]; }, w, ldw);
}

/// Which rows a panel's pivots moved, in shared memory: `to` and `from` count from the panel's first; to < 0:
/// nothing.
template <int K>
struct exchanges {
    alignas(16) int to[2 * K];
    alignas(16) int from[2 * K];
};

/// By one warp; what comes to the first K rows goes to w as well.
template <int K, class View>
RICCI_FUNCTION void exchange_rows(const exchanges<K>& rows_moved, const View& c) {
    const int lane = static_cast<int>(threadIdx.x % 32), j = lane % 8;
    constexpr int count = K / 2;
    element x[count];
    RICCI_UNROLL
    for (int e = 0; e < count; ++e) {
        const int at = lane / 8 * count + e;
        if (rows_moved.to[at] >= 0) x[e] = c.get(rows_moved.from[at], j);
    }
    __syncwarp();
    RICCI_UNROLL
    for (int e = 0; e < count; ++e) {
        const int at = lane / 8 * count + e;
        if (rows_moved.to[at] >= 0) c.put(rows_moved.to[at], j, x[e]);
    }
    __syncwarp();
}

/// By threads 0 ... 2K-1: the exchanges of `count` pivots.
template <int K, class Pivot>
RICCI_FUNCTION void write_exchanges(exchanges<K>& rows_moved, int thread, int count, const Pivot& pivot) {
    int row = thread;
    bool is_moved = thread < count;
    if (thread >= K) {
        is_moved = thread - K < count;
        row = is_moved ? pivot(thread - K) : 0;
        is_moved = is_moved && row >= count;
        RICCI_UNROLL_4
        for (int c = 0; c < K; ++c) // all, that no read waits for the one before
            if (c < thread - K && pivot(c) == row) is_moved = false;
    }
    const int from = is_moved ? source_of(row, count, pivot) : 0;
    rows_moved.to[thread] = is_moved && from != row ? row : -1;
    rows_moved.from[thread] = from;
}

/// Back substitution in a strip by one warp: u(i, k) is the upper triangle of n rows; the strip's rows are c's. w: 8
/// rows by 8 columns of scratch.
template <class U, class View>
RICCI_FUNCTION void solve_upper(int n, const U& u, const View& c, element* w, int ldw) {
    const int lane = static_cast<int>(threadIdx.x % 32), j = lane % 8;
    RICCI_UNROLL_ONCE
    for (int t0 = (n - 1) / 8 * 8; t0 >= 0; t0 -= 8) {
        element x[8];
        RICCI_UNROLL
        for (int t = 0; t < 8; ++t) x[t] = t0 + t < n ? c.get(t0 + t, j) : zero();
        RICCI_UNROLL
        for (int k = 7; k >= 0; --k)
            if (t0 + k < n) {
                x[k] = x[k] / u(t0 + k, t0 + k);
                RICCI_UNROLL
                for (int t = 0; t < k; ++t) subtract_product(x[t], u(t0 + t, t0 + k), x[k]);
            }
        __syncwarp();
        if (lane < 8) {
            RICCI_UNROLL
            for (int t = 0; t < 8; ++t) {
                w[t + j * ldw] = x[t];
                if (t0 + t < n) c.put(t0 + t, j, x[t]);
            }
        }
        __syncwarp();
        subtract_from_strip<8>(
            0, t0, [&](int i, int k) { return t0 + k < n ? u(i, t0 + k) : zero(); },
            [&](int k, int column) { return w[k + column * ldw]; }, c);
        __syncwarp();
    }
}

/// What a factored panel of K columns leaves for the strips, in shared memory.
template <int K>
struct panel_results {
    exchanges<K> rows_moved; ///< LU
    int pivots[K];           ///< LU, counted from the panel's first row
    element g[K * K];        ///< QR: below the diagonal v(i)^H v(k), on it conj(tau); Cholesky: on it 1/l(c, c)
};

/// A strip by one warp. begin: Cholesky: the strip's own first row, counted from the panel's, or -1 of right-hand
/// sides; LU: -1 left of the panel, where rows are exchanged only. height: rows from the panel's first on, a multiple
/// of 8. w: scratch of K by 8, QR's; the others solve in place.
template <int K>
RICCI_FUNCTION void update_near_strip(const element* factored, int ld, int height, const panel_results<K>& of,
                                      element* mine, int begin, element* w, int ldw) {
    const near_view c{mine, ld};
    const auto l = [&](int i, int k) { return factored[i + k * ld]; };
    const auto u = [&](int k, int j) { return mine[k + j * ld]; };
    if constexpr (method == cholesky_method) {
        if (begin >= 0) {
            subtract_from_strip<K>(
                begin, height, l, [&](int k, int j) { return conjugate(factored[begin + j + k * ld]); }, c);
        } else {
            solve_lower<K, true>(
                l, [&](int t) { return of.g[t + t * K]; }, mine, ld);
            subtract_from_strip<K>(K, height, l, u, c);
        }
    } else if constexpr (is_lu) {
        if constexpr (method == lu_method) exchange_rows<K>(of.rows_moved, c);
        if (begin < 0) return;
        solve_lower<K, false>(
            l, [](int) { return one(); }, mine, ld);
        subtract_from_strip<K>(K, height, l, u, c);
    } else {
        const reflectors v{factored, ld};
        multiply_adjoint<K>(v, height, c, w, ldw);
        __syncwarp();
        solve_reflectors<K>(of.g, w, ldw);
        const auto y = [&](int k, int j) { return w[k + j * ldw]; };
        subtract_from_strip<K>(
            0, K, [&](int i, int k) { return v.at(i, k, true); }, y, c);
        subtract_from_strip<K>(K, height, l, y, c);
    }
    __syncwarp();
}

/// The same of a strip in global memory, c being its part from the panel's first row on.
template <int K, class View>
RICCI_FUNCTION void update_far_strip(const element* factored, int ld, int height, const panel_results<K>& of,
                                     const View& c, int begin, element* w, int ldw) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const auto l = [&](int i, int k) { return factored[i + k * ld]; };
    const auto in_w = [&](int k, int j) { return w[k + j * ldw]; };
    if constexpr (method == cholesky_method) {
        if (begin >= 0) {
            subtract_from_strip<K>(
                begin, height, l, [&](int k, int j) { return conjugate(factored[begin + j + k * ld]); }, c);
            return;
        }
    }
    if constexpr (method == qr_method) {
        const reflectors v{factored, ld};
        multiply_adjoint<K>(v, height, c, w, ldw);
        __syncwarp();
        solve_reflectors<K>(of.g, w, ldw);
        subtract_from_strip<K>(
            0, height, [&](int i, int k) { return v.at(i, k, true); }, in_w, c);
    } else {
        if constexpr (method == lu_method) exchange_rows<K>(of.rows_moved, c);
        if (is_lu && begin < 0) return;
        for (int e = lane; e < K * strip; e += 32) w[e / strip + e % strip * ldw] = c.get(e / strip, e % strip);
        __syncwarp();
        solve_lower<K, method == cholesky_method>(
            l, [&](int t) { return of.g[t + t * K]; }, w, ldw);
        for (int e = lane; e < K * strip; e += 32) c.put(e / strip, e % strip, w[e / strip + e % strip * ldw]);
        subtract_from_strip<K>(K, height, l, in_w, c);
    }
    __syncwarp();
}

/// One more than the first c < n whose diagonal(c) is zero, or 0; by one warp.
template <class Diagonal>
RICCI_FUNCTION int first_zero(int n, const Diagonal& diagonal) {
    int first = n;
    for (int c = static_cast<int>(threadIdx.x % 32); c < n; c += 32)
        if (c < first && size_of_pivot(diagonal(c)) == 0) first = c;
    RICCI_UNROLL
    for (int lanes = 16; lanes > 0; lanes /= 2) first = smaller_of(first, __shfl_xor_sync(0xffffffffu, first, lanes));
    return first < n ? first + 1 : 0;
}
