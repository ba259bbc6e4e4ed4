// ptx: inline PTX, with ptx_copy and ptx_mma its only place. Each instruction is a named wrapper with a twin in C++
// for the CPU and the emulator.
#pragma once

#if defined(__CUDACC_RTC__) && !defined(RICCI_EMULATED)
#define RICCI_ON_GPU 1
#else
#define RICCI_ON_GPU 0
#endif

#if RICCI_ON_GPU || defined(RICCI_EMULATED)
#define RICCI_FUNCTION __device__ __forceinline__
#else
#define RICCI_FUNCTION inline __attribute__((always_inline))
#endif

// Dynamic shared memory, 1024-byte aligned. The emulator hands out its own, poisoned.
#if RICCI_ON_GPU
#define RICCI_SHARED(name) extern __shared__ __align__(1024) unsigned char name[]
#elif defined(RICCI_EMULATED)
#define RICCI_SHARED(name) unsigned char* name = static_cast<unsigned char*>(ricci_emulated_shared())
#endif

#if RICCI_ON_GPU || defined(RICCI_EMULATED)
/// The number of this block: a grid of 2^31 blocks or more has a second dimension, and may be a little larger than
/// was asked for.
RICCI_FUNCTION long long block_number() { return blockIdx.x + static_cast<long long>(gridDim.x) * blockIdx.y; }

/// The thread's warp's number among those of its SM, of which four neighbors are in its four quarters: for choices
/// that only times depend on.
RICCI_FUNCTION int warp_of_sm() {
#if RICCI_ON_GPU
    int warp;
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    return warp;
#else
    return static_cast<int>((threadIdx.x + blockIdx.x * blockDim.x) / 32);
#endif
}
#endif

// Loops over constants that must be unrolled, and those of which a few rounds are enough: unrolled whole, they take
// NVRTC up to half a second.
#if RICCI_ON_GPU
#define RICCI_UNROLL _Pragma("unroll")
#define RICCI_UNROLL_2 _Pragma("unroll 2")
#define RICCI_UNROLL_4 _Pragma("unroll 4")
#define RICCI_UNROLL_ONCE _Pragma("unroll 1")
#define RICCI_UNROLL_K _Pragma("unroll k_unrolled")
#else
#define RICCI_UNROLL
#define RICCI_UNROLL_2
#define RICCI_UNROLL_4
#define RICCI_UNROLL_ONCE
#define RICCI_UNROLL_K
#endif

/// A copy of a value that the compiler takes for another: what depends on it is computed again instead of held in
/// registers.
RICCI_FUNCTION long long as_if_new(long long value) {
#if RICCI_ON_GPU
    asm volatile("" : "+l"(value));
#endif
    return value;
}
RICCI_FUNCTION int as_if_new(int value) {
#if RICCI_ON_GPU
    asm volatile("" : "+r"(value));
#endif
    return value;
}

/// 0, of which the compiler does not know that it is the same in all lanes.
RICCI_FUNCTION unsigned zero_of_lane() {
#if RICCI_ON_GPU
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane >> 5;
#else
    return 0;
#endif
}

/// By all of four neighboring warps, the first of them a multiple of four: from here on each thread has Count
/// registers (a multiple of 8 from 24 to 240) instead of those that the kernel started with: fewer, or more once
/// others gave theirs up. Of architecture-specific kernels, sm_90a; else, and for 0, nothing happens.
template <int Count, bool More> RICCI_FUNCTION void have_registers() {
#if RICCI_ON_GPU && (defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_SPECIFIC__))
    if constexpr (Count > 0 && More) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
    else if constexpr (Count > 0) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
#endif
}

/// The bits of a float, and back.
RICCI_FUNCTION unsigned bits_of(float value) {
#if RICCI_ON_GPU
    return __float_as_uint(value);
#else
    unsigned bits;
    __builtin_memcpy(&bits, &value, 4);
    return bits;
#endif
}
RICCI_FUNCTION float float_of(unsigned bits) {
#if RICCI_ON_GPU
    return __uint_as_float(bits);
#else
    float value;
    __builtin_memcpy(&value, &bits, 4);
    return value;
#endif
}

// A type that one instruction converts. (g++ 12 has _Float16 on other x86 CPUs too, and calls a function there.)
#if !RICCI_ON_GPU && defined(__aarch64__)
#define RICCI_CONVERTS_HALVES
using native_half = __fp16;
#elif !RICCI_ON_GPU && defined(__F16C__) && defined(__FLT16_MANT_DIG__) && !defined(__clang__)
#define RICCI_CONVERTS_HALVES
using native_half = _Float16;
#endif

/// binary16 bits -> float.
RICCI_FUNCTION float float_from_half(unsigned short bits) {
#if RICCI_ON_GPU
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
#else
    // Without a branch, so that a loop of them becomes vectors. A product brings the exponent from one bias to the
    // other, which subnormal numbers survive.
    const unsigned sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
    const float finite = float_of(magnitude << 13) * 0x1p112f;
    return float_of(bits_of(finite) | (magnitude >= 0x7c00u ? 0x7f800000u : 0u) | sign);
#endif
}

