// factor_block_parts: what the kernels that give a block to a matrix share: matrices in shared and in global memory,
// strips of eight columns, shuffles of elements, and the reflector of one column.
#pragma once

#include "factor_reciprocal.cuh"
#include "factor_shuffles.cuh"

constexpr int warps = threads_per_block / 32;
constexpr int strip = 8; ///< columns that a warp updates at a time, and that are factored at a time
constexpr bool doubles = sizeof(real) == 8;

/// Of columns in shared memory that begin on multiples of 8 rows: then the lanes of a product of the tensor cores, 8
/// rows by 4 columns, or 4 by 8, lie on different banks; of c128 only the first.
RICCI_FUNCTION constexpr int leading_dimension(int padded_rows) {
    return padded_rows + (sizeof(element) == 16 ? 2 : 4);
}

template <class R>
RICCI_FUNCTION R modulus_of(R x) {
    return real_abs(x);
}
template <class R>
RICCI_FUNCTION R modulus_of(complex<R> x) {
    return real_hypot(x.re, x.im);
}
template <class T, class R>
RICCI_FUNCTION T of_parts(R re, R im) {
    if constexpr (real_part<T>::is_complex)
        return {re, im};
    else
        return re;
}

/// The upper bits of size_of_pivot, of real numbers by the integer units.
template <class R>
RICCI_FUNCTION unsigned size_bits(R x) {
    return upper_bits(x) & 0x7fffffffu;
}
template <class R>
RICCI_FUNCTION unsigned size_bits(complex<R> x) {
    return upper_bits(with_sign_of(x.re, R(1)) + with_sign_of(x.im, R(1)));
}
/// 2^-Exponent <= x < 2^Exponent, of the upper bits of x.
template <int Exponent>
RICCI_FUNCTION bool is_within(unsigned bits) {
    constexpr unsigned middle = doubles ? 1023 : 127, shift = doubles ? 20 : 23;
    return bits - ((middle - Exponent) << shift) < unsigned(2 * Exponent) << shift;
}
/// Sizes whose squares, of complex numbers, and reciprocals are normal.
RICCI_FUNCTION bool has_plain_reciprocal(element x) {
    return is_within<is_complex ? (doubles ? 500 : 60) : (doubles ? 1021 : 125)>(size_bits(x));
}
/// 1/sqrt(x) of any x.
RICCI_FUNCTION real inverse_root(real x) {
    return is_within<(doubles ? 1021 : 125)>(upper_bits(x)) ? near_reciprocal_root(x) : reciprocal_sqrt(x);
}

/// Columns in shared memory (or in a column-major workspace), padded to whole tiles.
struct near_view {
    element* p;
    int ld;
    RICCI_FUNCTION element get(int i, int j) const { return p[i + j * ld]; }
    RICCI_FUNCTION void put(int i, int j, element x) const { p[i + j * ld] = x; }
    RICCI_FUNCTION near_view at(int i, int j) const { return {p + i + j * ld, ld}; }
};

/// A matrix in global memory: zero outside. Conjugated: of what is there; Lower: the upper triangle is not touched.
template <bool Conjugated, bool Lower>
struct far_view {
    element* p;
    long long along, across;
    int height, width; ///< from p
    int below = 0;     ///< rows from p's to the diagonal's, less columns
    RICCI_FUNCTION bool has(int i, int j) const { return i < height && j < width && (!Lower || i + below >= j); }
    RICCI_FUNCTION element get(int i, int j) const {
        if (!has(i, j)) return zero();
        const element x = p[i * along + j * across];
        return Conjugated ? conjugate(x) : x;
    }
    RICCI_FUNCTION void put(int i, int j, element x) const {
        if (has(i, j)) p[i * along + j * across] = Conjugated ? conjugate(x) : x;
    }
    RICCI_FUNCTION far_view at(int i, int j) const {
        return {p + i * along + j * across, along, across, height - i, width - j, below + i - j};
    }
};

// ---- Householder reflectors ----

/// Between these a sum of squares has lost nothing to underflow that matters, and so have products with other
/// columns.
constexpr real least_squares_sum = doubles ? static_cast<real>(1e-200) : static_cast<real>(1e-20f),
               largest_squares_sum = doubles ? static_cast<real>(1e200) : static_cast<real>(1e30f);

