// ptx_wgmma: the tensor cores' products of a warpgroup, four neighboring warps, one of whose factors lies in shared
// memory (wgmma, sm_90a only). They run beside the warps, which fence, commit and wait.
#pragma once

#include "ptx_copy.cuh"
#include "ptx_mma.cuh"

/// A factor in shared memory, of TF32 numbers: of each column 4 neighbors of the sum, 16 bytes, one column behind the
/// other; the next 4 of the sum lie `line` bytes further on, a multiple of 16.
struct wgmma_columns {
#if RICCI_ON_GPU
    unsigned descriptor; ///< its low half; the high one says that the next 8 columns lie 128 bytes further on
    /// Of all lanes: the instruction takes it from a register of the warp's, and so the compiler knows that it may.
    RICCI_FUNCTION wgmma_columns(const void* first, int line)
        : wgmma_columns(__shfl_sync(0xffffffffu, shared_address(first) >> 4 | unsigned(line >> 4) << 16, 0)) {}
    /// Those `bytes` further on, a multiple of 16.
    RICCI_FUNCTION wgmma_columns behind(int bytes) const { return wgmma_columns(descriptor + (bytes >> 4)); }

  private:
    explicit RICCI_FUNCTION wgmma_columns(unsigned bits) : descriptor(bits) {}
#else
    const unsigned char* first;
    int line;
    wgmma_columns(const void* first, int line) : first(static_cast<const unsigned char*>(first)), line(line) {}
    wgmma_columns behind(int bytes) const { return {first + bytes, line}; }
#endif
};

/// Before the first product, and after registers that products read or add to were written.
RICCI_FUNCTION void wgmma_fence() {
#if RICCI_ON_GPU
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
/// The products since the last call become a group.
RICCI_FUNCTION void wgmma_commit() {
#if RICCI_ON_GPU
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
/// Waits until at most `Pending` groups, the youngest, are under way.
template <int Pending> RICCI_FUNCTION void wgmma_wait() {
#if RICCI_ON_GPU
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
#endif
}

/// Behind the wait for the products that added to a sum: the compiler would copy it before.
RICCI_FUNCTION void wgmma_is_done(float& sum) {
#if RICCI_ON_GPU
    asm volatile("" : "+f"(sum)::"memory");
#endif
}

#if RICCI_ON_GPU
#define RICCI_SUMS_4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
// In the text the sums have the operands' first numbers, A's registers, Y and the sign the next ones.
#define RICCI_WGMMA(columns, sums, a0, a1, a2, a3, b, sign, ...)                                                     \
    asm volatile("{.reg .pred adds;\n.reg .b64 y;\nsetp.ne.b32 adds, 1, 0;\nmov.b64 y, {%" #b ", 8};\n"              \
                 "wgmma.mma_async.sync.aligned.m64n" #columns "k8.f32.tf32.tf32 {" sums "}, {%" #a0 ", %" #a1        \
                 ", %" #a2 ", %" #a3 "}, y, adds, %" #sign ", 1;}"                                                   \
                 : __VA_ARGS__                                                                                       \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(y.descriptor), "n"(Negative ? -1 : 1))
#endif

/// d += A*Y, or -= where Negative, of TF32 numbers, 64 x 2 Count x 8: of a warp's 16 rows, with q = lane % 4 and h =
/// lane / 4, a = {A[h][q], A[h + 8][q], A[h][q + 4], A[h + 8][q + 4]}, and d[4 c] ... = {D[h][8 c + 2 q], D[h][8 c +
/// 2 q + 1], D[h + 8][8 c + 2 q], D[h + 8][8 c + 2 q + 1]}. An H200's SM makes one of 32 columns in 16 cycles, one of
/// fewer in 13.
template <bool Negative, int Count>
RICCI_FUNCTION void wgmma_tf32(float (&d)[Count], const unsigned (&a)[4], const wgmma_columns& y) {
    static_assert(Count == 4 || Count == 8 || Count == 12 || Count == 16, "8 to 32 columns");
#if RICCI_ON_GPU
    if constexpr (Count == 4)
        RICCI_WGMMA(8, "%0, %1, %2, %3", 4, 5, 6, 7, 8, 9, RICCI_SUMS_4(0));
    else if constexpr (Count == 8)
        RICCI_WGMMA(16, "%0, %1, %2, %3, %4, %5, %6, %7", 8, 9, 10, 11, 12, 13, RICCI_SUMS_4(0), RICCI_SUMS_4(4));
    else if constexpr (Count == 12)
        RICCI_WGMMA(24, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11", 12, 13, 14, 15, 16, 17,
                    RICCI_SUMS_4(0), RICCI_SUMS_4(4), RICCI_SUMS_4(8));
    else
        RICCI_WGMMA(32, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15", 16, 17, 18, 19, 20,
                    21, RICCI_SUMS_4(0), RICCI_SUMS_4(4), RICCI_SUMS_4(8), RICCI_SUMS_4(12));
#else
    const ricci_emulated_lanes as[] = {{0xffffffffu, 10, __LINE__, both(a[0], a[1])},
                                       {0xffffffffu, 10, __LINE__, both(a[2], a[3])}};
    const unsigned lane = threadIdx.x % 32, kept = 0xffffe000u;
    for (unsigned s = 0; s < Count; ++s) {
        const unsigned column = s / 4 * 8 + 2 * (lane % 4) + s % 2;
        for (unsigned l = 0; l < 8; ++l) {
            unsigned right;
            __builtin_memcpy(&right, y.first + l / 4 * y.line + column * 16 + l % 4 * 4, 4);
            const auto left = static_cast<unsigned>(as[l / 4].bits[lane / 4 * 4 + l % 4] >> 32 * (s / 2 % 2));
            const float product = float_of(left & kept) * float_of(right & kept);
            d[s] += Negative ? -product : product;
        }
    }
#endif
}
