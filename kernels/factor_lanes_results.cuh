// factor_lanes_results: what the kernels of small factorizations write besides factors and solutions, and numbers
// that both kinds of them need.
#pragma once

#include "factor_elements.hpp"
#include "factor_slab.cuh"
#include "ptx_roots.cuh"

static_assert(rows != argument && columns != argument, "rows lie in registers");
constexpr int m = static_cast<int>(rows), n = static_cast<int>(columns), pivots = m < n ? m : n;
constexpr bool is_cholesky = method == cholesky_method, exchanges = method == lu_method;
constexpr bool has_determinant = has_role[log_abs_role] || has_role[sign_role];
/// Bytes of the positions of a block's pivots, which leave together so that neighbors do.
constexpr int pivot_bytes = exchanges ? (matrices_of_block * pivots * 4 + 15) / 16 * 16 : 0;
static_assert(is_cholesky || is_lu);

/// x - y*z.
RICCI_FUNCTION element without_product(element x, element y, element z) {
    add_product(x, -y, z);
    return x;
}

RICCI_FUNCTION unsigned lower_bits(float) { return 0; }
RICCI_FUNCTION unsigned lower_bits(double x) {
#if RICCI_ON_GPU
    return static_cast<unsigned>(__double2loint(x));
#else
    unsigned long long bits;
    __builtin_memcpy(&bits, &x, 8);
    return static_cast<unsigned>(bits);
#endif
}
/// Of size_of_pivot, whose bits order as it does.
template <class T>
RICCI_FUNCTION unsigned upper_of_size(T x) {
    if constexpr (real_part<T>::is_complex)
        return upper_bits(size_of_pivot(x));
    else
        return upper_bits(x) & 0x7fffffffu;
}
template <class T>
RICCI_FUNCTION unsigned lower_of_size(T x) {
    if constexpr (real_part<T>::is_complex)
        return lower_bits(size_of_pivot(x));
    else
        return lower_bits(x);
}

/// 1/pivot as a factor and a power of 2: the reciprocal of the smallest numbers overflows. By zero nothing is
/// divided.
struct pivot_inverse {
    element factor;
    bool is_small;
    static constexpr real scale = sizeof(real) == 8 ? real(0x1p100) : real(0x1p60);

    RICCI_FUNCTION explicit pivot_inverse(element pivot) {
        is_small = upper_of_size(pivot) < (sizeof(real) == 8 ? 0x00300000u : 0x01800000u);
        if (is_small) {
            as_if_new(0); // a branch, where else both ways were computed
            pivot = is_zero(pivot) ? from_real<element>(scale, 0) : scaled(pivot, scale);
        }
        factor = from_real<element>(1, 0) / pivot;
    }
    /// Of x with what another's `factor` and `is_small` were.
    static RICCI_FUNCTION element product(element x, element factor, bool is_small) {
        const element unscaled = product_of(x, factor);
        return is_small ? scaled(unscaled, scale) : unscaled;
    }
    /// The same by a branch.
    RICCI_FUNCTION element times(element x) const {
        element product = product_of(x, factor);
        if (is_small) {
            as_if_new(0);
            product = scaled(product, scale);
        }
        return product;
    }
};

/// log |det| and det/|det| as they come together.
struct determinant {
    real log_abs = 0;
    element sign = from_real<element>(1, 0);

    template <class T>
    RICCI_FUNCTION void take(T pivot) {
        if constexpr (real_part<T>::is_complex) {
            const real size = real_hypot(pivot.re, pivot.im);
            log_abs += real_log(size);
            sign = sign * T{pivot.re / size, pivot.im / size};
        } else {
            log_abs += real_log(real_abs(pivot));
            if (pivot < 0) sign = -sign;
        }
    }
    /// With info; of Cholesky from its factor's diagonal.
    RICCI_FUNCTION void store(const arguments& a, long long at, int info, bool is_odd) const {
        real log_of_all = is_cholesky ? 2 * log_abs : log_abs;
        element sign_of_all = is_cholesky ? from_real<element>(1, 0) : is_odd ? -sign : sign;
        if (info != 0) log_of_all = log_of_failed(), sign_of_all = sign_of_failed();
        if constexpr (has_role[log_abs_role]) *operand_of<log_abs_role>(a, at) = log_of_all;
        if constexpr (has_role[sign_role]) *operand_of<sign_role>(a, at) = sign_of_all;
    }
};

/// By the whole block, behind a barrier: from [matrix][pivot] in shared memory.
RICCI_FUNCTION void store_pivots(const arguments& a, const int* positions, block_share share) {
    if constexpr (exchanges && has_role[vector_role]) {
        RICCI_UNROLL_2
        for (int e = threadIdx.x; e < share.count * pivots; e += threads_per_block)
            operand_of<vector_role>(a, share.first + e / pivots)[offset_of<vector_role>(a, e % pivots, 0)] =
                static_cast<typename role_element<vector_role>::type>(positions[e]);
    }
}

RICCI_FUNCTION long long sides_of(const arguments& a) { return right_sides == argument ? a.side_count : right_sides; }

/// Element (i, j) of the right-hand sides.
RICCI_FUNCTION element given_side(const arguments& a, long long at, long long i, long long j) {
    if constexpr (has_role[given_role])
        return operand_of<given_role>(a, at)[offset_of<given_role>(a, i, j)];
    else
        return from_real<element>(i == j ? 1 : 0, 0);
}
