// simd_halves: vectors of half and bfloat16 numbers in memory, as floats in registers.
#pragma once

#include "simd.hpp"

template <int N> struct simd_of_16_bits {
    typedef short value __attribute__((vector_size(2 * N)));
    typedef short in_memory __attribute__((vector_size(2 * N), aligned(2), may_alias));
};

/// The first Count of N elements of 2 bytes, the others 0; and back.
template <int N, int Count> RICCI_FUNCTION typename simd_of_16_bits<N>::value load_bits(const void* p) {
    using value = typename simd_of_16_bits<N>::value;
    [[maybe_unused]] const part_address<const short, const value> from{static_cast<const short*>(p)};
    if constexpr (Count == N) {
        return *static_cast<const typename simd_of_16_bits<N>::in_memory*>(p);
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    } else if constexpr (N == 16) {
        return __builtin_ia32_loaddquhi256_mask(from, value{}, (1 << Count) - 1);
    } else if constexpr (N == 8) {
        return __builtin_ia32_loaddquhi128_mask(from, value{}, (1 << Count) - 1);
    } else if constexpr (N < 8) {
        const auto v = load_bits<8, Count>(p);
        return shuffled<lanes_in_line, short, N>(v, v);
#endif
    } else {
        value v{};
        __builtin_memcpy(&v, p, 2 * Count);
        return v;
    }
}
template <int N, int Count> RICCI_FUNCTION void store_bits(void* p, typename simd_of_16_bits<N>::value v) {
    [[maybe_unused]] const part_address<short, typename simd_of_16_bits<N>::value> to{static_cast<short*>(p)};
    if constexpr (Count == N) {
        *static_cast<typename simd_of_16_bits<N>::in_memory*>(p) = v;
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    } else if constexpr (N == 16) {
        __builtin_ia32_storedquhi256_mask(to, v, (1 << Count) - 1);
    } else if constexpr (N == 8) {
        __builtin_ia32_storedquhi128_mask(to, v, (1 << Count) - 1);
#endif
    } else {
        __builtin_memcpy(p, &v, 2 * Count);
    }
}

/// Of a vector of N lanes and one of zeros.
template <int N> struct lanes_in_line_or_zero { static constexpr int at(int t) { return t < N ? t : N; } };

template <class V> RICCI_FUNCTION V selected(V where, V then, V otherwise) {
    return (then & where) | (otherwise & ~where);
}

