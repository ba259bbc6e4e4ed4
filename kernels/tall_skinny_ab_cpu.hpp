// tall_skinny_ab, for a CPU: C = X*Y with a long m, of one axis or several, and small n, k. Tiles of rows_of_block
// rows are packed, so that the inner loop runs along m with unit stride. Constants: product.hpp's, and rows_of_block.
#pragma once

#include "product.hpp"

extern "C" void ricci_tall_skinny_ab(const void* words, long long first, long long last) {
    const arguments& a = *static_cast<const arguments*>(words);
    const long long length = row_count(a);
    alignas(64) compute xs[k][rows_of_block];
    alignas(64) compute ys[n][k];
    alignas(64) compute cs[rows_of_block];
    for (int j = 0; j < n; ++j)
        for (int l = 0; l < k; ++l) ys[j][l] = load_y(a.y, y_offset(a, l, j));
    // of several axes: found once a tile, and not for each element
    long long x_rows[rows_of_block], c_rows[rows_of_block];
    for (long long block = first; block < last; ++block) {
        const long long begin = block * rows_of_block;
        const int rows = static_cast<int>(length - begin < rows_of_block ? length - begin : rows_of_block);
        if constexpr (m_axes > 1)
            for (int i = 0; i < rows; ++i)
                x_rows[i] = m_offset(a, 1, begin + i), c_rows[i] = m_offset(a, 0, begin + i);
        const auto x_row = [&](int i) { return m_axes > 1 ? x_rows[i] : m_offset(a, 1, begin + i); };
        const auto c_row = [&](int i) { return m_axes > 1 ? c_rows[i] : m_offset(a, 0, begin + i); };
        for (int l = 0; l < k; ++l) {
            for (int i = 0; i < rows; ++i) xs[l][i] = load_x(a.x, x_row(i) + k_offset(a, 0, l));
            for (int i = rows; i < rows_of_block; ++i) xs[l][i] = from_real<compute>(0, 0);
        }
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < rows_of_block; ++i) cs[i] = from_real<compute>(0, 0);
            for (int l = 0; l < k; ++l)
                for (int i = 0; i < rows_of_block; ++i) cs[i] += xs[l][i] * ys[j][l];
            for (int i = 0; i < rows; ++i) store_c(a, c_row(i) + n_offset(a, 0, j), cs[i]);
        }
    }
}
