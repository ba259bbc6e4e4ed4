// batched_dmma: products of doubles in shared memory by the tensor cores' 8 x 8 x 4 products.
// Constants: batched_small.cuh's, and
//   c_transposed       whether C^T = Y^T X^T is computed, for a lane's two elements to be neighbors in memory
//   tile_m, tile_n     8 x 8 tiles a warp computes, of the rows and columns of what is computed
//   k_apart            whether the four lanes of a step take every fourth k instead of neighbors: free of bank conflicts where the
//                      leading dimension is odd
#pragma once

#include "product.hpp"
#include "ptx_mma.cuh"

template <class Real = compute> // double; a template, so that it need not compile for others
RICCI_FUNCTION void multiply_dmma(const arguments& a, int products, c_element* cs, const x_element* xs, const y_element* ys) {
    constexpr int rows = c_transposed ? n : m, columns = c_transposed ? m : n, steps = k;
    // Strides of the left factor (row, k), the right one (k, column) and the result.
    constexpr int l_row = c_transposed ? column[2] : row[1], l_k = c_transposed ? row[2] : column[1];
    constexpr int r_column = c_transposed ? row[1] : column[2], r_k = c_transposed ? column[1] : row[2];
    constexpr int c_row = c_transposed ? column[0] : row[0], c_column = c_transposed ? row[0] : column[0];
    constexpr int row_parts = ((rows + 7) / 8 + tile_m - 1) / tile_m, column_parts = ((columns + 7) / 8 + tile_n - 1) / tile_n;
    constexpr int warps_per_product = row_parts * column_parts;
    const int lane = threadIdx.x % 32, high = lane / 4, low = lane % 4;
    RICCI_UNROLL_ONCE
    for (int g = threadIdx.x / 32; g < products * warps_per_product; g += threads_per_block / 32) {
        const int p = g / warps_per_product, part = g % warps_per_product;
        const int row0 = part % row_parts * tile_m * 8, column0 = part / row_parts * tile_n * 8;
        const auto* left = reinterpret_cast<const Real*>(c_transposed ? static_cast<const void*>(ys + p * slot[2]) : xs + p * slot[1]);
        const auto* right = reinterpret_cast<const Real*>(c_transposed ? static_cast<const void*>(xs + p * slot[1]) : ys + p * slot[2]);
        Real sums[tile_m][tile_n][2];
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c) sums[r][c][0] = sums[r][c][1] = 0;
        // Rows and columns beyond the matrix read its last one; beyond k both factors are zero.
        int row_at[tile_m], column_at[tile_n];
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r) {
            const int i = row0 + r * 8 + high;
            row_at[r] = (i < rows ? i : rows - 1) * l_row;
        }
        RICCI_UNROLL
        for (int c = 0; c < tile_n; ++c) {
            const int j = column0 + c * 8 + high;
            column_at[c] = (j < columns ? j : columns - 1) * r_column;
        }
        RICCI_UNROLL_K
        for (int base = 0; base < steps; base += 16)
            RICCI_UNROLL
            for (int s = 0; s < 4; ++s) {
                if (base + (k_apart ? s : 4 * s) >= steps) break;
                const int l = base + (k_apart ? s + 4 * low : 4 * s + low);
                const bool inside = steps % 16 == 0 || l < steps;
                Real lv[tile_m], rv[tile_n];
                RICCI_UNROLL
                for (int r = 0; r < tile_m; ++r) lv[r] = inside ? left[row_at[r] + l * l_k] : 0;
                RICCI_UNROLL
                for (int c = 0; c < tile_n; ++c) rv[c] = inside ? right[column_at[c] + l * r_k] : 0;
                RICCI_UNROLL
                for (int r = 0; r < tile_m; ++r)
                    RICCI_UNROLL
                    for (int c = 0; c < tile_n; ++c) dmma_8x8x4(sums[r][c], lv[r], rv[c]);
            }
        c_element* out = cs + p * slot[0];
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c)
                RICCI_UNROLL
                for (int h = 0; h < 2; ++h) {
                    const int i = row0 + r * 8 + high, j = column0 + c * 8 + 2 * low + h;
                    if ((rows % (8 * tile_m) == 0 || i < rows) && (columns % (8 * tile_n) == 0 || j < columns))
                        update(a, out[i * c_row + j * c_column], sums[r][c][h]);
                }
    }
}
