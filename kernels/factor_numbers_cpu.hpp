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
#include "simd_choices.hpp"

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
