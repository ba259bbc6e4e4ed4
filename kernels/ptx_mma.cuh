// ptx_mma: the tensor cores' small matrix products D = A*B + D, each by all 32 lanes of a warp.
//
// With q = lane % 4 and h = lane / 4, a lane holds rows h and h + 8 of A, column h of B, and columns 2q and 2q + 1 of
// D. Which k its elements of A and B stand for is the caller's: lanes of equal q must agree on it.
#pragma once

#include "ptx.cuh"

/// f64, 8 x 8 x 4: A[h], B[h], D[h][2q + {0, 1}].
RICCI_FUNCTION void mma_f64(double (&d)[2], double a, double b) {
#if RICCI_ON_GPU
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d[0]), "+d"(d[1])
        : "d"(a), "d"(b));
#else
    const ricci_emulated_lanes as(0xffffffffu, 6, __LINE__, a), bs(0xffffffffu, 6, __LINE__, b);
    const unsigned lane = threadIdx.x % 32;
    for (unsigned q = 0; q < 4; ++q)
        for (unsigned i = 0; i < 2; ++i)
            d[i] += as.at<double>(lane / 4 * 4 + q) * bs.at<double>((2 * (lane % 4) + i) * 4 + q);
#endif
}

/// f64, 16 x 8 x 4, sm_90: a = {A[h], A[h + 8]}, d = {D[h][2q], D[h][2q + 1], D[h + 8][2q], D[h + 8][2q + 1]}. An
/// H200 makes one every 16.3 cycles in each quarter of an SM, and the product of half as many rows in the same time.
RICCI_FUNCTION void mma_f64(double (&d)[4], const double (&a)[2], double b) {
#if RICCI_ON_GPU
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(b));
#else
    double low[2] = {d[0], d[1]}, high[2] = {d[2], d[3]};
    mma_f64(low, a[0], b), mma_f64(high, a[1], b);
    d[0] = low[0], d[1] = low[1], d[2] = high[0], d[3] = high[1];
#endif
}

#if !RICCI_ON_GPU
RICCI_FUNCTION unsigned long long both(unsigned low, unsigned high) {
    return low | static_cast<unsigned long long>(high) << 32;
}

/// The twin of both: a[row / 8 + 2 * (e / 2)] and b[e / 2] hold elements e of 4 in their low and high halves.
template <class Widen>
RICCI_FUNCTION void mma_16_bits(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                                const Widen& widen_bits) {
    const ricci_emulated_lanes as[] = {{0xffffffffu, 7, __LINE__, both(a[0], a[1])},
                                       {0xffffffffu, 7, __LINE__, both(a[2], a[3])}};
    const ricci_emulated_lanes bs(0xffffffffu, 7, __LINE__, both(b[0], b[1]));
    const unsigned lane = threadIdx.x % 32;
    for (unsigned q = 0; q < 4; ++q)
        for (unsigned e = 0; e < 4; ++e)
            for (unsigned i = 0; i < 4; ++i) {
                const auto x = as[e / 2].bits[lane / 4 * 4 + q] >> 32 * (i / 2),
                           y = bs.bits[(2 * (lane % 4) + i % 2) * 4 + q] >> 32 * (e / 2);
                d[i] += widen_bits(static_cast<unsigned short>(x >> 16 * (e % 2))) *
                        widen_bits(static_cast<unsigned short>(y >> 16 * (e % 2)));
            }
}
#endif

/// binary16 into f32, 16 x 8 x 16: a = {A[h] e 0 1, A[h + 8] e 0 1, A[h] e 2 3, A[h + 8] e 2 3}, b = {B[h] e 0 1,
/// B[h] e 2 3}, d = {D[h][2q], D[h][2q + 1], D[h + 8][2q], D[h + 8][2q + 1]}.
RICCI_FUNCTION void mma_f16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if RICCI_ON_GPU
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    mma_16_bits(d, a, b, [](unsigned short bits) { return float_from_half(bits); });
#endif
}

/// The same for bfloat16.
RICCI_FUNCTION void mma_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if RICCI_ON_GPU
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    mma_16_bits(d, a, b, [](unsigned short bits) { return float_of(static_cast<unsigned>(bits) << 16); });
#endif
}

