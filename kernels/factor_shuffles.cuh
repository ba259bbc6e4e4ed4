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