template <int N> RICCI_FUNCTION simd<float, N> floats_from_halves(typename simd_of_16_bits<N>::value bits) {
#if defined(__AVX512F__)
    if constexpr (N == 16)
        return __builtin_ia32_vcvtph2ps512_mask(bits, simd<float, N>{}, static_cast<unsigned short>(-1), 4);
    else
#endif
#if defined(__F16C__)
    if constexpr (N == 8) {
        return __builtin_ia32_vcvtph2ps256(bits);
    } else if constexpr (N < 8) {
        const auto v = __builtin_ia32_vcvtph2ps(shuffled<lanes_in_line_or_zero<N>, short, 8>(bits, decltype(bits){}));
        return shuffled<lanes_in_line, float, N>(v, v);
    } else
#endif
#if defined(__aarch64__)
    if constexpr (N == 4) { // g++ 12 would convert one by one
        simd<float, N> v;
        asm("fcvtl %0.4s, %1.4h" : "=w"(v) : "w"(bits));
        return v;
    } else
#endif
    {
        using words = simd<unsigned, N>;
        const auto all = __builtin_convertvector(reinterpret_cast<simd<unsigned short, N>>(bits), words);
        const words magnitude = all & 0x7fffu, sign = (all & 0x8000u) << 16;
        // the exponent is brought from one bias to the other by a product, which subnormal numbers survive
        const auto finite = reinterpret_cast<words>(reinterpret_cast<simd<float, N>>(magnitude << 13) * 0x1p112f);
        const auto large = reinterpret_cast<words>(magnitude >= 0x7c00u) & 0x7f800000u;
        return reinterpret_cast<simd<float, N>>(finite | large | sign);
    }
}
template <int N> RICCI_FUNCTION typename simd_of_16_bits<N>::value halves_from_floats(simd<float, N> v) {
#if defined(__AVX512F__)
    if constexpr (N == 16)
        return __builtin_ia32_vcvtps2ph512_mask(v, 0, typename simd_of_16_bits<N>::value{},
                                                static_cast<unsigned short>(-1));
    else
#endif
#if defined(__F16C__)
    if constexpr (N == 8) {
        return __builtin_ia32_vcvtps2ph256(v, 0);
    } else if constexpr (N < 8) {
        const auto bits = __builtin_ia32_vcvtps2ph(shuffled<lanes_in_line_or_zero<N>, float, 4>(v, decltype(v){}), 0);
        return shuffled<lanes_in_line, short, N>(bits, bits);
    } else
#endif
#if defined(__aarch64__)
    if constexpr (N == 4) {
        typename simd_of_16_bits<N>::value bits;
        asm("fcvtn %0.4h, %1.4s" : "=w"(bits) : "w"(v));
        return bits;
    } else
#endif
#if defined(RICCI_CONVERTS_HALVES)
    {
        typename simd_of_16_bits<N>::value bits{};
        for_each_of<N>([&](auto t) RICCI_INLINED {
            bits[t.value] = static_cast<short>(half_from_float(v[t.value]));
        });
        return bits;
    }
#else
    { // half_from_float's ways, all of them
        using words = simd<unsigned, N>;
        const auto all = reinterpret_cast<words>(v);
        const words magnitude = all & 0x7fffffffu;
        const words normal = (magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13;
        const auto raised = reinterpret_cast<words>(reinterpret_cast<simd<float, N>>(magnitude) + 0.5f);
        const auto is = [](auto comparison) RICCI_INLINED { return reinterpret_cast<words>(comparison); };
        words out = selected(is(magnitude < 0x38800000u), raised - 0x3f000000u, normal);
        out = selected(is(magnitude >= 0x477ff000u), words{} + 0x7c00u, out);
        out = selected(is(magnitude > 0x7f800000u), words{} + 0x7e00u, out) | ((all >> 16) & 0x8000u);
        const auto narrow = __builtin_convertvector(out, simd<unsigned short, N>);
        return reinterpret_cast<typename simd_of_16_bits<N>::value>(narrow);
    }
#endif
}

#if defined(RICCI_HAS_SVE_PARTS)
/// Elements of 2 bytes in the low halves of lanes of 4, as SVE loads and stores them.
template <int N> constexpr bool is_sve_vector = 32 * N == __ARM_FEATURE_SVE_BITS; ///< of floats
template <int N, int Count> RICCI_FUNCTION simd<unsigned, N> load_low_halves(const void* p) {
    simd<unsigned, N> v;
    asm("ld1h %0.s, %1/z, %2"
        : "=w"(v)
        : "Upl"(first_lanes<float, Count>()), "Q"(*static_cast<const elements_in_memory<short, Count>*>(p)));
    return v;
}
template <int N, int Count> RICCI_FUNCTION void store_low_halves(void* p, simd<unsigned, N> v) {
    asm("st1h %1.s, %2, %0"
        : "=Q"(*static_cast<elements_in_memory<short, Count>*>(p))
        : "w"(v), "Upl"(first_lanes<float, Count>()));
}
#endif

/// Elements of 2 bytes, each in the low half of a lane of 4. (g++ 12 would widen the halves of a vector apart.)
template <int N> RICCI_FUNCTION simd<unsigned, N> with_high_zeros(typename simd_of_16_bits<N>::value bits) {
#if defined(__AVX512F__) && !defined(__clang__)
    if constexpr (N == 16)
        return reinterpret_cast<simd<unsigned, N>>(
            __builtin_ia32_pmovzxwd512_mask(bits, simd<int, N>{}, static_cast<unsigned short>(-1)));
    else
#endif
#if defined(__AVX2__) && !defined(__clang__)
    if constexpr (N == 8) return reinterpret_cast<simd<unsigned, N>>(__builtin_ia32_pmovzxwd256(bits));
    else
#endif
    return __builtin_convertvector(reinterpret_cast<simd<unsigned short, N>>(bits), simd<unsigned, N>);
}

/// Rounded to nearest, ties to even.
template <int N> RICCI_FUNCTION simd<unsigned, N> rounded_to_bfloat16(simd<float, N> v) {
    using words = simd<unsigned, N>;
    const words f = reinterpret_cast<words>(v);
    const words nearest = (f + 0x7fffu + ((f >> 16) & 1u)) >> 16, not_a_number = (f >> 16) | 0x40u;
    return selected(reinterpret_cast<words>(v == v), nearest, not_a_number);
}
template <int N> RICCI_FUNCTION typename simd_of_16_bits<N>::value bits_of_bfloat16(simd<unsigned, N> rounded) {
    const auto bits = __builtin_convertvector(rounded, simd<unsigned short, N>);
    return reinterpret_cast<typename simd_of_16_bits<N>::value>(bits);
}

#if defined(__AVX512BF16__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
/// The instruction takes subnormal numbers for 0.
template <int N> RICCI_FUNCTION bool has_subnormal(simd<float, N> v) {
    if constexpr (N == 16) return __builtin_ia32_fpclassps512_mask(v, 0x20, static_cast<unsigned short>(-1)) != 0;
    else return __builtin_ia32_fpclassps256_mask(v, 0x20, static_cast<unsigned char>(-1)) != 0;
}
template <int N>
__attribute__((noinline, cold)) static typename simd_of_16_bits<N>::value subnormal_to_bfloat16(simd<float, N> v) {
    return bits_of_bfloat16<N>(rounded_to_bfloat16<N>(v));
}
#endif
template <int N> RICCI_FUNCTION typename simd_of_16_bits<N>::value bfloat16_from_floats(simd<float, N> v) {
#if defined(__AVX512BF16__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
    if constexpr (N == 16 || N == 8) {
        if (__builtin_expect(has_subnormal<N>(v), 0)) return subnormal_to_bfloat16<N>(v);
        typename simd_of_16_bits<N>::value bits;
        asm("vcvtneps2bf16 %1, %0" : "=v"(bits) : "v"(v)); // compilers disagree on the builtin's types
        return bits;
    }
#endif
    return bits_of_bfloat16<N>(rounded_to_bfloat16<N>(v));
}

/// N elements of the type E, half or bfloat16.
template <class E, int N> RICCI_FUNCTION simd<float, N> widened(typename simd_of_16_bits<N>::value bits) {
    if constexpr (is_same<E, half>) return floats_from_halves<N>(bits);
    else return reinterpret_cast<simd<float, N>>(with_high_zeros<N>(bits) << 16);
}

template <int N, int Count, class E> RICCI_FUNCTION simd<float, N> load_widened(const E* p) {
#if defined(RICCI_HAS_SVE_PARTS)
    if constexpr (is_sve_vector<N>) {
        auto v = load_low_halves<N, Count>(p);
        if constexpr (is_same<E, half>) asm("fcvt %0.s, %1/m, %0.h" : "+w"(v) : "Upl"(first_lanes<float, N>()));
        else v <<= 16;
        return reinterpret_cast<simd<float, N>>(v);
    } else
#endif
    return widened<E, N>(load_bits<N, Count>(p));
}

template <class Word, int N> RICCI_FUNCTION typename simd_of_16_bits<N>::value word_in_all_lanes(const void* p) {
    Word word;
    __builtin_memcpy(&word, p, sizeof word);
    return reinterpret_cast<typename simd_of_16_bits<N>::value>(simd<Word, 2 * N / sizeof(Word)>{} + word);
}
/// The first Period elements in memory again and again.
template <int N, int Period, class E> RICCI_FUNCTION simd<float, N> load_widened_repeated(const E* p) {
    if constexpr (Period == 2) return widened<E, N>(word_in_all_lanes<int, N>(p));
    else if constexpr (Period == 4) return widened<E, N>(word_in_all_lanes<long long, N>(p));
    else return widened<E, N>(repeat_lanes<short, N, Period>(load_bits<Period, Period>(p)));
}
/// Rounded to nearest, ties to even.
template <int N, int Count> RICCI_FUNCTION void store_narrowed(half* p, simd<float, N> v) {
#if defined(RICCI_HAS_SVE_PARTS)
    if constexpr (is_sve_vector<N>) {
        auto bits = reinterpret_cast<simd<unsigned, N>>(v);
        asm("fcvt %0.h, %1/m, %0.s" : "+w"(bits) : "Upl"(first_lanes<float, N>()));
        store_low_halves<N, Count>(p, bits);
    } else
#endif
    store_bits<N, Count>(p, halves_from_floats<N>(v));
}
template <int N, int Count> RICCI_FUNCTION void store_narrowed(bfloat16* p, simd<float, N> v) {
#if defined(RICCI_HAS_SVE_PARTS)
    if constexpr (is_sve_vector<N>) return store_low_halves<N, Count>(p, rounded_to_bfloat16<N>(v));
#endif
    store_bits<N, Count>(p, bfloat16_from_floats<N>(v));
}
