// scalar: the element types and the arithmetic of kernels, without any header of a library.
//
// A code is lowering::scalar_type's: 0 half, 1 bfloat16, 2 float, 3 double, 4 complex float, 5 complex double.
#pragma once

#include "ptx.cuh"

struct half { unsigned short bits; };
struct bfloat16 { unsigned short bits; };
template <class R> struct complex { R re, im; };

template <int Code> struct type_of;
template <> struct type_of<0> { using type = half; };
template <> struct type_of<1> { using type = bfloat16; };
template <> struct type_of<2> { using type = float; };
template <> struct type_of<3> { using type = double; };
template <> struct type_of<4> { using type = complex<float>; };
template <> struct type_of<5> { using type = complex<double>; };
template <> struct type_of<6> { using type = int; };
template <> struct type_of<7> { using type = long long; };
RICCI_FUNCTION constexpr bool is_index_code(int code) { return code == 6 || code == 7; }

template <class T> struct real_part { using type = T; static constexpr bool is_complex = false; };
template <class R> struct real_part<complex<R>> { using type = R; static constexpr bool is_complex = true; };

/// An array's length.
RICCI_FUNCTION constexpr int at_least_one(int n) { return n > 0 ? n : 1; }
RICCI_FUNCTION constexpr int smaller_of(int a, int b) { return a < b ? a : b; }
RICCI_FUNCTION constexpr int larger_of(int a, int b) { return a > b ? a : b; }
RICCI_FUNCTION constexpr int round_up(int n, int to) { return (n + to - 1) / to * to; }
RICCI_FUNCTION constexpr int power_of_two_within(int n) { return n < 2 ? 1 : 2 * power_of_two_within(n / 2); }

// ---- mathematics of a real type ----

#if RICCI_ON_GPU
RICCI_FUNCTION float real_exp(float x) { return ::expf(x); }
RICCI_FUNCTION double real_exp(double x) { return ::exp(x); }
RICCI_FUNCTION float real_sqrt(float x) { return ::sqrtf(x); }
RICCI_FUNCTION double real_sqrt(double x) { return ::sqrt(x); }
RICCI_FUNCTION float real_cos(float x) { return ::cosf(x); }
RICCI_FUNCTION double real_cos(double x) { return ::cos(x); }
RICCI_FUNCTION float real_sin(float x) { return ::sinf(x); }
RICCI_FUNCTION double real_sin(double x) { return ::sin(x); }
RICCI_FUNCTION float real_hypot(float x, float y) { return ::hypotf(x, y); }
RICCI_FUNCTION double real_hypot(double x, double y) { return ::hypot(x, y); }
RICCI_FUNCTION float real_abs(float x) { return ::fabsf(x); }
RICCI_FUNCTION double real_abs(double x) { return ::fabs(x); }
#else
RICCI_FUNCTION float real_exp(float x) { return __builtin_expf(x); }
RICCI_FUNCTION double real_exp(double x) { return __builtin_exp(x); }
RICCI_FUNCTION float real_sqrt(float x) { return __builtin_sqrtf(x); }
RICCI_FUNCTION double real_sqrt(double x) { return __builtin_sqrt(x); }
RICCI_FUNCTION float real_cos(float x) { return __builtin_cosf(x); }
RICCI_FUNCTION double real_cos(double x) { return __builtin_cos(x); }
RICCI_FUNCTION float real_sin(float x) { return __builtin_sinf(x); }
RICCI_FUNCTION double real_sin(double x) { return __builtin_sin(x); }
RICCI_FUNCTION float real_hypot(float x, float y) { return __builtin_hypotf(x, y); }
RICCI_FUNCTION double real_hypot(double x, double y) { return __builtin_hypot(x, y); }
RICCI_FUNCTION float real_abs(float x) { return __builtin_fabsf(x); }
RICCI_FUNCTION double real_abs(double x) { return __builtin_fabs(x); }
#endif

