// tall_skinny_atb, for a CPU: C = X^T Y with a long k. Chunk by chunk of k into partial results C[.., chunk], which a
// step of its own adds up. Constants: product.hpp's, and rows_per_tile.
#pragma once

#include "product.hpp"

extern "C" void ricci_tall_skinny_atb(const void* words, long long first, long long last) {
    const arguments& a = *static_cast<const arguments*>(words);
    const long long length = a.k_length[0];
    alignas(64) compute xs[rows_per_tile][m];
    alignas(64) compute ys[rows_per_tile][n];
    alignas(64) compute cs[n][m];
    alignas(64) compute tile[n][m]; // summed apart, so that the rounding error does not grow with the chunk's length
    for (long long chunk = first; chunk < last; ++chunk) {
        const long long from = length * chunk / a.blocks, to = length * (chunk + 1) / a.blocks;
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < m; ++i) cs[j][i] = from_real<compute>(0, 0);
        for (long long begin = from; begin < to; begin += rows_per_tile) {
            const int rows = static_cast<int>(to - begin < rows_per_tile ? to - begin : rows_per_tile);
            for (int row = 0; row < rows; ++row)
                for (int i = 0; i < m; ++i) xs[row][i] = load_x(a.x, x_offset(a, i, begin + row));
            for (int row = 0; row < rows; ++row)
                for (int j = 0; j < n; ++j) ys[row][j] = load_y(a.y, y_offset(a, begin + row, j));
            for (int j = 0; j < n; ++j)
                for (int i = 0; i < m; ++i) tile[j][i] = from_real<compute>(0, 0);
            for (int row = 0; row < rows; ++row)
                for (int j = 0; j < n; ++j)
                    for (int i = 0; i < m; ++i) tile[j][i] += xs[row][i] * ys[row][j];
            for (int j = 0; j < n; ++j)
                for (int i = 0; i < m; ++i) cs[j][i] += tile[j][i];
        }
        compute* c = static_cast<compute*>(a.c) + m * n * chunk;
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < m; ++i) c[c_offset(a, i, j)] = cs[j][i];
    }
}
