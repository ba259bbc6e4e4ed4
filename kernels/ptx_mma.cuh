// ptx_mma: the tensor cores' small matrix products D = A*B + D, each by all 32 lanes of a warp.
//
// With q = lane % 4 and h = lane / 4, a lane holds rows h and h + 8 of A, column h of B, and columns 2q and 2q + 1 of D. Which k its
// elements of A and B stand for is the caller's: lanes of equal q must agree on it.
#pragma once

#include "ptx.cuh"

/// f64, 8 x 8 x 4: A[h], B[h], D[h][2q + {0, 1}].
RICCI_FUNCTION void mma_f64(double (&d)[2], double a, double b) {
#if RICCI_ON_GPU
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(d[0]), "+d"(d[1]) : "d"(a), "d"(b));
#else
    const unsigned lane = threadIdx.x % 32;
    for (unsigned q = 0; q < 4; ++q) {
        const double x = __shfl_sync(0xffffffffu, a, static_cast<int>(lane / 4 * 4 + q));
        for (unsigned i = 0; i < 2; ++i) d[i] += x * __shfl_sync(0xffffffffu, b, static_cast<int>((2 * (lane % 4) + i) * 4 + q));
    }
#endif
}

#if !RICCI_ON_GPU
/// The twin of both: a[row / 8 + 2 * (e / 2)] and b[e / 2] hold elements e of 4 in their low and high halves.
template <class Widen> RICCI_FUNCTION void mma_16_bits(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const Widen& widen_bits) {
    const unsigned lane = threadIdx.x % 32;
    for (unsigned q = 0; q < 4; ++q)
        for (unsigned pair = 0; pair < 2; ++pair) {
            unsigned x[2], y[2];
            for (unsigned i = 0; i < 2; ++i) x[i] = __shfl_sync(0xffffffffu, a[i + 2 * pair], static_cast<int>(lane / 4 * 4 + q));
            for (unsigned i = 0; i < 2; ++i) y[i] = __shfl_sync(0xffffffffu, b[pair], static_cast<int>((2 * (lane % 4) + i) * 4 + q));
            for (unsigned e = 0; e < 2; ++e)
                for (unsigned i = 0; i < 4; ++i)
                    d[i] += widen_bits(static_cast<unsigned short>(x[i / 2] >> 16 * e)) * widen_bits(static_cast<unsigned short>(y[i % 2] >> 16 * e));
        }
}
#endif

/// binary16 into f32, 16 x 8 x 16: a = {A[h] e 0 1, A[h + 8] e 0 1, A[h] e 2 3, A[h + 8] e 2 3}, b = {B[h] e 0 1, B[h] e 2 3},
/// d = {D[h][2q], D[h][2q + 1], D[h + 8][2q], D[h + 8][2q + 1]}.
RICCI_FUNCTION void mma_f16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if RICCI_ON_GPU
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    mma_16_bits(d, a, b, [](unsigned short bits) { return float_from_half(bits); });
#endif
}

/// The same for bfloat16.
RICCI_FUNCTION void mma_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if RICCI_ON_GPU
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    mma_16_bits(d, a, b, [](unsigned short bits) { return float_of(static_cast<unsigned>(bits) << 16); });
#endif
}

/// TF32 into f32, 16 x 8 x 8: f32 numbers of which the last 13 bits are dropped; a = {A[h] e 0, A[h + 8] e 0, A[h] e 1, A[h + 8] e 1},
/// b = {B[h] e 0, B[h] e 1}, d as above.
RICCI_FUNCTION void mma_tf32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if RICCI_ON_GPU
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    const unsigned lane = threadIdx.x % 32, kept = 0xffffe000u;
    for (unsigned q = 0; q < 4; ++q)
        for (unsigned e = 0; e < 2; ++e)
            for (unsigned i = 0; i < 4; ++i) {
                const unsigned x = __shfl_sync(0xffffffffu, a[i / 2 + 2 * e], static_cast<int>(lane / 4 * 4 + q));
                const unsigned y = __shfl_sync(0xffffffffu, b[e], static_cast<int>((2 * (lane % 4) + i % 2) * 4 + q));
                d[i] += float_of(x & kept) * float_of(y & kept);
            }
#endif
}

/// Loads Count (2 or 4) matrices of 8 x 8 16-bit elements from shared memory: lane l gives the address of row l % 8 of matrix l / 8, a
/// multiple of 16 bytes, and gets of each matrix elements 2q and 2q + 1 of row h; Transposed: of column h, in rows 2q and 2q + 1.
template <int Count, bool Transposed> RICCI_FUNCTION void load_matrices(unsigned (&d)[Count], const void* row) {
    static_assert(Count == 2 || Count == 4, "as the instruction has them");
#if RICCI_ON_GPU
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
    if constexpr (Count == 2 && !Transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(d[0]), "=r"(d[1]) : "r"(address) : "memory");
    else if constexpr (Count == 2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(d[0]), "=r"(d[1]) : "r"(address) : "memory");
    else if constexpr (!Transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(address) : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(address) : "memory");
#else
    const int high = threadIdx.x % 32 / 4, low = threadIdx.x % 4;
    for (int i = 0; i < Count; ++i) {
        unsigned parts[2];
        for (int e = 0; e < 2; ++e) {
            const int stored_row = Transposed ? 2 * low + e : high, stored_column = Transposed ? high : 2 * low + e;
            const auto at = __shfl_sync(0xffffffffu, reinterpret_cast<unsigned long long>(row), 8 * i + stored_row);
            parts[e] = reinterpret_cast<const unsigned short*>(at)[stored_column];
        }
        d[i] = parts[0] | parts[1] << 16;
    }
#endif
}
