// factor_lanes_qr_alone: the reflections of a matrix that one lane has: nothing is told.
#pragma once

#include "factor_lanes_qr_reflection.cuh"

/// Column K is reflected with those behind it, tau leaves, and so on. Returns whether a square was not safe.
template <int K = 0>
RICCI_FUNCTION bool reflect_alone(lane_columns& x, element* tau, const arguments& a) {
    if constexpr (K < reflectors) {
        constexpr int chains = column_slots - K == 1 ? 4 : column_slots - K <= 3 ? 2 : 1;
        element dot[chains][column_slots];
        RICCI_UNROLL
        for (int s = 0; s < chains; ++s) RICCI_UNROLL
        for (int c = K; c < column_slots; ++c) dot[s][c] = zero();
        RICCI_UNROLL
        for (int h = K + 1; h < m; ++h) RICCI_UNROLL
        for (int c = K; c < column_slots; ++c) add_dot(dot[h % chains][c], x[K][h], x[c][h]);
        RICCI_UNROLL
        for (int c = K; c < column_slots; ++c) RICCI_UNROLL
        for (int s = 1; s < chains; ++s) dot[0][c] += dot[s][c];
        const element alpha = x[K][K];
        const real below = real_of(dot[0][K]), square = squared(alpha) + below;
        const reflection<element> h_of(alpha, below, square);
        RICCI_UNROLL
        for (int c = K + 1; c < column_slots; ++c) {
            add_dot(dot[0][c], h_of.d, x[c][K]);
            const element g = h_of.e * dot[0][c];
            add_product(x[c][K], g, h_of.d);
            RICCI_UNROLL
            for (int h = K + 1; h < m; ++h) add_product(x[c][h], g, x[K][h]);
        }
        x[K][K] = h_of.is_identity ? alpha : h_of.beta;
        RICCI_UNROLL
        for (int h = K + 1; h < m; ++h) x[K][h] = x[K][h] * h_of.scale;
        if (has_taus && tau != nullptr) store_tau(tau, a, K, h_of.tau);
        const bool is_unsafe = !is_safe(square);
        return reflect_alone<K + 1>(x, tau, a) || is_unsafe;
    } else {
        if constexpr (reflectors < pivots)
            if (has_taus && tau != nullptr) store_tau(tau, a, reflectors, zero());
        return false;
    }
}
