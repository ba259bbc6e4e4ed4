// batched_lanes: products that lie interleaved, the batch fastest in memory: neighboring lanes take neighboring products, so that every
// access of a warp is contiguous, and each thread computes a tile of its product in registers, without shared memory. A product's
// tiles are in one block, at the same step of the sum: all but the first to read an element find it in the L1 cache.
// Constants: product.hpp's, and
//   products_per_block, threads_per_block
//   tile_m, tile_n     elements a thread; its rows are row_threads apart, its columns column_threads
//   panel              columns of C that the block computes at a time, as many as its registers hold
//   k_unrolled         steps of the sum unrolled at once
#pragma once

#include "product.hpp"

extern "C" __global__ void __launch_bounds__(threads_per_block) ricci_batched_lanes(const __grid_constant__ arguments a) {
    constexpr int rows = m, columns = n, steps = k;
    constexpr int row_threads = (rows + tile_m - 1) / tile_m, column_threads = (panel + tile_n - 1) / tile_n;
    static_assert(threads_per_block == products_per_block * row_threads * column_threads, "a thread has one tile of a panel");
    const long long product = block_number() * products_per_block + threadIdx.x % products_per_block;
    if (product >= a.products) return;
    const int t = threadIdx.x / products_per_block, i0 = t % row_threads, j0 = t / row_threads;
    const batch_offsets at = offsets_of(a, product);

    // Rows and columns of the last tile that do not exist read the last one that does.
    long long x_row[tile_m];
    RICCI_UNROLL
    for (int r = 0; r < tile_m; ++r) {
        const int i = i0 + r * row_threads;
        x_row[r] = at.x + m_offset(a, 1, i < rows ? i : rows - 1);
    }
    RICCI_UNROLL_ONCE
    for (int first = 0; first < columns; first += panel) {
        long long y_column[tile_n];
        RICCI_UNROLL
        for (int c = 0; c < tile_n; ++c) {
            const int j = first + j0 + c * column_threads;
            y_column[c] = at.y + n_offset(a, 1, j < columns ? j : columns - 1);
        }
        compute sums[tile_m][tile_n];
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c) sums[r][c] = from_real<compute>(0, 0);
        RICCI_UNROLL_K
        for (int l = 0; l < steps; ++l) {
            const long long in_x = k_offset(a, 0, l), in_y = k_offset(a, 1, l);
            compute x[tile_m], y[tile_n];
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r) x[r] = load_x(a.x, x_row[r] + in_x);
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c) y[c] = load_y(a.y, y_column[c] + in_y);
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r)
                RICCI_UNROLL
                for (int c = 0; c < tile_n; ++c) sums[r][c] += x[r] * y[c];
        }
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c) {
                const int i = i0 + r * row_threads, in_panel = j0 + c * column_threads, j = first + in_panel;
                if (i < rows && in_panel < panel && j < columns) store_c(a, at.c + c_offset(a, i, j), sums[r][c]);
            }
    }
}
