// simd: vectors of a CPU in GCC's and Clang's vector extensions. What these lack (parts of vectors in memory) stands
// here behind named functions, each with a form for any machine. Constant: simd_bytes, the widest.
#pragma once

#include "scalar.hpp"
#include "unrolled.hpp"

template <class T, class U> constexpr bool is_same = false;
template <class T> constexpr bool is_same<T, T> = true;
template <class T> constexpr bool is_narrow = is_same<T, half> || is_same<T, bfloat16>;

/// What stands behind is loaded and computed behind it: the compiler does not keep in registers what it loaded
/// before, for a use that is far off.
RICCI_FUNCTION void start_afresh() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
/// What a function has for itself is loaded from memory from here on: else all that was copied there stays in
/// registers, and where there are too few for it, so does nothing else.
RICCI_FUNCTION void leave_in_memory(void* own) { asm volatile("" : : "r"(own) : "memory"); }

/// The same address, of whose origin the compiler knows nothing: what lies at constant distances from it is addressed
/// by these. Else g++ 12 keeps an offset a column of a tile, in memory where there are no registers for them, and
/// needs two or three more instructions for each multiply-add (f32 14 x 69 x 46: 126 GF/s, so 156).
template <class T> RICCI_FUNCTION T* anchored(T* p) {
    asm("" : "+r"(p));
    return p;
}

// ---- vectors ----

template <class T, int N> struct simd_type {
    typedef T value __attribute__((vector_size(N * sizeof(T))));
    typedef T in_memory __attribute__((vector_size(N * sizeof(T)), aligned(sizeof(T)), may_alias));
};
template <class T, int N> using simd = typename simd_type<T, N>::value;

template <class V, int I, int J, int P> RICCI_FUNCTION void set_to_zero(V (&sums)[I][J][P]) {
    RICCI_ALL_UNROLLED for (int i = 0; i < I; ++i)
        RICCI_ALL_UNROLLED for (int j = 0; j < J; ++j)
            RICCI_ALL_UNROLLED for (int p = 0; p < P; ++p) sums[i][j][p] = V{};
}

/// As many lanes as a register has.
template <class T> constexpr int simd_lanes = simd_bytes / static_cast<int>(sizeof(T));

constexpr int power_of_two_from(int n) {
    int out = 1;
    while (out < n) out *= 2;
    return out;
}

/// The lanes of a vector for `count` numbers, or for some of them where they are more than a register has. SVE knows
/// vectors of its own length and NEON's of 16 bytes: g++ computes others number by number.
template <class T> constexpr int lanes_for(int count) {
    const int enough = power_of_two_from(count), lanes = enough < simd_lanes<T> ? enough : simd_lanes<T>;
#if defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
    if (lanes * static_cast<int>(sizeof(T)) > 16) return simd_lanes<T>;
#endif
    return lanes;
}

/// Lane t of the result is lane Pattern::at(t) of a and b in one line.
template <class Pattern, class T, int N, class V>
RICCI_FUNCTION auto shuffled(V a, V b) {
    return [&]<int... I>(index_list<I...>) RICCI_INLINED {
        return __builtin_shufflevector(a, b, Pattern::at(I)...);
    }(indices_to<N>());
}
/// Of each lane the one whose number differs in the bit `Step`.
template <int Step> struct lanes_exchanged { static constexpr int at(int t) { return t ^ Step; } };
using pairs_exchanged = lanes_exchanged<1>;
template <int First> struct every_second { static constexpr int at(int t) { return 2 * t + First; } };
/// Lanes from First on of the one and of the other of two vectors of N.
template <int N, int First> struct alternately {
    static constexpr int at(int t) { return (t % 2) * N + First + t / 2; }
};
struct lanes_in_line { static constexpr int at(int t) { return t; } };

/// Twice as many lanes, the new ones 0; and the first half of them.
template <class T, int N> RICCI_FUNCTION simd<T, 2 * N> with_zeros(simd<T, N> v) {
    return shuffled<lanes_in_line, T, 2 * N>(v, simd<T, N>{});
}
template <class T, int N> RICCI_FUNCTION simd<T, N / 2> first_half(simd<T, N> v) {
    return shuffled<lanes_in_line, T, N / 2>(v, v);
}

