// factor_shuffles: exchanges of elements between a warp's lanes.
#pragma once

#include "factor.hpp"

/// Another lane's, of groups of `width` lanes.
template <class T> RICCI_FUNCTION T shuffle(T x, int lane, int width = 32) {
    if constexpr (real_part<T>::is_complex)
        return {__shfl_sync(0xffffffffu, x.re, lane, width), __shfl_sync(0xffffffffu, x.im, lane, width)};
    else return __shfl_sync(0xffffffffu, x, lane, width);
}
/// That of the lane whose number differs in the bits of `lanes`.
template <class T> RICCI_FUNCTION T shuffle_xor(T x, int lanes) {
    if constexpr (real_part<T>::is_complex)
        return {__shfl_xor_sync(0xffffffffu, x.re, lanes), __shfl_xor_sync(0xffffffffu, x.im, lanes)};
    else return __shfl_xor_sync(0xffffffffu, x, lanes);
}

/// The sum of each group of Lanes lanes, for all of them.
template <int Lanes, class T> RICCI_FUNCTION T sum_of_lanes(T x) {
    RICCI_UNROLL
    for (int bit = Lanes / 2; bit > 0; bit /= 2) x = x + shuffle_xor(x, bit);
    return x;
}

/// Element s goes to place s ^ lane % 4.
RICCI_FUNCTION void permute_by_lane(element (&x)[4]) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    RICCI_UNROLL
    for (int apart = 1; apart < 4; apart *= 2) {
        const bool exchanged = (lane & apart) != 0;
        RICCI_UNROLL
        for (int i = 0; i < 4; ++i) {
            if ((i & apart) != 0) continue;
            const element low = x[i], high = x[i + apart];
            x[i] = exchanged ? high : low;
            x[i + apart] = exchanged ? low : high;
        }
    }
}
/// Lane q of four has element q of columns 0 ... 3; then of row q elements 0 ... 3. Its own inverse.
RICCI_FUNCTION void transpose_in_quads(element (&x)[4]) {
    permute_by_lane(x);
    RICCI_UNROLL
    for (int apart = 1; apart < 4; ++apart) x[apart] = shuffle_xor(x[apart], apart);
    permute_by_lane(x);
}