/// Half as long, 16 x 8 x 8: e 0 1 of both.
RICCI_FUNCTION void mma_f16(float (&d)[4], const unsigned (&a)[2], unsigned b) {
#if RICCI_ON_GPU
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b));
#else
    mma_f16(d, {a[0], a[1], 0, 0}, {b, 0});
#endif
}
RICCI_FUNCTION void mma_bf16(float (&d)[4], const unsigned (&a)[2], unsigned b) {
#if RICCI_ON_GPU
    asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b));
#else
    mma_bf16(d, {a[0], a[1], 0, 0}, {b, 0});
#endif
}

/// TF32 into f32, 16 x 8 x 8: f32 numbers of which the last 13 bits are dropped; a = {A[h] e 0, A[h + 8] e 0, A[h] e
/// 1, A[h + 8] e 1}, b = {B[h] e 0, B[h] e 1}, d as above.
RICCI_FUNCTION void mma_tf32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if RICCI_ON_GPU
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    const ricci_emulated_lanes as[] = {{0xffffffffu, 8, __LINE__, both(a[0], a[1])},
                                       {0xffffffffu, 8, __LINE__, both(a[2], a[3])}};
    const ricci_emulated_lanes bs(0xffffffffu, 8, __LINE__, both(b[0], b[1]));
    const unsigned lane = threadIdx.x % 32, kept = 0xffffe000u;
    for (unsigned q = 0; q < 4; ++q)
        for (unsigned e = 0; e < 2; ++e)
            for (unsigned i = 0; i < 4; ++i) {
                const auto x = static_cast<unsigned>(as[e].bits[lane / 4 * 4 + q] >> 32 * (i / 2));
                const auto y = static_cast<unsigned>(bs.bits[(2 * (lane % 4) + i % 2) * 4 + q] >> 32 * e);
                d[i] += float_of(x & kept) * float_of(y & kept);
            }
#endif
}

/// x rounded to TF32, to nearest: a number of 11 bits, whose last 13 bits of 32 a product may have to drop. Infinity
/// and NaN stay.
RICCI_FUNCTION unsigned rounded_to_tf32(float x) {
#if RICCI_ON_GPU && __CUDA_ARCH__ >= 900
    unsigned out;
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(out) : "f"(x));
    return out;
#else
    const unsigned bits = bits_of(x);
    // ties away from zero, where the instruction rounds them to even
    return (bits & 0x7fffffffu) < 0x7f800000u ? bits + 0x1000u : bits;
#endif
}

/// Loads Count (2 or 4) matrices of 8 x 8 16-bit elements from shared memory: lane l gives the address of row l % 8
/// of matrix l / 8, a multiple of 16 bytes, and gets of each matrix elements 2q and 2q + 1 of row h; Transposed: of
/// column h, in rows 2q and 2q + 1.
template <int Count, bool Transposed> RICCI_FUNCTION void load_matrices(unsigned (&d)[Count], const void* row) {
    static_assert(Count == 2 || Count == 4, "as the instruction has them");
#if RICCI_ON_GPU
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
    if constexpr (Count == 2 && !Transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(d[0]), "=r"(d[1])
                     : "r"(address)
                     : "memory");
    else if constexpr (Count == 2)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(d[0]), "=r"(d[1])
                     : "r"(address)
                     : "memory");
    else if constexpr (!Transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                     : "r"(address)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                     : "r"(address)
                     : "memory");
#else
    const ricci_emulated_lanes rows(0xffffffffu, 9, __LINE__, row);
    const unsigned high = threadIdx.x % 32 / 4, low = threadIdx.x % 4;
    for (unsigned i = 0; i < Count; ++i) {
        const auto element = [&](unsigned stored_row, unsigned stored_column) -> unsigned {
            return static_cast<const unsigned short*>(rows.at<const void*>(8 * i + stored_row))[stored_column];
        };
        d[i] = Transposed ? element(2 * low, high) | element(2 * low + 1, high) << 16
                          : element(high, 2 * low) | element(high, 2 * low + 1) << 16;
    }
#endif
}