template <class T, int N> RICCI_FUNCTION simd<T, N> load_whole(const T* p) {
    return *reinterpret_cast<const typename simd_type<T, N>::in_memory*>(p);
}
template <class T, int N> RICCI_FUNCTION void store_whole(T* p, simd<T, N> v) {
    *reinterpret_cast<typename simd_type<T, N>::in_memory*>(p) = v;
}

/// An address for builtins of parts of vectors: some want an element's, some, and more of Clang's than of g++'s, a
/// vector's.
template <class T, class Vector> struct part_address {
    T* element;
    RICCI_FUNCTION operator T*() const { return element; }
    RICCI_FUNCTION operator Vector*() const { return reinterpret_cast<Vector*>(element); }
};

#if defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0 && !defined(__clang__)
#define RICCI_HAS_SVE_PARTS
/// Parts of SVE's vectors, by instructions: g++ 12 would put them together on the stack.
template <class T, int Count> struct elements_in_memory { T x[Count]; };
template <class T, int Count> RICCI_FUNCTION __SVBool_t first_lanes() {
    __SVBool_t out;
    if constexpr (Count > 8 && (Count & (Count - 1)) != 0) // ptrue has no such number
        asm("whilelo %0.s, wzr, %w1" : "=Upl"(out) : "r"(Count) : "cc");
    else if constexpr (sizeof(T) == 8) asm("ptrue %0.d, vl%1" : "=Upl"(out) : "i"(Count));
    else asm("ptrue %0.s, vl%1" : "=Upl"(out) : "i"(Count));
    return out;
}
template <class T, int N, int Count> RICCI_FUNCTION simd<T, N> load_first_lanes(const T* p) {
    const auto& from = *reinterpret_cast<const elements_in_memory<T, Count>*>(p);
    simd<T, N> v;
    if constexpr (sizeof(T) == 8)
        asm("ld1d %0.d, %1/z, %2" : "=w"(v) : "Upl"(first_lanes<T, Count>()), "Q"(from));
    else asm("ld1w %0.s, %1/z, %2" : "=w"(v) : "Upl"(first_lanes<T, Count>()), "Q"(from));
    return v;
}
template <class T, int N, int Count> RICCI_FUNCTION void store_first_lanes(T* p, simd<T, N> v) {
    auto& to = *reinterpret_cast<elements_in_memory<T, Count>*>(p);
    if constexpr (sizeof(T) == 8) asm("st1d %1.d, %2, %0" : "=Q"(to) : "w"(v), "Upl"(first_lanes<T, Count>()));
    else asm("st1w %1.s, %2, %0" : "=Q"(to) : "w"(v), "Upl"(first_lanes<T, Count>()));
}
#endif

