// factor_lanes_qr_scaled: the slow way, for matrices with columns whose squares are too large or too small: LAPACK's
// own order of operations in shared memory, each column divided by its largest element before its norm is taken.
// Also of columns that are zero, or hold NaN.
#pragma once

#include "factor_lanes_qr_ahead.cuh"
#include "factor_lanes_qr_alone.cuh"

/// What can be divided by.
constexpr real least_scale = sizeof(real) == 4 ? real(0x1p-124) : real(0x1p-1000);

template <class R>
RICCI_FUNCTION R largest_part(R x) {
    return real_abs(x);
}
template <class R>
RICCI_FUNCTION R largest_part(complex<R> x) {
    return real_abs(x.re) > real_abs(x.im) ? real_abs(x.re) : real_abs(x.im);
}

/// By all lanes of a matrix; works: it has to be done for this one, others look on.
RICCI_FUNCTION void factor_scaled(element* matrix, element* right, element* tau, const arguments& a, int lane,
                                  bool works) {
    const auto at = [&](int i, int j) -> element& {
        return j < n ? matrix[offset_in_shared(i, j)] : right[i + (j - n) * padded_rows];
    };
    if constexpr (conjugated) {
        RICCI_UNROLL_ONCE
        for (int e = lane; works && e < m * n; e += lanes_at_work) at(e % m, e / m) = as_meant(at(e % m, e / m));
    }
    if constexpr (sides > 0 && !has_role[given_role]) {
        RICCI_UNROLL_ONCE
        for (int e = lane; works && e < m * sides; e += lanes_at_work)
            at(e % m, n + e / m) = from_real<element>(e % m == e / m, 0);
    }
    meet();
    RICCI_UNROLL_ONCE
    for (int k = 0; k < pivots; ++k) {
        const element head = works ? at(k, k) : zero();
        real largest = largest_part(head), below = 0;
        RICCI_UNROLL_ONCE
        for (int i = k + 1; works && i < m; ++i)
            if (const real size = largest_part(at(i, k)); size > largest) largest = size;
        if (!(largest > least_scale)) largest = least_scale;
        const real factor = 1 / largest;
        RICCI_UNROLL_ONCE
        for (int i = k + 1; works && i < m; ++i) below += squared(scaled(at(i, k), factor));
        const element alpha = scaled(head, factor);
        reflection<element> h(alpha, below, squared(alpha) + below);
        h.beta = h.is_identity ? head : scaled(h.beta, largest);
        meet(); // the column was read by all
        RICCI_UNROLL_ONCE
        for (int i = k + lane; works && i < m; i += lanes_at_work)
            at(i, k) = i == k ? h.beta : scaled(at(i, k), factor) * h.scale;
        if (has_taus && works && lane == 0) store_tau(tau, a, k, h.tau);
        meet();
        RICCI_UNROLL_ONCE
        for (int j = k + 1 + lane; works && j < all_columns; j += lanes_at_work) {
            element sum = at(k, j);
            RICCI_UNROLL_ONCE
            for (int i = k + 1; i < m; ++i) add_dot(sum, at(i, k), at(i, j));
            sum = -(conjugate(h.tau) * sum);
            at(k, j) += sum;
            RICCI_UNROLL_ONCE
            for (int i = k + 1; i < m; ++i) add_product(at(i, j), at(i, k), sum);
        }
        meet();
    }
    if constexpr (conjugated) {
        RICCI_UNROLL_ONCE
        for (int e = lane; works && e < m * n; e += lanes_at_work) at(e % m, e / m) = as_meant(at(e % m, e / m));
        meet();
    }
}
