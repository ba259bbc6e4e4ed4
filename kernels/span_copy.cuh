// span_copy: moves contiguous spans between global and shared memory, whatever their alignment, as few large copies.
//
// A span lies in shared memory at the address congruent to its global one modulo 128 bytes: then the copy engine
// moves whole lines (worth 2 to 3.5 % on an H100 for spans of odd length). Its middle, aligned to 16 bytes, goes by
// bulk copy; up to 15 bytes at either end, which the engine cannot move, go element by element. Before sm_90 all
// threads copy the middle, 16 bytes at a time.
#pragma once

#include "ptx_copy.cuh"
#include "scalar.hpp"

template <int Bytes> struct unit_of_bytes;
template <> struct unit_of_bytes<2> { using type = unsigned short; };
template <> struct unit_of_bytes<4> { using type = unsigned; };
template <> struct unit_of_bytes<8> { using type = unsigned long long; };
/// What ends of spans are copied by: complex elements are aligned to their parts only.
template <class Element> using unit_of = typename unit_of_bytes<sizeof(typename real_part<Element>::type)>::type;

/// What a span is cut into: bytes before the 16-byte aligned middle, the middle, and behind it.
struct span_parts {
    int head, middle, tail;
};

RICCI_FUNCTION span_parts parts_of(const void* global, int bytes) {
    const int misaligned = static_cast<int>(reinterpret_cast<unsigned long long>(global) % 16);
    const int head = misaligned == 0 ? 0 : 16 - misaligned;
    if (head >= bytes) return {bytes, 0, 0};
    const int middle = (bytes - head) / 16 * 16;
    return {head, middle, bytes - head - middle};
}

/// Where a span at `global` lies in its region of shared memory, whose start is a multiple of 128 bytes and which is
/// 127 larger.
RICCI_FUNCTION unsigned char* place_in(unsigned char* region, const void* global) {
    return region + reinterpret_cast<unsigned long long>(global) % 128;
}

struct alignas(16) sixteen_bytes {
    unsigned long long low, high;
};

/// The first byte of a span's middle.
RICCI_FUNCTION unsigned char* middle_of(void* span, span_parts parts) {
    return static_cast<unsigned char*>(span) + parts.head;
}

/// Head and tail, by the block's first threads. Unit: an unsigned type that divides the span's length and alignment.
template <class Unit> RICCI_FUNCTION void copy_ends(void* to, const void* from, span_parts parts) {
    constexpr int unit = sizeof(Unit);
    const int in_head = parts.head / unit, ends = in_head + parts.tail / unit;
    for (int e = threadIdx.x; e < ends; e += threads_per_block) {
        const int at = e < in_head ? e : e + parts.middle / unit;
        static_cast<Unit*>(to)[at] = static_cast<const Unit*>(from)[at];
    }
}

/// What copy_ends copies, on the way from one place to the other: a unit a thread.
template <class Unit> class ends_on_the_way {
    static_assert(threads_per_block >= 30 / static_cast<int>(sizeof(Unit)), "a unit a thread");

  public:
    RICCI_FUNCTION void take(const void* from, span_parts parts) {
        if (exists(parts)) value_ = static_cast<const Unit*>(from)[place(parts)];
    }
    RICCI_FUNCTION void put(void* to, span_parts parts) const {
        if (exists(parts)) static_cast<Unit*>(to)[place(parts)] = value_;
    }

  private:
    static constexpr int unit = sizeof(Unit);
    static RICCI_FUNCTION bool exists(span_parts parts) {
        return static_cast<int>(threadIdx.x) < parts.head / unit + parts.tail / unit;
    }
    static RICCI_FUNCTION int place(span_parts parts) {
        const int e = static_cast<int>(threadIdx.x);
        return e < parts.head / unit ? e : e + parts.middle / unit;
    }
    Unit value_ = 0;
};

/// Used before sm_90.
RICCI_FUNCTION void copy_middle(void* to, void* from, span_parts parts) {
    sixteen_bytes* const target = reinterpret_cast<sixteen_bytes*>(middle_of(to, parts));
    const sixteen_bytes* const source = reinterpret_cast<const sixteen_bytes*>(middle_of(from, parts));
    RICCI_UNROLL_2
    for (int e = threadIdx.x; e < parts.middle / 16; e += threads_per_block) target[e] = source[e];
}