/// The first Count lanes from memory, the others 0: by the narrowest vector that has them. (Stores of 64 bytes that
/// cross a cache line take two or three times as long, whatever their mask; an 8-byte one does not cross.)
template <class T, int N, int Count> RICCI_FUNCTION simd<T, N> load_part(const T* p) {
    constexpr int size = N * static_cast<int>(sizeof(T));
    [[maybe_unused]] const part_address<const T, const simd<T, N>> from{p};
    if constexpr (Count == N) {
        return load_whole<T, N>(p);
#if defined(RICCI_HAS_SVE_PARTS)
    } else if constexpr (8 * size == __ARM_FEATURE_SVE_BITS) {
        return load_first_lanes<T, N, Count>(p);
#endif
    } else if constexpr (Count == 1) {
        simd<T, N> v{};
        v[0] = *p;
        return v;
    } else if constexpr (size > 16 && 2 * Count <= N) {
        return with_zeros<T, N / 2>(load_part<T, N / 2, Count>(p));
#if defined(__AVX512F__) && defined(__AVX512VL__)
    } else if constexpr (sizeof(T) == 8 && size == 64) {
        return __builtin_ia32_loadupd512_mask(from, simd<T, N>{}, (1 << Count) - 1);
    } else if constexpr (sizeof(T) == 8 && size == 32) {
        return __builtin_ia32_loadupd256_mask(from, simd<T, N>{}, (1 << Count) - 1);
    } else if constexpr (sizeof(T) == 4 && size == 64) {
        return __builtin_ia32_loadups512_mask(from, simd<T, N>{}, (1 << Count) - 1);
    } else if constexpr (sizeof(T) == 4 && size == 32) {
        return __builtin_ia32_loadups256_mask(from, simd<T, N>{}, (1 << Count) - 1);
    } else if constexpr (sizeof(T) == 4 && size == 16) {
        return __builtin_ia32_loadups128_mask(from, simd<T, N>{}, (1 << Count) - 1);
#elif defined(__AVX2__)
    } else if constexpr (sizeof(T) == 8 && size == 32) {
        const simd<long long, N> mask = simd<long long, N>{0, 1, 2, 3} < Count;
        return __builtin_ia32_maskloadpd256(from, mask);
    } else if constexpr (sizeof(T) == 4 && size == 32) {
        const simd<int, N> mask = simd<int, N>{0, 1, 2, 3, 4, 5, 6, 7} < Count;
        return __builtin_ia32_maskloadps256(from, mask);
#endif
    } else {
        simd<T, N> v{};
        for_each_of<Count>([&](auto t) RICCI_INLINED { v[t.value] = p[t.value]; });
        return v;
    }
}
template <class T, int N, int Count> RICCI_FUNCTION void store_part(T* p, simd<T, N> v) {
    constexpr int size = N * static_cast<int>(sizeof(T));
    [[maybe_unused]] const part_address<T, simd<T, N>> to{p};
    if constexpr (Count == N) {
        store_whole<T, N>(p, v);
#if defined(RICCI_HAS_SVE_PARTS)
    } else if constexpr (8 * size == __ARM_FEATURE_SVE_BITS) {
        store_first_lanes<T, N, Count>(p, v);
#endif
    } else if constexpr (Count == 1) {
        *p = v[0];
    } else if constexpr (size > 16 && 2 * Count <= N) {
        store_part<T, N / 2, Count>(p, first_half<T, N>(v));
#if defined(__AVX512F__) && defined(__AVX512VL__)
    } else if constexpr (sizeof(T) == 8 && size == 64) {
        __builtin_ia32_storeupd512_mask(to, v, (1 << Count) - 1);
    } else if constexpr (sizeof(T) == 8 && size == 32) {
        __builtin_ia32_storeupd256_mask(to, v, (1 << Count) - 1);
    } else if constexpr (sizeof(T) == 4 && size == 64) {
        __builtin_ia32_storeups512_mask(to, v, (1 << Count) - 1);
    } else if constexpr (sizeof(T) == 4 && size == 32) {
        __builtin_ia32_storeups256_mask(to, v, (1 << Count) - 1);
    } else if constexpr (sizeof(T) == 4 && size == 16) {
        __builtin_ia32_storeups128_mask(to, v, (1 << Count) - 1);
#elif defined(__AVX2__)
    } else if constexpr (sizeof(T) == 8 && size == 32) {
        const simd<long long, N> mask = simd<long long, N>{0, 1, 2, 3} < Count;
        __builtin_ia32_maskstorepd256(to, mask, v);
    } else if constexpr (sizeof(T) == 4 && size == 32) {
        const simd<int, N> mask = simd<int, N>{0, 1, 2, 3, 4, 5, 6, 7} < Count;
        __builtin_ia32_maskstoreps256(to, mask, v);
#endif
    } else {
        for_each_of<Count>([&](auto t) RICCI_INLINED { p[t.value] = v[t.value]; });
    }
}

template <int Period> struct repeated { static constexpr int at(int t) { return t % Period; } };

/// Doubled until there are N: g++ 12 takes wider steps by way of memory.
template <class T, int N, int Period> RICCI_FUNCTION simd<T, N> repeat_lanes(simd<T, Period> some) {
    if constexpr (Period == N) return some;
    else return repeat_lanes<T, N, 2 * Period>(shuffled<repeated<Period>, T, 2 * Period>(some, some));
}

