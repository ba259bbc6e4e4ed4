// ptx_reduce: reductions over the lanes of a warp.
#pragma once

#include "ptx.cuh"

/// The largest of `Lanes` neighboring lanes' numbers, in each of them; by all lanes of the warp. From sm_80 on a
/// whole warp's is one instruction, of fewer lanes it would be one after another's.
template <int Lanes>
RICCI_FUNCTION unsigned largest_of_lanes(unsigned x) {
#if RICCI_ON_GPU && __CUDA_ARCH__ >= 800
    constexpr bool by_one = Lanes == 32;
    if constexpr (by_one) asm volatile("redux.sync.max.u32 %0, %0, 0xffffffff;" : "+r"(x));
#else
    constexpr bool by_one = false;
#endif
    RICCI_UNROLL
    for (int apart = by_one ? 0 : Lanes / 2; apart > 0; apart /= 2) {
        const unsigned other = __shfl_xor_sync(0xffffffffu, x, apart);
        x = other > x ? other : x;
    }
    return x;
}

RICCI_FUNCTION unsigned smaller_of_two(unsigned a, unsigned b) {
#if RICCI_ON_GPU
    return ::umin(a, b);
#else
    return a < b ? a : b;
#endif
}

/// The smallest of a warp's numbers, in each lane.
RICCI_FUNCTION unsigned smallest_of_warp(unsigned x) {
#if RICCI_ON_GPU && __CUDA_ARCH__ >= 800
    asm volatile("redux.sync.min.u32 %0, %0, 0xffffffff;" : "+r"(x));
    return x;
#else
    return ~largest_of_lanes<32>(~x);
#endif
}
