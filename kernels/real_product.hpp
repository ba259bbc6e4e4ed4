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

/// What C holds, a real number or a vector of them, times beta.
template <class Arguments, class Numbers> RICCI_FUNCTION Numbers times_beta(const Arguments& a, Numbers old) {
    if constexpr (c_scaled) return old * static_cast<real>(a.beta[0]);
    else return old;
}

/// Whether vectors of the element are one load, perhaps widened.
template <class E> constexpr bool is_widened =
    parts == 1 && (is_same<real, float> ? is_narrow<E> : is_same<E, float>);
template <class E> constexpr bool loads_as_vector = is_same<E, compute> || is_widened<E>;
/// The first Count elements from p on as N real numbers, the others 0.
template <int N, int Count, class E> RICCI_FUNCTION simd<real, N> load_vector(const E* p) {
    if constexpr (is_narrow<E>) return load_widened<N, Count>(p);
    else if constexpr (is_same<E, compute>)
        return load_part<real, N, Count * parts>(reinterpret_cast<const real*>(p));
    else return __builtin_convertvector((load_part<E, N, Count>(p)), simd<real, N>);
}
/// Whether vectors of the element are one store, perhaps narrowed.
template <class E> constexpr bool stores_as_vector = is_same<E, compute> || (is_widened<E> && is_narrow<E>);
/// Of N real numbers, those of the first Count elements.
template <int N, int Count, class E> RICCI_FUNCTION void store_vector(E* p, simd<real, N> v) {
    if constexpr (is_narrow<E>) store_narrowed<N, Count>(p, v);
    else store_part<real, N, Count * parts>(reinterpret_cast<real*>(p), v);
}
