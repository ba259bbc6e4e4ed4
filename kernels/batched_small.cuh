// batched_small: many products with m, n, k up to 64. A block does products_per_block whole products: X and Y go to shared memory
// once, then each thread forms elements of C. Constants: product.hpp's, and products_per_block, threads_per_block,
// x_fastest, y_fastest, c_fastest (0: the row index, 1: the column index, 2: the batch; which one a warp walks along).
#pragma once

#include "product.hpp"

/// Splits a flat index over (row, column, product) of a rows x columns tile, the axis named by Fastest first.
template <int Fastest, int Rows, int Columns> RICCI_FUNCTION void split_tile(int flat, int& row, int& column, int& product) {
    if constexpr (Fastest == 0) {
        row = flat % Rows, column = flat / Rows % Columns, product = flat / (Rows * Columns);
    } else if constexpr (Fastest == 1) {
        column = flat % Columns, row = flat / Columns % Rows, product = flat / (Rows * Columns);
    } else {
        product = flat % products_per_block, row = flat / products_per_block % Rows, column = flat / products_per_block / Rows;
    }
}

// One more element a column keeps columns on different banks.
constexpr int x_pitch = static_cast<int>(m) + 1, y_pitch = static_cast<int>(k) + 1;
constexpr int x_tile = x_pitch * static_cast<int>(k), y_tile = y_pitch * static_cast<int>(n);
constexpr int where_bytes = (products_per_block * 3 * 8 + 15) / 16 * 16;

extern "C" __global__ void __launch_bounds__(threads_per_block) ricci_batched_small(const __grid_constant__ arguments a) {
    RICCI_SHARED(memory);
    long long* where = reinterpret_cast<long long*>(memory);              // [product][c, x, y]
    compute* xs = reinterpret_cast<compute*>(memory + where_bytes);       // [product][k][m + 1]
    compute* ys = xs + products_per_block * x_tile;                       // [product][n][k + 1]
    const long long block = block_number();
    const long long first = block * products_per_block;
    if (first >= a.products) return; // the whole block
    const int products = static_cast<int>(a.products - first < products_per_block ? a.products - first : products_per_block);

    for (int p = threadIdx.x; p < products; p += threads_per_block) {
        const batch_offsets at = offsets_of(a, first + p);
        where[3 * p] = at.c, where[3 * p + 1] = at.x, where[3 * p + 2] = at.y;
    }
    __syncthreads();
    RICCI_UNROLL_2
    for (int e = threadIdx.x; e < products_per_block * m * k; e += threads_per_block) {
        int row, column, p;
        split_tile<x_fastest, m, k>(e, row, column, p);
        if (p < products) xs[p * x_tile + column * x_pitch + row] = load_x(a.x, where[3 * p + 1] + x_offset(a, row, column));
    }
    RICCI_UNROLL_2
    for (int e = threadIdx.x; e < products_per_block * k * n; e += threads_per_block) {
        int row, column, p;
        split_tile<y_fastest, k, n>(e, row, column, p);
        if (p < products) ys[p * y_tile + column * y_pitch + row] = load_y(a.y, where[3 * p + 2] + y_offset(a, row, column));
    }
    __syncthreads();
    RICCI_UNROLL_ONCE
    for (int e = threadIdx.x; e < products_per_block * m * n; e += threads_per_block) {
        int i, j, p;
        split_tile<c_fastest, m, n>(e, i, j, p);
        if (p >= products) continue;
        compute sum = from_real<compute>(0, 0);
        RICCI_UNROLL_2
        for (int l = 0; l < k; ++l) sum += xs[p * x_tile + l * x_pitch + i] * ys[p * y_tile + j * y_pitch + l];
        store_c(a, where[3 * p] + c_offset(a, i, j), sum);
    }
}
