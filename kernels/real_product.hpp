// real_product: what a CPU's kernels for products take a number for: a real one, or the two parts of a complex one.
#pragma once

#include "product.hpp"
#include "simd_halves.hpp"

using real = real_part<compute>::type;
constexpr int parts = real_part<compute>::is_complex ? 2 : 1;

/// A number as one real number or two.
template <class T> RICCI_FUNCTION void set_parts(real* to, T value) {
    if constexpr (real_part<T>::is_complex) to[0] = value.re, to[1] = value.im;
    else to[0] = value;
}
template <class T> RICCI_FUNCTION T from_parts(const real* p) {
    if constexpr (real_part<T>::is_complex) return {p[0], p[1]};
    else return p[0];
}