/// H^H (alpha, x) = (beta, 0), H = 1 - tau v v^H, v = (1, inverse x): larfg.
struct reflector {
    element tau, inverse;
    real beta;
};
/// x must not be zero, or alpha not be real; the sum of squares must be in the safe range, or no number.
template <class R>
RICCI_FUNCTION reflector reflector_of(R alpha, R squares) {
    const R all = alpha * alpha + squares, inverse = near_reciprocal_root(all),
            beta = -with_sign_of(all * inverse, alpha);
    return {1 + with_sign_of(alpha, R(1)) * inverse, near_reciprocal(alpha - beta), beta};
}
template <class R>
RICCI_FUNCTION reflector reflector_of(complex<R> alpha, R squares) {
    const R all = squared(alpha) + squares, inverse = near_reciprocal_root(all);
    const R by = -with_sign_of(inverse, alpha.re), beta = all * by;
    const complex<R> difference{alpha.re - beta, alpha.im};
    return {{1 - alpha.re * by, -alpha.im * by},
            scaled(conjugate(difference), near_reciprocal(squared(difference))),
            beta};
}
/// By what a column is multiplied whose plain sum of squares left the safe range; largest: of |re| + |im|.
RICCI_FUNCTION real shrinking(real largest) {
    const real least = doubles ? static_cast<real>(0x1p-1000) : static_cast<real>(0x1p-120f);
    return 1 / (largest > least ? largest : least);
}

// ---- what leaves beside the factors ----

template <class I>
RICCI_FUNCTION void write_pivot(const arguments& a, long long at, int c, I row) {
    if constexpr (has_role[vector_role] && method == lu_method)
        operand_of<vector_role>(a, at)[offset_of<vector_role>(a, c, 0)] =
            static_cast<typename role_element<vector_role>::type>(row);
}
template <class T>
RICCI_FUNCTION void write_tau(const arguments& a, long long at, int c, T tau) {
    if constexpr (has_role[vector_role] && method == qr_method)
        operand_of<vector_role>(a, at)[offset_of<vector_role>(a, c, 0)] = as_meant(tau);
}

/// log |det| and det/|det|, by one warp, of the diagonal of n factors. The sum is in double: products of pivots near
/// the ends of a type's range are none.
template <class Diagonal>
RICCI_FUNCTION void write_determinant(const arguments& a, long long at, int n, int info, bool is_odd,
                                      const Diagonal& diagonal) {
    if constexpr (has_role[log_abs_role] || has_role[sign_role]) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        double sum = 0;
        element sign = one();
        for (int c = lane; c < n; c += 32) {
            const element d = diagonal(c);
            const real size = modulus_of(d);
            sum += static_cast<double>(real_log(size));
            if (method != cholesky_method) sign = sign * of_parts<element>(real_of(d) / size, imaginary_of(d) / size);
        }
        RICCI_UNROLL
        for (int lanes = 16; lanes > 0; lanes /= 2) {
            sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
            sign = sign * shuffle_xor(sign, lanes);
        }
        if (method == cholesky_method) sum *= 2;
        if (is_odd) sign = -sign;
        if (info != 0) sum = static_cast<double>(log_of_failed()), sign = sign_of_failed();
        if (lane == 0) {
            if constexpr (has_role[log_abs_role]) *operand_of<log_abs_role>(a, at) = static_cast<real>(sum);
            if constexpr (has_role[sign_role]) *operand_of<sign_role>(a, at) = sign;
        }
    }
}

// ---- pivots ----

// Sizes as unsigned integers are in the same order, and NaN, which is above all, is equal to itself: all lanes find
// the same.
template <class R>
struct key_of_size;
template <>
struct key_of_size<float> {
    using type = unsigned;
};
template <>
struct key_of_size<double> {
    using type = unsigned long long;
};
using pivot_key = key_of_size<real>::type;
RICCI_FUNCTION pivot_key key_of(element x) {
    const real size = size_of_pivot(x);
    pivot_key key;
#if RICCI_ON_GPU
    if constexpr (doubles)
        key = static_cast<pivot_key>(__double_as_longlong(size));
    else
        key = static_cast<pivot_key>(__float_as_uint(static_cast<float>(size)));
#else
    __builtin_memcpy(&key, &size, sizeof(key));
#endif
    return key;
}
/// The lower half of a pivot's size, of which key_of's sign is no part.
RICCI_FUNCTION unsigned low_size_bits(element x) {
    if constexpr (is_complex || !doubles) return static_cast<unsigned>(key_of(x));
#if RICCI_ON_GPU
    return static_cast<unsigned>(__double_as_longlong(static_cast<double>(real_of(x))));
#else
    return static_cast<unsigned>(key_of(x));
#endif
}
/// Multiplying by the reciprocal of a smaller pivot could overflow.
RICCI_FUNCTION bool has_reciprocal(element pivot) {
    return size_of_pivot(pivot) >= (doubles ? static_cast<real>(0x1p-1021) : static_cast<real>(0x1p-125f));
}

/// By which a pivot and its column are multiplied first, then.
constexpr real reciprocal_growth = doubles ? static_cast<real>(0x1p60) : static_cast<real>(0x1p30f);

/// Where a row comes from that stands at `row` after the exchanges of rows 0 ... count-1 with those at pivot[c].
template <class Pivot>
RICCI_FUNCTION int source_of(int row, int count, const Pivot& pivot) {
    for (int c = count - 1; c >= 0; --c) {
        const int other = pivot(c);
        row = row == c ? other : row == other ? c : row;
    }
    return row;
}
