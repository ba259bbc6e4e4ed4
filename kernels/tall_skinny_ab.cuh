// tall_skinny_ab: C = X*Y with a long m, of one axis or several, and small n, k. Y lies in shared memory; a thread does a row, columns_at_once columns at a
// time in registers. Constants: product.hpp's, and rows_per_block.
#pragma once

#include "product.hpp"

constexpr int columns_at_once = n < 8 ? static_cast<int>(n) : 8;

extern "C" __global__ void __launch_bounds__(rows_per_block) ricci_tall_skinny_ab(const __grid_constant__ arguments a) {
    RICCI_SHARED(memory);
    compute* ys = reinterpret_cast<compute*>(memory); // [n][k]
    for (int e = threadIdx.x; e < k * n; e += rows_per_block) ys[e] = load_y(a.y, y_offset(a, e % k, e / k));
    __syncthreads();
    const long long block = block_number();
    const long long i = block * rows_per_block + threadIdx.x;
    if (i >= row_count(a)) return;
    const long long x_row = m_offset(a, 1, i), c_row = m_offset(a, 0, i);
    for (int begin = 0; begin < n; begin += columns_at_once) {
        compute sums[columns_at_once];
        RICCI_UNROLL
        for (int j = 0; j < columns_at_once; ++j) sums[j] = from_real<compute>(0, 0);
        for (int l = 0; l < k; ++l) {
            const compute x = load_x(a.x, x_row + k_offset(a, 0, l));
            RICCI_UNROLL
            for (int j = 0; j < columns_at_once; ++j)
                if (begin + j < n) sums[j] += x * ys[(begin + j) * k + l];
        }
        RICCI_UNROLL
        for (int j = 0; j < columns_at_once; ++j)
            if (begin + j < n) store_c(a, c_row + n_offset(a, 0, begin + j), sums[j]);
    }
}
