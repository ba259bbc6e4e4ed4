// substitute_shuffles: exchanges of elements between a warp's lanes, for the kernels that solve with factors.
#pragma once

#include "factor_shuffles.cuh"
#include "substitute_parts.hpp"

/// Lanes give each other half of what they have, number e of the lane that has the bit e + Half of the other's: only
/// `Count` numbers from `Begin` on are anything but zeros. (A loop over halves is not unrolled, and the numbers then
/// lie in local memory.)
template <int Half, int Count, class T> RICCI_FUNCTION void add_halves(T (&v)[32], int lane) {
    const bool is_upper = (lane & Half) != 0;
    RICCI_UNROLL
    for (int e = 0; e < (Half < Count ? Half : Count); ++e) {
        const T kept = is_upper ? v[e + Half] : v[e], given = is_upper ? v[e] : v[e + Half];
        v[e] = kept + shuffle_xor(given, Half);
    }
    if constexpr (Half > 1) add_halves<Half / 2, Count>(v, lane);
}

/// A warp's sums of `Count` numbers of each lane: to[e] of number e, by 31 shuffles for 32 numbers, which take 160
/// one by one.
template <int Begin = 0, int Count, class T> RICCI_FUNCTION void sum_lanes_apart(const T (&x)[Count], T* to) {
    constexpr int here = Count - Begin < 32 ? Count - Begin : 32;
    const int lane = threadIdx.x % 32;
    T v[32];
    RICCI_UNROLL
    for (int e = 0; e < 32; ++e) v[e] = e < here ? x[e < here ? Begin + e : 0] : from_real<T>(0, 0);
    add_halves<16, here>(v, lane);
    if (lane < here) to[Begin + lane] = v[0];
    if constexpr (Begin + 32 < Count) sum_lanes_apart<Begin + 32>(x, to);
}