/// float -> binary16 bits, to nearest even.
RICCI_FUNCTION unsigned short half_from_float(float value) {
#if RICCI_ON_GPU
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
#elif defined(RICCI_CONVERTS_HALVES)
    const native_half narrow = static_cast<native_half>(value);
    unsigned short bits;
    __builtin_memcpy(&bits, &narrow, 2);
    return bits;
#else
    const unsigned f = bits_of(value), sign = (f >> 16) & 0x8000u, magnitude = f & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<unsigned short>(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) return static_cast<unsigned short>(sign | 0x7c00u);
    if (magnitude < 0x38800000u) // subnormal: adding 0.5 rounds to units of 2^-24
        return static_cast<unsigned short>(sign | (bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u));
    return static_cast<unsigned short>(sign | ((magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13));
#endif
}

/// float -> bfloat16 bits, to nearest even.
RICCI_FUNCTION unsigned short bfloat16_from_float(float value) {
#if RICCI_ON_GPU && __CUDA_ARCH__ >= 800
    unsigned short bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
#else
    const unsigned f = bits_of(value);
    if (value != value) return static_cast<unsigned short>((f >> 16) | 0x40u);
    return static_cast<unsigned short>((f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
#endif
}

/// Stores 4, 8 or 16 bytes at a multiple of as many in global memory by one access: left to itself the compiler
/// splits some.
template <int Words> RICCI_FUNCTION void store_words(void* global, const unsigned (&w)[Words]) {
    static_assert(Words == 1 || Words == 2 || Words == 4, "as the instruction has them");
#if RICCI_ON_GPU
    if constexpr (Words == 1)
        asm volatile("st.global.b32 [%0], %1;" ::"l"(__cvta_generic_to_global(global)), "r"(w[0]) : "memory");
    else if constexpr (Words == 2)
        asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(global)), "r"(w[0]), "r"(w[1])
                     : "memory");
    else
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(global)), "r"(w[0]),
                     "r"(w[1]), "r"(w[2]), "r"(w[3])
                     : "memory");
#else
    __builtin_memcpy(global, w, sizeof(w));
#endif
}

/// Stores to shared memory, `Offset` values behind a place, where `wanted`, without a branch, so that what stands
/// around is still one sequence of instructions to the compiler, which it orders.
template <int Offset = 0, class T> RICCI_FUNCTION void store_if(bool wanted, T* in_shared, const T& value) {
#if RICCI_ON_GPU
    constexpr int size = static_cast<int>(sizeof(T)), words = size / 8;
    static_assert(size % 8 == 0 && (words == 1 || words % 2 == 0), "whole accesses");
    unsigned long long w[words];
    ::memcpy(w, &value, sizeof(T));
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(in_shared));
    if constexpr (words == 1) {
        asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p st.shared.b64 [%0 + %3], %1;\n}" ::"r"(address),
                     "l"(w[0]), "r"(static_cast<int>(wanted)), "n"(Offset * size)
                     : "memory");
    } else {
        asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %3, 0;\n@p st.shared.v2.b64 [%0 + %4], {%1, %2};\n}" ::"r"(
                         address),
                     "l"(w[0]), "l"(w[1]), "r"(static_cast<int>(wanted)), "n"(Offset * size)
                     : "memory");
        if constexpr (words > 2)
            asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %3, 0;\n@p st.shared.v2.b64 [%0 + %4], {%1, %2};\n}" ::"r"(
                             address),
                         "l"(w[words - 2]), "l"(w[words - 1]), "r"(static_cast<int>(wanted)), "n"(Offset * size + 16)
                         : "memory");
    }
#else
    if (wanted) in_shared[Offset] = value;
#endif
}

/// `yes` or `no`, by a selection: left to itself NVRTC 13.0 may select the address of one, and keep all in memory.
RICCI_FUNCTION double selected(bool first, double yes, double no) {
#if RICCI_ON_GPU
    double out;
    asm("{\n.reg .pred p;\nsetp.ne.s32 p, %3, 0;\nselp.f64 %0, %1, %2, p;\n}"
        : "=d"(out)
        : "d"(yes), "d"(no), "r"(static_cast<int>(first)));
    return out;
#else
    return first ? yes : no;
#endif
}
RICCI_FUNCTION float selected(bool first, float yes, float no) {
#if RICCI_ON_GPU
    float out;
    asm("{\n.reg .pred p;\nsetp.ne.s32 p, %3, 0;\nselp.f32 %0, %1, %2, p;\n}"
        : "=f"(out)
        : "f"(yes), "f"(no), "r"(static_cast<int>(first)));
    return out;
#else
    return first ? yes : no;
#endif
}

/// The upper 64 bits of a product.
RICCI_FUNCTION unsigned long long high_product(unsigned long long a, unsigned long long b) {
#if RICCI_ON_GPU
    unsigned long long high;
    asm("mul.hi.u64 %0, %1, %2;" : "=l"(high) : "l"(a), "l"(b));
    return high;
#else
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
#endif
}

/// Adds to a number in global memory by one atomic operation, which returns nothing. (The emulator's threads take
/// turns.)
RICCI_FUNCTION void add_atomically(float* global, float value) {
#if RICCI_ON_GPU
    asm volatile("red.global.add.f32 [%0], %1;" ::"l"(__cvta_generic_to_global(global)), "f"(value) : "memory");
#else
    *global += value;
#endif
}
RICCI_FUNCTION void add_atomically(double* global, double value) {
#if RICCI_ON_GPU
    asm volatile("red.global.add.f64 [%0], %1;" ::"l"(__cvta_generic_to_global(global)), "d"(value) : "memory");
#else
    *global += value;
#endif
}

/// What a kernel begins with: from sm_90 on it may start while the last blocks of those before it in its stream end
/// (programmatic dependent launch), and waits here until they are done and what they wrote can be seen. Before it
/// nothing in memory is read or written. Letting the next kernel in earlier (griddepcontrol.launch_dependents) saves
/// no more: its blocks then take places unevenly (H200, f32 32 in 4 MB: 7.3 us, this way 4.7, one by one 6.0).
RICCI_FUNCTION void wait_for_stream() {
#if RICCI_ON_GPU && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
