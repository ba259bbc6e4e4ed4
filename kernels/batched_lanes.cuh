// batched_lanes: small products that lie interleaved, the batch fastest in memory: a thread a product, all of it in
// registers.
//
// Neighboring lanes take neighboring products, so that every access of a warp is contiguous, whatever its alignment.
// All loads, also of C, are asked for before anything waits: what a thread has under way is what keeps the memory
// busy. For products whose elements fit a thread's registers; batched_lane_ring, batched_lane_shifts and
// batched_lane_panels take larger ones.
// Constants: product.hpp's, and
//   threads_per_block
//   blocks_of_an_sm    that fit it together
#pragma once

#include "product.hpp"

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_an_sm)
    ricci_batched_lanes(const __grid_constant__ arguments a) {
    wait_for_stream();
    constexpr int rows = m, columns = n, steps = k;
    const long long product = block_number() * threads_per_block + threadIdx.x;
    if (product >= a.products) return;
    const batch_offsets at = offsets_of(a, product);
    x_element x[rows][steps];
    y_element y[steps][columns];
    c_element c[rows][columns];
    RICCI_UNROLL
    for (int l = 0; l < steps; ++l) {
        RICCI_UNROLL
        for (int i = 0; i < rows; ++i) x[i][l] = static_cast<const x_element*>(a.x)[at.x + x_offset(a, i, l)];
        RICCI_UNROLL
        for (int j = 0; j < columns; ++j) y[l][j] = static_cast<const y_element*>(a.y)[at.y + y_offset(a, l, j)];
    }
    if constexpr (accumulate) {
        RICCI_UNROLL
        for (int j = 0; j < columns; ++j)
            RICCI_UNROLL
            for (int i = 0; i < rows; ++i) c[i][j] = static_cast<const c_element*>(a.c)[at.c + c_offset(a, i, j)];
    }
    RICCI_UNROLL
    for (int j = 0; j < columns; ++j)
        RICCI_UNROLL
        for (int i = 0; i < rows; ++i) {
            compute sum = from_real<compute>(0, 0);
            RICCI_UNROLL
            for (int l = 0; l < steps; ++l) add_product(sum, load_x(&x[i][l], 0), load_y(&y[l][j], 0));
            update(a, c[i][j], sum);
            static_cast<c_element*>(a.c)[at.c + c_offset(a, i, j)] = c[i][j];
        }
}
