// shim: stands before a CUDA kernel's source and makes it C++ for the host compiler. Includes nothing but state.hpp.
#pragma once

#include "state.hpp"

#define RICCI_EMULATED 1
#define __global__ __attribute__((visibility("default")))
#define __device__
#define __host__
#define __constant__ __attribute__((visibility("default")))
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __align__(bytes) alignas(bytes)
#define __launch_bounds__(...)

/// Set by the loader; the scheduler keeps `thread` that of the running fibre.
extern "C" {
static ricci_emulated_state* ricci_emulated = nullptr;
__global__ void ricci_attach(ricci_emulated_state* s) { ricci_emulated = s; }
}

#define threadIdx (ricci_emulated->thread)
#define blockIdx (ricci_emulated->block)
#define blockDim (ricci_emulated->threads)
#define gridDim (ricci_emulated->grid)
constexpr int warpSize = 32;

inline void* ricci_emulated_shared() { return ricci_emulated->shared; }

inline void __syncthreads(int line = __builtin_LINE()) { ricci_emulated->barrier(line); }

/// One warp operation: what every lane gave.
struct ricci_emulated_lanes {
    unsigned long long bits[32];

    template <class T>
    ricci_emulated_lanes(unsigned mask, int kind, int line, T mine) {
        static_assert(sizeof(T) == 4 || sizeof(T) == 8, "warp operations are of 4 or 8 bytes");
        unsigned long long given = 0;
        __builtin_memcpy(&given, &mine, sizeof(T));
        ricci_emulated->exchange(mask, kind, line, given, bits);
    }
    template <class T>
    T at(unsigned lane) const {
        T value;
        __builtin_memcpy(&value, &bits[lane], sizeof(T));
        return value;
    }
};

inline unsigned ricci_emulated_lane() { return threadIdx.x % 32; }

inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
    ricci_emulated_lanes(mask, 0, line, 0);
}
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, int line = __builtin_LINE()) {
    const ricci_emulated_lanes all(mask, 1, line, value);
    return all.at<T>((ricci_emulated_lane() & ~(width - 1u)) + (source & (width - 1u)));
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, int line = __builtin_LINE()) {
    const ricci_emulated_lanes all(mask, 2, line, value);
    const unsigned lane = ricci_emulated_lane();
    return lane % width < delta ? value : all.at<T>(lane - delta);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, int line = __builtin_LINE()) {
    const ricci_emulated_lanes all(mask, 3, line, value);
    const unsigned lane = ricci_emulated_lane();
    return lane % width + delta >= static_cast<unsigned>(width) ? value : all.at<T>(lane + delta);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, int line = __builtin_LINE()) {
    const ricci_emulated_lanes all(mask, 4, line, value);
    const unsigned lane = ricci_emulated_lane(), source = lane ^ static_cast<unsigned>(lanes);
    return source >= (lane & ~(width - 1u)) + static_cast<unsigned>(width) ? value : all.at<T>(source);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
    const ricci_emulated_lanes all(mask, 5, line, static_cast<int>(predicate != 0));
    unsigned votes = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        if (mask >> lane & 1) votes |= static_cast<unsigned>(all.at<int>(lane) == 1) << lane;
    return votes;
}
inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
    return __ballot_sync(mask, predicate, line) != 0;
}

/// Fibres switch only at barriers and warp operations, so plain reading and writing is atomic.
template <class T>
T atomicAdd(T* address, T value) {
    const T old = *address;
    *address = old + value;
    return old;
}
template <class T>
T atomicMax(T* address, T value) {
    const T old = *address;
    *address = old < value ? value : old;
    return old;
}
template <class T>
T atomicMin(T* address, T value) {
    const T old = *address;
    *address = value < old ? value : old;
    return old;
}
