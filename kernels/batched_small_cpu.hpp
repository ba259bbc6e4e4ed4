// batched_small, for a CPU: one product after another; X and Y are packed so that the inner loop runs along m with
// unit stride.
// Constants: product.hpp's.
#pragma once

#include "product.hpp"

extern "C" void ricci_batched_small(const void* words, long long first, long long last) {
    const arguments& a = *static_cast<const arguments*>(words);
    alignas(64) compute xs[k][m];
    alignas(64) compute ys[n][k];
    alignas(64) compute cs[m];
    for (long long b = first; b < last; ++b) {
        const batch_places at = places_of(a, b);
        for (int l = 0; l < k; ++l)
            for (int i = 0; i < m; ++i) xs[l][i] = load_x(at.x, x_offset(a, i, l));
        for (int j = 0; j < n; ++j)
            for (int l = 0; l < k; ++l) ys[j][l] = load_y(at.y, y_offset(a, l, j));
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < m; ++i) cs[i] = from_real<compute>(0, 0);
            for (int l = 0; l < k; ++l)
                for (int i = 0; i < m; ++i) cs[i] += xs[l][i] * ys[j][l];
            for (int i = 0; i < m; ++i) update(a, at.c[c_offset(a, i, j)], cs[i]);
        }
    }
}
