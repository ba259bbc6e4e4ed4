// number_format: the binary formats of the element types, as bounds on errors need them.
#pragma once

#include "lowering/scalar_type.hpp"

#include <algorithm>
#include <cmath>

namespace ricci::tests {

/// The numbers of a binary format that bounds need.
struct number_format {
    int digits, min_exponent, max_exponent; ///< smallest normal is 2^min_exponent, overflow at 2^max_exponent
    long double eps, tiny, overflow;        ///< tiny is the smallest number above 0

    number_format(int digits, int min_exponent, int max_exponent)
        : digits(digits), min_exponent(min_exponent), max_exponent(max_exponent), eps(std::ldexp(1.0L, 1 - digits)),
          tiny(std::ldexp(1.0L, min_exponent - digits + 1)),
          overflow(std::ldexp(1.0L, max_exponent) * (1 - std::ldexp(1.0L, -digits - 1))) {}

    long double half_ulp(long double x) const {
        const int e = x == 0 ? min_exponent : std::max(std::ilogb(x), min_exponent);
        return std::ldexp(1.0L, e - digits);
    }
    bool holds(long double x) const {
        return x == 0 || (std::fabs(x) < overflow && std::remainder(x, 2 * half_ulp(x)) == 0);
    }
};

inline number_format format_of(lowering::scalar_type t) {
    using enum lowering::scalar_type;
    switch (lowering::real_of(t)) {
    case f16:
        return {11, -14, 16};
    case bf16:
        return {8, -126, 128};
    case f32:
        return {24, -126, 128};
    default:
        return {53, -1022, 1024};
    }
}

} // namespace ricci::tests
