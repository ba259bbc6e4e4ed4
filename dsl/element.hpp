// element: the C++ types of tensors' elements, and the scalars that may stand in an expression.
#pragma once

#include "lowering/scalar_type.hpp"
#include "lowering/statement.hpp"
#include "runtime/half.hpp"

#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace ricci::dsl {

using lowering::scalar_type;

template <class T>
struct element_traits {
    static constexpr bool valid = false, is_index = false;
    static constexpr scalar_type type = scalar_type::f32; // so that the refusal of T is the only error
};
template <scalar_type Type>
struct valid_element {
    static constexpr bool valid = true, is_index = false;
    static constexpr scalar_type type = Type;
};
template <>
struct element_traits<half> : valid_element<scalar_type::f16> {};
template <>
struct element_traits<bfloat16> : valid_element<scalar_type::bf16> {};
template <>
struct element_traits<float> : valid_element<scalar_type::f32> {};
template <>
struct element_traits<double> : valid_element<scalar_type::f64> {};
template <>
struct element_traits<std::complex<float>> : valid_element<scalar_type::c64> {};
template <>
struct element_traits<std::complex<double>> : valid_element<scalar_type::c128> {};

/// Of an index table.
template <std::signed_integral T>
requires(sizeof(T) == 4 || sizeof(T) == 8) struct element_traits<T> {
    static constexpr bool valid = false, is_index = true;
    static constexpr scalar_type type = sizeof(T) == 4 ? scalar_type::i32 : scalar_type::i64;
};

/// Numbers, with which statements compute.
template <class T>
concept element = element_traits<T>::valid;

/// Entries of an index table.
template <class T>
concept index_element = element_traits<T>::is_index;

template <scalar_type>
struct element_of_type;
template <>
struct element_of_type<scalar_type::f16> {
    using type = half;
};
template <>
struct element_of_type<scalar_type::bf16> {
    using type = bfloat16;
};
template <>
struct element_of_type<scalar_type::f32> {
    using type = float;
};
template <>
struct element_of_type<scalar_type::f64> {
    using type = double;
};
template <>
struct element_of_type<scalar_type::c64> {
    using type = std::complex<float>;
};
template <>
struct element_of_type<scalar_type::c128> {
    using type = std::complex<double>;
};
template <>
struct element_of_type<scalar_type::i32> {
    using type = std::int32_t;
};
template <>
struct element_of_type<scalar_type::i64> {
    using type = std::int64_t;
};
template <>
struct element_of_type<scalar_type::address> {
    using type = void*;
};
template <scalar_type Type>
using element_t = typename element_of_type<Type>::type;

template <class X>
inline constexpr bool is_complex_scalar = false;
template <class X>
inline constexpr bool is_complex_scalar<std::complex<X>> = true;

template <class X>
concept real_scalar = std::is_arithmetic_v<X> || std::same_as<X, half> || std::same_as<X, bfloat16>;

/// A number in an expression: any arithmetic type, half, bfloat16, or std::complex.
template <class X>
concept scalar = real_scalar<X> || is_complex_scalar<X>;

template <scalar X>
constexpr lowering::scalar as_scalar(const X& x) {
    if constexpr (is_complex_scalar<X>)
        return {static_cast<double>(x.real()), static_cast<double>(x.imag()), true};
    else
        return {static_cast<double>(x), 0, false};
}

} // namespace ricci::dsl