// ---- arithmetic: real types use their own operators ----

template <class R>
RICCI_FUNCTION complex<R> operator+(complex<R> a, complex<R> b) {
    return {a.re + b.re, a.im + b.im};
}
template <class R>
RICCI_FUNCTION complex<R> operator-(complex<R> a, complex<R> b) {
    return {a.re - b.re, a.im - b.im};
}
template <class R> RICCI_FUNCTION complex<R> operator-(complex<R> a) { return {-a.re, -a.im}; }
template <class R> RICCI_FUNCTION complex<R> operator*(complex<R> a, complex<R> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class R> RICCI_FUNCTION complex<R>& operator+=(complex<R>& a, complex<R> b) { return a = a + b; }

/// Two additions: others may see the one before the other.
template <class R> RICCI_FUNCTION void add_atomically(complex<R>* global, complex<R> value) {
    add_atomically(&global->re, value.re);
    add_atomically(&global->im, value.im);
}

/// sum += a*b, in four multiply-adds where the numbers are complex.
template <class R> RICCI_FUNCTION void add_product(R& sum, R a, R b) { sum += a * b; }
template <class R> RICCI_FUNCTION void add_product(complex<R>& sum, complex<R> a, complex<R> b) {
    sum.re += a.re * b.re, sum.im += a.re * b.im;
    sum.re -= a.im * b.im, sum.im += a.im * b.re;
}

/// Smith's algorithm: no overflow in |b|^2.
template <class R> RICCI_FUNCTION complex<R> operator/(complex<R> a, complex<R> b) {
    if (b.im == 0) return {a.re / b.re, a.im / b.re};
    if (real_abs(b.re) >= real_abs(b.im)) {
        const R r = b.im / b.re, d = b.re + b.im * r;
        return {(a.re + a.im * r) / d, (a.im - a.re * r) / d};
    }
    const R r = b.re / b.im, d = b.re * r + b.im;
    return {(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}

template <class T> RICCI_FUNCTION T from_real(double re, double im) {
    using real = typename real_part<T>::type;
    if constexpr (real_part<T>::is_complex) return {static_cast<real>(re), static_cast<real>(im)};
    else return static_cast<real>(re);
}

template <class T> RICCI_FUNCTION T conjugate(T x) {
    if constexpr (real_part<T>::is_complex) return {x.re, -x.im};
    else return x;
}

template <class T> RICCI_FUNCTION bool is_finite(T x) {
    if constexpr (real_part<T>::is_complex) return x.re - x.re == 0 && x.im - x.im == 0;
    else return x - x == 0;
}

template <class T> RICCI_FUNCTION auto real_of(T x) {
    if constexpr (real_part<T>::is_complex) return x.re;
    else return x;
}

// relu, min and max are for real values; in a complex statement those have an imaginary part of 0. NaN passes
// through.
template <class T> RICCI_FUNCTION T function_relu(T x) { return real_of(x) < 0 ? from_real<T>(0, 0) : x; }
template <class T> RICCI_FUNCTION T function_min(T x, T y) {
    const auto a = real_of(x), b = real_of(y);
    return a != a ? x : b != b ? y : b < a ? y : x;
}
template <class T> RICCI_FUNCTION T function_max(T x, T y) {
    const auto a = real_of(x), b = real_of(y);
    return a != a ? x : b != b ? y : a < b ? y : x;
}
template <class T> RICCI_FUNCTION T function_abs(T x) {
    if constexpr (real_part<T>::is_complex) return {real_hypot(x.re, x.im), 0};
    else return real_abs(x);
}
template <class T> RICCI_FUNCTION T function_exp(T x) {
    if constexpr (real_part<T>::is_complex) {
        const auto r = real_exp(x.re);
        if (x.im == 0) return {r, x.im}; // not infinity times zero
        const auto c = real_cos(x.im), s = real_sin(x.im);
        if (r - r == 0) return {r * c, r * s};
        const auto half_way = real_exp(x.re / 2); // where only the modulus is too large
        return {half_way * c * half_way, half_way * s * half_way};
    } else {
        return real_exp(x);
    }
}
template <class T> RICCI_FUNCTION T function_sqrt(T x) {
    if constexpr (real_part<T>::is_complex) {
        using real = typename real_part<T>::type;
        if (x.re == 0 && x.im == 0) return {0, x.im};
        if (x.im - x.im != 0 && x.im == x.im) return {real_abs(x.im), x.im}; // infinite, whatever the real part
        // Powers of 4 keep |re| + |x| from overflowing, and from losing the digits that subnormal numbers lack.
        constexpr bool is_float = sizeof(real) == 4;
        constexpr real large = is_float ? 0x1p124 : 0x1p1020, small = is_float ? 0x1p-100 : 0x1p-900;
        const real largest = real_abs(x.re) > real_abs(x.im) ? real_abs(x.re) : real_abs(x.im);
        const real scale = largest > large ? real(0.25) : largest < small ? real(0x1p60) : real(1);
        const real back = largest > large ? real(2) : largest < small ? real(0x1p-30) : real(1);
        const real re = x.re * scale, im = x.im * scale;
        const real t = real_sqrt((real_abs(re) + real_hypot(re, im)) / 2);
        if (re >= 0) return {back * t, back * (im / (2 * t))};
        // the cut is approached from the side of the zero's sign
        const bool below = im < 0 || (im == 0 && 1 / im < 0);
        return {back * (real_abs(im) / (2 * t)), below ? -back * t : back * t};
    } else {
        return real_sqrt(x);
    }
}
template <class T> RICCI_FUNCTION T function_reciprocal(T x) { return from_real<T>(1, 0) / x; }

// ---- conversions between elements and the compute type ----

RICCI_FUNCTION float widen(half x) { return float_from_half(x.bits); }
RICCI_FUNCTION float widen(bfloat16 x) { return float_of(static_cast<unsigned>(x.bits) << 16); }
RICCI_FUNCTION float widen(float x) { return x; }
RICCI_FUNCTION double widen(double x) { return x; }

template <class To, class From> RICCI_FUNCTION To load_as(From x) {
    using real = typename real_part<To>::type;
    if constexpr (real_part<From>::is_complex) {
        if constexpr (real_part<To>::is_complex) return {static_cast<real>(x.re), static_cast<real>(x.im)};
        else return static_cast<real>(x.re);
    } else {
        if constexpr (real_part<To>::is_complex) return {static_cast<real>(widen(x)), 0};
        else return static_cast<real>(widen(x));
    }
}

/// double -> float by rounding to odd, after which a second rounding to fewer bits is as if there had been one.
RICCI_FUNCTION float round_to_odd(double x) {
    const float f = static_cast<float>(x);
    if (f == x || x != x) return f;
    unsigned bits = bits_of(f);
    if ((f < 0 ? -static_cast<double>(f) : f) > (x < 0 ? -x : x)) --bits; // towards zero
    return float_of(bits | 1u);
}
RICCI_FUNCTION float round_to_odd(float x) { return x; }

RICCI_FUNCTION void narrow(float value, half& out) { out.bits = half_from_float(value); }
RICCI_FUNCTION void narrow(float value, bfloat16& out) { out.bits = bfloat16_from_float(value); }

template <class To, class From> RICCI_FUNCTION To store_as(From x) {
    if constexpr (real_part<To>::is_complex) {
        using real = typename real_part<To>::type;
        if constexpr (real_part<From>::is_complex) return {static_cast<real>(x.re), static_cast<real>(x.im)};
        else return {static_cast<real>(x), 0};
    } else {
        const auto value = real_of(x);
        if constexpr (sizeof(To) == 2) {
            To out;
            narrow(round_to_odd(value), out);
            return out;
        } else {
            return static_cast<To>(value);
        }
    }
}
