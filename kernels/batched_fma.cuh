// batched_fma: products in shared memory by multiply-adds; each thread computes a tile of one product.
// Constants: batched_small.cuh's, and
//   tile_m, tile_n     elements a thread; its rows are row_threads apart, its columns column_threads
//   rows_first         whether neighboring lanes have neighboring rows, or columns
//   skewed             whether each row begins its sum at another k: rows whose elements lie on one bank are then read without conflict
//   k_unrolled         steps of the sum unrolled at once
#pragma once

#include "product.hpp"

template <class Compute = compute> // a template, so that only the core in use is compiled
RICCI_FUNCTION void multiply_fma(const arguments& a, int products, c_element* cs, const x_element* xs, const y_element* ys) {
    constexpr int rows = m, columns = n, steps = k;
    constexpr int row_threads = (rows + tile_m - 1) / tile_m, column_threads = (columns + tile_n - 1) / tile_n;
    constexpr int per_product = row_threads * column_threads;
    RICCI_UNROLL_ONCE
    for (int g = threadIdx.x; g < products * per_product; g += threads_per_block) {
        const int p = g / per_product, t = g % per_product;
        const int i0 = rows_first ? t % row_threads : t / column_threads, j0 = rows_first ? t / row_threads : t % column_threads;
        const x_element* const x = xs + p * slot[1];
        const y_element* const y = ys + p * slot[2];
        Compute sums[tile_m][tile_n];
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c) sums[r][c] = from_real<Compute>(0, 0);
        // Rows and columns of the last tile that do not exist read the last one that does.
        const auto row_of = [&](int r) { return rows % tile_m == 0 || i0 + r * row_threads < rows ? i0 + r * row_threads : rows - 1; };
        const auto column_of = [&](int c) { return columns % tile_n == 0 || j0 + c * column_threads < columns ? j0 + c * column_threads : columns - 1; };
        int l = skewed ? i0 % steps : 0;
        RICCI_UNROLL_K
        for (int step = 0; step < steps; ++step) {
            Compute xv[tile_m], yv[tile_n];
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r) {
                xv[r] = load_as<Compute>(x[row_of(r) * row[1] + l * column[1]]);
                if constexpr (x_conjugated) xv[r] = conjugate(xv[r]);
            }
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c) {
                yv[c] = load_as<Compute>(y[l * row[2] + column_of(c) * column[2]]);
                if constexpr (y_conjugated) yv[c] = conjugate(yv[c]);
            }
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r)
                RICCI_UNROLL
                for (int c = 0; c < tile_n; ++c) sums[r][c] += xv[r] * yv[c];
            ++l;
            if (skewed && l == steps) l = 0;
        }
        c_element* const out = cs + p * slot[0];
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c) {
                const int i = i0 + r * row_threads, j = j0 + c * column_threads;
                if ((rows % tile_m == 0 || i < rows) && (columns % tile_n == 0 || j < columns)) update(a, out[i * row[0] + j * column[0]], sums[r][c]);
            }
    }
}
