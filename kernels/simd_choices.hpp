// simd_choices: comparisons of a kernel's vectors, choices by them, and what is made of signs; of the `real`, `lanes`
// and `vector` that it has declared before.
#pragma once

#include "simd.hpp"

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
