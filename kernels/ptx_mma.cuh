// ptx_mma: the tensor cores' small matrix products, each by all 32 lanes of a warp.
#pragma once

#include "ptx.cuh"

/// D = A*B + D in f64, 8 x 8 x 4. A lane holds A[lane/4][lane%4], B[lane%4][lane/4], and D[lane/4][2*(lane%4) + {0, 1}].
RICCI_FUNCTION void dmma_8x8x4(double (&d)[2], double a, double b) {
#if RICCI_ON_GPU
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(d[0]), "+d"(d[1]) : "d"(a), "d"(b));
#else
    const unsigned lane = threadIdx.x % 32;
    RICCI_UNROLL
    for (unsigned q = 0; q < 4; ++q) {
        const double x = __shfl_sync(0xffffffffu, a, static_cast<int>(lane / 4 * 4 + q));
        for (unsigned h = 0; h < 2; ++h) d[h] += x * __shfl_sync(0xffffffffu, b, static_cast<int>((2 * (lane % 4) + h) * 4 + q));
    }
#endif
}
