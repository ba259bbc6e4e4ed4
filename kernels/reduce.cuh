// reduce: sums over the threads of a warp or a block, in a fixed order; every thread gets the result.
#pragma once

#include "scalar.hpp"

RICCI_FUNCTION float shuffle_xor(float x, int mask) { return __shfl_xor_sync(0xffffffffu, x, mask); }
RICCI_FUNCTION double shuffle_xor(double x, int mask) { return __shfl_xor_sync(0xffffffffu, x, mask); }
template <class R> RICCI_FUNCTION complex<R> shuffle_xor(complex<R> x, int mask) {
    return {shuffle_xor(x.re, mask), shuffle_xor(x.im, mask)};
}

template <class T> RICCI_FUNCTION T warp_sum(T value) {
    RICCI_UNROLL
    for (int mask = 16; mask > 0; mask /= 2) value += shuffle_xor(value, mask);
    return value;
}

/// Uses the first Threads/32 elements of dynamic shared memory. May be called again at once.
template <int Threads, class T> RICCI_FUNCTION T block_sum(T value) {
    RICCI_SHARED(memory);
    T* parts = reinterpret_cast<T*>(memory);
    value = warp_sum(value);
    __syncthreads(); // the last call's reads are over
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    T total = parts[0];
    RICCI_UNROLL
    for (int warp = 1; warp < Threads / 32; ++warp) total += parts[warp];
    return total;
}
