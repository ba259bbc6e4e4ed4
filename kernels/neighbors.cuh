// neighbors: elements side by side in memory, moved by accesses of up to 16 bytes.
#pragma once

#include "ptx_copy.cuh"
#include "scalar.hpp"

RICCI_FUNCTION constexpr int access_bytes(int bytes) {
    return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : 2;
}

template <class Element, int Count> struct alignas(access_bytes(Count * sizeof(Element))) neighbors {
    Element e[Count];
};

/// The same to be kept until later: as they came, pairs of 2-byte elements in a register, for taking them apart would
/// wait for them.
template <class Element, int Count, bool InPairs = sizeof(Element) == 2 && Count % 2 == 0>
struct alignas(access_bytes(Count * sizeof(Element))) kept_neighbors {
    Element e[Count];
    RICCI_FUNCTION Element at(int i) const { return e[i]; }
};
template <class Element, int Count>
struct alignas(access_bytes(Count * sizeof(Element))) kept_neighbors<Element, Count, true> {
    unsigned pairs[Count / 2];
    RICCI_FUNCTION Element at(int i) const { return {static_cast<unsigned short>(pairs[i / 2] >> 16 * (i % 2))}; }
};
template <class Element, int Count>
RICCI_FUNCTION kept_neighbors<Element, Count> load_neighbors(const Element* first) {
#if RICCI_ON_GPU
    return *reinterpret_cast<const kept_neighbors<Element, Count>*>(first);
#else
    kept_neighbors<Element, Count> out;
    __builtin_memcpy(&out, __builtin_assume_aligned(first, alignof(kept_neighbors<Element, Count>)), sizeof(out));
    return out;
#endif
}

/// Whether lines of neighbors that start at `first` and `between` elements further each may be accessed so.
template <class Element, int Count> RICCI_FUNCTION bool have_aligned_lines(const void* first, long long between) {
    const unsigned long long bits =
        reinterpret_cast<unsigned long long>(first) | static_cast<unsigned long long>(between) * sizeof(Element);
    return bits % alignof(neighbors<Element, Count>) == 0;
}

/// To where they are aligned.
template <class Element, int Count>
RICCI_FUNCTION void store_neighbors(Element* first, const neighbors<Element, Count>& values) {
    using vector = neighbors<Element, Count>;
    if constexpr (alignof(vector) < 4) {
        *reinterpret_cast<vector*>(first) = values;
    } else {
        constexpr int words = alignof(vector) / 4, accesses = sizeof(vector) / alignof(vector);
        union {
            vector whole;
            unsigned parts[accesses][words];
        } bits{values};
        RICCI_UNROLL
        for (int p = 0; p < accesses; ++p) store_words(reinterpret_cast<unsigned*>(first) + p * words, bits.parts[p]);
    }
}

/// Asks for `bytes` from `first` on, 128 at a time: number `part` of them.
RICCI_FUNCTION void prefetch_part(const void* first, int part) {
    prefetch_to_l2(static_cast<const char*>(first) + part * 128);
}
