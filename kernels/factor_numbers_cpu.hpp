// factor_numbers_cpu: vectors of numbers, real or as a vector of real and one of imaginary parts: of several
// matrices (factor_lanes_cpu), or of several rows (factor_block_cpu).
#pragma once

#include "factor_elements.hpp"
#include "simd.hpp"

// A function of its own, and one only: g++ makes others for arguments that it knows, and compiles twice as long.
#if defined(__clang__)
#define RICCI_APART static __attribute__((noinline))
#else
#define RICCI_APART static __attribute__((noinline, noclone))
#endif

constexpr int lanes = simd_lanes<real>, parts = is_complex ? 2 : 1, imaginary = parts - 1;
using vector = simd<real, lanes>;
template <int Bytes>
struct integer_of {
    using type = int;
};
template <>
struct integer_of<8> {
    using type = long long;
};
using integer = integer_of<sizeof(real)>::type;
/// Of whole numbers, and of what a comparison gives: -1 where it holds.
using indices = simd<integer, lanes>;

/// Registers for vectors.
#if defined(__AVX512F__) || defined(__aarch64__) || defined(__powerpc64__)
constexpr int vector_registers = 32;
#else
constexpr int vector_registers = 16;
#endif

// Reciprocals of smaller numbers would overflow; these are divided by after both were multiplied by `upwards`.
constexpr real smallest_divisor = sizeof(real) == 4 ? real(0x1p-125) : real(0x1p-1020);
constexpr real upwards = sizeof(real) == 4 ? real(0x1p60) : real(0x1p200);
// Sums of squares in between have lost nothing that counts.
constexpr real least_square = sizeof(real) == 4 ? real(1e-30) : real(1e-290);
constexpr real largest_square = sizeof(real) == 4 ? real(1e37) : real(1e300);
constexpr real no_number = __builtin_nan("");

RICCI_FUNCTION vector all_lanes(real x) { return vector{} + x; }
RICCI_FUNCTION vector chosen(indices where, vector yes, vector no) { return where ? yes : no; }
RICCI_FUNCTION indices chosen(indices where, indices yes, indices no) { return where ? yes : no; }
RICCI_FUNCTION indices is_less(vector a, vector b) { return reinterpret_cast<indices>(a < b); }
RICCI_FUNCTION indices is_equal(vector a, vector b) { return reinterpret_cast<indices>(a == b); }
RICCI_FUNCTION vector absolute(vector x) {
    constexpr integer sign = integer(1) << (8 * sizeof(real) - 1);
    return reinterpret_cast<vector>(reinterpret_cast<indices>(x) & ~sign);
}
/// |x| with the sign of `of`.
RICCI_FUNCTION vector with_sign(vector x, vector of) {
    constexpr integer sign = integer(1) << (8 * sizeof(real) - 1);
    return reinterpret_cast<vector>((reinterpret_cast<indices>(x) & ~sign) | (reinterpret_cast<indices>(of) & sign));
}
RICCI_FUNCTION vector larger(vector a, vector b) { return a > b ? a : b; }

RICCI_FUNCTION vector square_roots(vector x) {
#if defined(__AVX512F__) && !defined(__clang__)
    if constexpr (sizeof(vector) == 64 && sizeof(real) == 8)
        return reinterpret_cast<vector>(
            __builtin_ia32_sqrtpd512_mask(reinterpret_cast<simd<double, 8>>(x), simd<double, 8>{}, -1, 4));
    else if constexpr (sizeof(vector) == 64)
        return reinterpret_cast<vector>(
            __builtin_ia32_sqrtps512_mask(reinterpret_cast<simd<float, 16>>(x), simd<float, 16>{}, -1, 4));
    else
#endif
    {
        real x_of[lanes]; // both compilers make vectors of this loop where they know the number of its rounds
        store_whole<real, lanes>(x_of, x);
        for (int t = 0; t < lanes; ++t) x_of[t] = real_sqrt(x_of[t]);
        return load_whole<real, lanes>(x_of);
    }
}

template <int N>
RICCI_FUNCTION bool any_of_lanes(simd<integer, N> x) {
    if constexpr (N == 1)
        return x[0] != 0;
    else if constexpr (N * sizeof(integer) <= 16) {
        integer any = x[0];
        for_each_of<N - 1>([&](auto t) RICCI_INLINED { any |= x[t + 1]; });
        return any != 0;
    } else {
        struct upper {
            static constexpr int at(int t) { return N / 2 + t; }
        };
        return any_of_lanes<N / 2>(first_half<integer, N>(x) | shuffled<upper, integer, N / 2>(x, x));
    }
}
/// Whether a comparison held in any lane.
RICCI_FUNCTION bool any_of(indices x) { return any_of_lanes<lanes>(x); }

