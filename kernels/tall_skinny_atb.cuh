// tall_skinny_atb: C = X^T Y with a long k. Each block sums a fixed slice of k into its own m x n partial result, C[.., chunk];
// a reduction over the chunks follows as a step of its own, so the bits depend on nothing but the sizes. Rows of k are staged in
// shared memory; a thread owns elements of C, and where C is small the threads left over share k.
// Constants: product.hpp's, and rows_per_tile, threads_per_block.
#pragma once

#include "product.hpp"

constexpr int elements = static_cast<int>(m * n);
constexpr int slices = elements < threads_per_block ? threads_per_block / elements : 1; // threads that share an element of C
constexpr int owned = (elements + threads_per_block - 1) / threads_per_block;           // elements of C a thread
constexpr int x_pitch = static_cast<int>(m) + 1, y_pitch = static_cast<int>(n) + 1;
// Which index of an operand is nearer in memory, and so for neighboring threads to load.
constexpr bool x_rows_fast = k_stride[0][0] != argument && (m_axes == 0 || m_stride[1][0] == argument || k_stride[0][0] == 1);
constexpr bool y_rows_fast = k_stride[1][0] != argument && (n_axes == 0 || n_stride[1][0] == argument || k_stride[1][0] == 1);

extern "C" __global__ void __launch_bounds__(threads_per_block) ricci_tall_skinny_atb(const __grid_constant__ arguments a) {
    RICCI_SHARED(memory);
    compute* xs = reinterpret_cast<compute*>(memory); // [row][m + 1]
    compute* ys = xs + rows_per_tile * x_pitch;       // [row][n + 1]
    const long long length = a.k_length[0];
    const long long block = block_number();
    if (block >= a.blocks) return;
    const long long first = length * block / a.blocks, last = length * (block + 1) / a.blocks;
    const int slice = slices > 1 ? threadIdx.x / elements : 0;

    compute sums[owned];
    RICCI_UNROLL
    for (int o = 0; o < owned; ++o) sums[o] = from_real<compute>(0, 0);
    for (long long begin = first; begin < last; begin += rows_per_tile) {
        const int rows = static_cast<int>(last - begin < rows_per_tile ? last - begin : rows_per_tile);
        RICCI_UNROLL_2
        for (int e = threadIdx.x; e < rows_per_tile * m; e += threads_per_block) {
            const int row = x_rows_fast ? e % rows_per_tile : e / m, i = x_rows_fast ? e / rows_per_tile : e % m;
            if (row < rows) xs[row * x_pitch + i] = load_x(a.x, x_offset(a, i, begin + row));
        }
        RICCI_UNROLL_2
        for (int e = threadIdx.x; e < rows_per_tile * n; e += threads_per_block) {
            const int row = y_rows_fast ? e % rows_per_tile : e / n, j = y_rows_fast ? e / rows_per_tile : e % n;
            if (row < rows) ys[row * y_pitch + j] = load_y(a.y, y_offset(a, begin + row, j));
        }
        __syncthreads();
        if (slice < slices) {
            RICCI_UNROLL
            for (int o = 0; o < owned; ++o) {
                const int e = (slices > 1 ? threadIdx.x % elements : threadIdx.x) + o * threads_per_block;
                if (e >= elements) break;
                compute part = from_real<compute>(0, 0); // so that the rounding error does not grow with the slice's length
                RICCI_UNROLL_ONCE
                for (int row = slice; row < rows; row += slices) part += xs[row * x_pitch + e % m] * ys[row * y_pitch + e / m];
                sums[o] += part;
            }
        }
        __syncthreads();
    }

    compute* c = static_cast<compute*>(a.c) + elements * block;
    if constexpr (slices == 1) {
        RICCI_UNROLL
        for (int o = 0; o < owned; ++o) {
            const int e = threadIdx.x + o * threads_per_block;
            if (e < elements) c[c_offset(a, e % m, e / m)] = sums[o];
        }
    } else {
        compute* parts = xs; // [slice][element]; the tiles have been read
        if (slice < slices) parts[threadIdx.x] = sums[0];
        __syncthreads();
        for (int e = threadIdx.x; e < elements; e += threads_per_block) {
            compute total = parts[e];
            for (int s = 1; s < slices; ++s) total += parts[s * elements + e];
            c[c_offset(a, e % m, e / m)] = total;
        }
    }
}
