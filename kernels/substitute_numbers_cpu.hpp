// substitute_numbers_cpu: scratch of a CPU's kernels that solve with factors.
#pragma once

#include "simd.hpp"
#include "substitute_parts.hpp"

/// On the stack where it is small; else one for all calls of a thread.
template <class T, long long Count>
constexpr bool fits_stack = Count * static_cast<long long>(sizeof(T)) <= (32 << 10);
template <class T, long long Count, bool Small = fits_stack<T, Count>> struct scratch {
    alignas(64) T value[Count];
    RICCI_FUNCTION T* get() { return value; }
};
template <class T, long long Count> struct scratch<T, Count, false> {
    RICCI_FUNCTION T* get() {
        alignas(64) static thread_local T value[Count];
        return value;
    }
};

/// The integers that comparisons of reals give.
template <class R> struct mask_type { using type = long long; };
template <> struct mask_type<float> { using type = int; };