// ---- numbers ----

/// Real and imaginary parts `apart` from each other.
RICCI_FUNCTION void load_numbers(const real* p, long long apart, vector (&x)[parts]) {
    x[0] = load_whole<real, lanes>(p);
    if constexpr (is_complex) x[imaginary] = load_whole<real, lanes>(p + apart);
}
RICCI_FUNCTION void store_numbers(real* p, long long apart, const vector (&x)[parts]) {
    store_whole<real, lanes>(p, x[0]);
    if constexpr (is_complex) store_whole<real, lanes>(p + apart, x[imaginary]);
}
/// One number in all lanes.
RICCI_FUNCTION void repeat_number(const real* p, long long apart, vector (&x)[parts]) {
    x[0] = all_lanes(*p);
    if constexpr (is_complex) x[imaginary] = all_lanes(p[apart]);
}

/// c -= a*b, with the conjugates of a or b.
template <bool ConjugateA = false, bool ConjugateB = false>
RICCI_FUNCTION void subtract_product(vector (&c)[parts], const vector (&a)[parts], const vector (&b)[parts]) {
    c[0] -= a[0] * b[0];
    if constexpr (is_complex) {
        if constexpr (ConjugateA == ConjugateB)
            c[0] += a[imaginary] * b[imaginary];
        else
            c[0] -= a[imaginary] * b[imaginary];
        if constexpr (ConjugateB)
            c[imaginary] += a[0] * b[imaginary];
        else
            c[imaginary] -= a[0] * b[imaginary];
        if constexpr (ConjugateA)
            c[imaginary] += a[imaginary] * b[0];
        else
            c[imaginary] -= a[imaginary] * b[0];
    }
}
/// c += conjugate(a)*b.
RICCI_FUNCTION void add_conjugate_product(vector (&c)[parts], const vector (&a)[parts], const vector (&b)[parts]) {
    c[0] += a[0] * b[0];
    if constexpr (is_complex) {
        c[0] += a[imaginary] * b[imaginary];
        c[imaginary] += a[0] * b[imaginary];
        c[imaginary] -= a[imaginary] * b[0];
    }
}
/// x *= y, or its conjugate.
template <bool Conjugate = false>
RICCI_FUNCTION void multiply_by(vector (&x)[parts], const vector (&y)[parts]) {
    if constexpr (is_complex) {
        const vector re = x[0];
        const vector im = Conjugate ? -y[imaginary] : y[imaginary];
        x[0] = re * y[0] - x[imaginary] * im;
        x[imaginary] = re * im + x[imaginary] * y[0];
    } else
        x[0] *= y[0];
}
RICCI_FUNCTION void multiply_by_real(vector (&x)[parts], vector y) {
    for_each_of<parts>([&](auto p) RICCI_INLINED { x[p] *= y; });
}
/// |re| + |im|
RICCI_FUNCTION vector sizes_of_pivots(const vector (&x)[parts]) {
    if constexpr (is_complex)
        return absolute(x[0]) + absolute(x[imaginary]);
    else
        return absolute(x[0]);
}
RICCI_FUNCTION vector largest_parts(const vector (&x)[parts]) {
    if constexpr (is_complex)
        return larger(absolute(x[0]), absolute(x[imaginary]));
    else
        return absolute(x[0]);
}
/// 1/x, without squares that overflow; of parts below smallest_divisor it is not to be asked.
RICCI_FUNCTION void reciprocals(const vector (&x)[parts], vector (&out)[parts]) {
    if constexpr (is_complex) {
        const vector scale = 1 / largest_parts(x);
        const vector re = x[0] * scale, im = x[imaginary] * scale, factor = scale / (re * re + im * im);
        out[0] = re * factor, out[imaginary] = -im * factor;
    } else
        out[0] = 1 / x[0];
}
/// x /= y for any y but 0.
RICCI_FUNCTION void divide_by(vector (&x)[parts], const vector (&y)[parts]) {
    const vector up =
        chosen(is_less(largest_parts(y), all_lanes(smallest_divisor)), all_lanes(upwards), all_lanes(1));
    vector scaled[parts], one_over[parts];
    for_each_of<parts>([&](auto p) RICCI_INLINED { scaled[p] = y[p] * up, x[p] *= up; });
    reciprocals(scaled, one_over);
    multiply_by(x, one_over);
}
