// factor_block_q: Q of a panel's reflectors times right-hand sides, and what comes before it where the smallest
// solution is wanted: R^-H times them.
#pragma once

#include "factor_block_strips.cuh"

/// The inner products of K reflectors below g's diagonal; by all warps.
template <int K>
RICCI_FUNCTION void multiply_reflectors(const reflectors& v, int height, panel_results<K>& out) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    RICCI_UNROLL_ONCE
    for (int e = static_cast<int>(threadIdx.x) / 32; e < K * K; e += warps) {
        const int i = e % K, k = e / K;
        if (i <= k) continue;
        element sum = zero();
        for (int t = i + lane; t < height; t += 32) add_product(sum, conjugate(v.at(t, i, true)), v.at(t, k, true));
        RICCI_UNROLL
        for (int lanes = 16; lanes > 0; lanes /= 2) sum = sum + shuffle_xor(sum, lanes);
        if (lane == 0) out.g[e] = sum;
    }
}

/// w = T w of a panel's reflectors, by one warp: T^-1 is upper, 1/tau on its diagonal and g's adjoint beside it.
template <int K>
RICCI_FUNCTION void multiply_by_triangle(const panel_results<K>& of, element* w, int ldw) {
    const int lane = static_cast<int>(threadIdx.x % 32), j = lane % 8;
    const auto u = [&](int i, int k) { return conjugate(of.g[k + i * K]); };
    RICCI_UNROLL_ONCE
    for (int t0 = K - 8; t0 >= 0; t0 -= 8) {
        element x[8];
        RICCI_UNROLL
        for (int t = 0; t < 8; ++t) x[t] = w[t0 + t + j * ldw];
        RICCI_UNROLL
        for (int c = 7; c >= 0; --c) {
            x[c] = x[c] * u(t0 + c, t0 + c);
            RICCI_UNROLL
            for (int t = 0; t < c; ++t) subtract_product(x[t], u(t0 + t, t0 + c), x[c]);
        }
        __syncwarp();
        if (lane < 8) {
            RICCI_UNROLL
            for (int t = 0; t < 8; ++t) w[t0 + t + j * ldw] = x[t];
        }
        if constexpr (K > 8) {
            for (int t = lane / 8; t < t0; t += 4) {
                element sum = w[t + j * ldw];
                RICCI_UNROLL
                for (int c = 0; c < 8; ++c) subtract_product(sum, u(t, t0 + c), x[c]);
                w[t + j * ldw] = sum;
            }
        }
        __syncwarp();
    }
}

/// A strip c, from the panel's first row on, becomes (I - V T V^H) c; by one warp. w: scratch of K by 8.
template <int K, class View>
RICCI_FUNCTION void multiply_by_q(const reflectors& v, int height, const panel_results<K>& of, const View& c,
                                  element* w, int ldw) {
    multiply_adjoint<K>(v, height, c, w, ldw);
    __syncwarp();
    multiply_by_triangle<K>(of, w, ldw);
    subtract_from_strip<K>(
        0, height, [&](int i, int k) { return v.at(i, k, true); },
        [&](int k, int j) { return w[k + j * ldw]; }, c);
    __syncwarp();
}

/// Forward substitution in a strip by one warp: l(i, k) is the lower triangle of n rows; rows behind them, to a
/// multiple of 8, are zero. w: 8 rows by 8 columns of scratch.
template <class L, class View>
RICCI_FUNCTION void solve_lower_rows(int n, const L& l, const View& c, element* w, int ldw) {
    const int lane = static_cast<int>(threadIdx.x % 32), j = lane % 8;
    RICCI_UNROLL_ONCE
    for (int t0 = 0; t0 < n; t0 += 8) {
        element x[8];
        RICCI_UNROLL
        for (int t = 0; t < 8; ++t) x[t] = t0 + t < n ? c.get(t0 + t, j) : zero();
        RICCI_UNROLL
        for (int k = 0; k < 8; ++k)
            if (t0 + k < n) {
                x[k] = x[k] / l(t0 + k, t0 + k);
                RICCI_UNROLL
                for (int t = k + 1; t < 8; ++t)
                    if (t0 + t < n) subtract_product(x[t], l(t0 + t, t0 + k), x[k]);
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
            t0 + 8, round_up(n, 8), [&](int i, int k) { return i < n && t0 + k < n ? l(i, t0 + k) : zero(); },
            [&](int k, int column) { return w[k + column * ldw]; }, c);
        __syncwarp();
    }
}