/// The first Period elements in memory again and again.
template <class T, int N, int Period> RICCI_FUNCTION simd<T, N> load_repeated(const T* p) {
    constexpr int size = N * static_cast<int>(sizeof(T)), some = Period * static_cast<int>(sizeof(T));
    if constexpr (some == 8 && sizeof(T) == 4) {
        long long pair;
        __builtin_memcpy(&pair, p, sizeof pair);
        return reinterpret_cast<simd<T, N>>(simd<long long, N / 2>{} + pair);
#if defined(__AVX512DQ__) && __has_builtin(__builtin_ia32_broadcastf64x4_512)
    } else if constexpr (size == 64 && some == 32) {
        const auto v = reinterpret_cast<simd<double, 4>>(load_whole<T, Period>(p));
        return reinterpret_cast<simd<T, N>>(__builtin_ia32_broadcastf64x4_512(v, simd<double, 8>{}, -1));
    } else if constexpr (size == 64 && some == 16) {
        const auto v = reinterpret_cast<simd<double, 2>>(load_whole<T, Period>(p));
        return reinterpret_cast<simd<T, N>>(__builtin_ia32_broadcastf64x2_512_mask(v, simd<double, 8>{}, -1));
#endif
    } else {
        return repeat_lanes<T, N, Period>(load_whole<T, Period>(p));
    }
}

// ---- transposition: N vectors of N elements of `Parts` lanes each ----

/// Of two vectors whose elements differ in the bit `Step` of their number: those where it is 0 (Second: 1).
template <int Step, int Parts, int N, bool Second> struct exchanged {
    static constexpr int at(int t) {
        const int element = t / Parts, first = (element & Step) ? N + (element - Step) * Parts : element * Parts;
        return first + t % Parts + (Second ? Step * Parts : 0);
    }
};

/// v[i][j] and v[j][i] change places. Every stage exchanges one bit of the row's number with that of the column's.
template <class T, int N, int Parts> RICCI_FUNCTION void transpose(simd<T, N> (&v)[N / Parts]) {
    constexpr int elements = N / Parts;
    const auto stage = [&](auto step) RICCI_INLINED {
        for_each_of<elements>([&](auto i) RICCI_INLINED {
            if constexpr ((i & step) == 0) {
                const auto a = v[i], b = v[i + step];
                v[i] = shuffled<exchanged<step, Parts, N, false>, T, N>(a, b);
                v[i + step] = shuffled<exchanged<step, Parts, N, true>, T, N>(a, b);
            }
        });
    };
    if constexpr (elements > 1) stage(constant<1>());
    if constexpr (elements > 2) stage(constant<2>());
    if constexpr (elements > 4) stage(constant<4>());
    if constexpr (elements > 8) stage(constant<8>());
    if constexpr (elements > 16) stage(constant<16>());
}

/// Lane i of the result is the sum of all lanes of v[i], for i < Count: the transposition's stages, in each of which
/// what changes places is added at once.
template <class T, int N, int Count> RICCI_FUNCTION simd<T, N> sums_of_lanes(simd<T, N> (&v)[N]) {
    const auto stage = [&](auto step) RICCI_INLINED {
        for_each_of<N / (2 * step)>([&](auto number) RICCI_INLINED {
            constexpr int i = number * 2 * step;
            if constexpr (i + step < Count)
                v[i] = shuffled<exchanged<step, 1, N, false>, T, N>(v[i], v[i + step]) +
                       shuffled<exchanged<step, 1, N, true>, T, N>(v[i], v[i + step]);
            else if constexpr (i < Count) v[i] += shuffled<lanes_exchanged<step>, T, N>(v[i], v[i]);
        });
    };
    if constexpr (N > 1) stage(constant<1>());
    if constexpr (N > 2) stage(constant<2>());
    if constexpr (N > 4) stage(constant<4>());
    if constexpr (N > 8) stage(constant<8>());
    if constexpr (N > 16) stage(constant<16>());
    return v[0];
}
