// factor_reciprocal: reciprocals of elements that are nowhere near the ends of the range, and opposites.
#pragma once

#include "factor_elements.hpp"
#include "ptx_roots.cuh"

template <class R>
RICCI_FUNCTION complex<R> negative(complex<R> x) {
    return {negative(x.re), negative(x.im)};
}

/// 1/x where that, and of complex numbers the square of |x|, is normal.
template <class R>
RICCI_FUNCTION R plain_reciprocal(R x) {
    return near_reciprocal(x);
}
template <class R>
RICCI_FUNCTION complex<R> plain_reciprocal(complex<R> x) {
    return scaled(conjugate(x), near_reciprocal(squared(x)));
}

/// By what, or its inverse, other numbers than those are multiplied first.
constexpr real reciprocal_scale = sizeof(real) == 8 ? (is_complex ? real(0x1p600) : real(0x1p100)) : real(0x1p100);
