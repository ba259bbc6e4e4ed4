// wide_matrix: matrices of the tests' problems, of any type of numbers, and what they are judged in.
#pragma once

#include "bench/factor/ratios.hpp"

#include <complex>
#include <type_traits>

namespace ricci::tests {

using wide_matrix = bench::factor::matrix<std::complex<long double>>;
using wide_number = std::complex<long double>;

/// f(a, ...) with the matrices in twice the digits of type `t`, or for f64 in long double, real where `t` is: many
/// times faster than in what can hold all types.
template <class F, class... Matrices>
double judged_as(lowering::scalar_type t, const F& f, const Matrices&... of) {
    const auto as = [&]<class T>(T) {
        const auto narrowed = [](const wide_matrix& a) {
            bench::factor::matrix<T> out(a.rows(), a.columns());
            for (std::int64_t j = 0; j < a.columns(); ++j)
                for (std::int64_t i = 0; i < a.rows(); ++i)
                    if constexpr (std::is_floating_point_v<T>)
                        out(i, j) = static_cast<T>(a(i, j).real());
                    else
                        out(i, j) = static_cast<T>(a(i, j));
            return out;
        };
        return f(narrowed(of)...);
    };
    const bool is_double = lowering::real_of(t) == lowering::scalar_type::f64;
    if (lowering::is_complex(t)) return is_double ? as(std::complex<long double>()) : as(std::complex<double>());
    return is_double ? as(0.0L) : as(0.0);
}

} // namespace ricci::tests
