// factor_elements: arithmetic of one real or complex element, which the kernels of factorizations and of solves with
// factors share.
#pragma once

#include "factor.hpp"

RICCI_FUNCTION element zero() { return from_real<element>(0, 0); }
RICCI_FUNCTION element one() { return from_real<element>(1, 0); }
RICCI_FUNCTION element not_a_number() {
    const double nan = static_cast<double>(float_of(0x7fc00000u));
    return from_real<element>(nan, nan);
}
/// log |det| and det/|det| where info is not 0.
RICCI_FUNCTION real log_of_failed() {
    return info_tells_of_singular ? static_cast<real>(float_of(0xff800000u)) : real_of(not_a_number());
}
RICCI_FUNCTION element sign_of_failed() { return info_tells_of_singular ? zero() : not_a_number(); }

template <class R> RICCI_FUNCTION bool is_zero(R x) { return x == 0; }
template <class R> RICCI_FUNCTION bool is_zero(complex<R> x) { return x.re == 0 && x.im == 0; }
template <class R> RICCI_FUNCTION R imaginary_of(R) { return 0; }
template <class R> RICCI_FUNCTION R imaginary_of(complex<R> x) { return x.im; }
template <class R> RICCI_FUNCTION R scaled(R x, R by) { return x * by; }
template <class R> RICCI_FUNCTION complex<R> scaled(complex<R> x, R by) { return {x.re * by, x.im * by}; }

#if RICCI_ON_GPU
RICCI_FUNCTION float multiply_add(float x, float y, float z) { return __fmaf_rn(x, y, z); }
RICCI_FUNCTION double multiply_add(double x, double y, double z) { return __fma_rn(x, y, z); }
RICCI_FUNCTION float real_log(float x) { return ::logf(x); }
RICCI_FUNCTION double real_log(double x) { return ::log(x); }
RICCI_FUNCTION float reciprocal_sqrt(float x) { return ::rsqrtf(x); }
RICCI_FUNCTION double reciprocal_sqrt(double x) { return ::rsqrt(x); }
#else
template <class R> RICCI_FUNCTION R multiply_add(R x, R y, R z) { return x * y + z; }
RICCI_FUNCTION float real_log(float x) { return __builtin_logf(x); }
RICCI_FUNCTION double real_log(double x) { return __builtin_log(x); }
RICCI_FUNCTION float reciprocal_sqrt(float x) { return 1 / __builtin_sqrtf(x); }
RICCI_FUNCTION double reciprocal_sqrt(double x) { return 1 / __builtin_sqrt(x); }
#endif

/// a*b. On a GPU it is not left to the compiler which of two products is rounded by itself: where a kernel has a quick
/// and a careful way, both come to the same bits.
template <class R> RICCI_FUNCTION R product_of(R a, R b) { return a * b; }
template <class R> RICCI_FUNCTION complex<R> product_of(complex<R> a, complex<R> b) {
    return {multiply_add(a.re, b.re, -(a.im * b.im)), multiply_add(a.re, b.im, a.im * b.re)};
}
/// |x|^2, in the same way.
template <class R> RICCI_FUNCTION R squared(R x) { return x * x; }
template <class R> RICCI_FUNCTION R squared(complex<R> x) { return multiply_add(x.re, x.re, x.im * x.im); }

/// difference -= a*b
template <class R> RICCI_FUNCTION void subtract_product(R& difference, R a, R b) { difference -= a * b; }
template <class R> RICCI_FUNCTION void subtract_product(complex<R>& difference, complex<R> a, complex<R> b) {
    difference.re -= a.re * b.re, difference.im -= a.re * b.im;
    difference.re += a.im * b.im, difference.im -= a.im * b.re;
}

/// Where the operand is there.
RICCI_FUNCTION void store_info(const arguments& a, long long at, long long info) {
    if constexpr (has_role[info_role])
        *operand_of<info_role>(a, at) = static_cast<typename role_element<info_role>::type>(info);
}
