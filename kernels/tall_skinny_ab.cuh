// tall_skinny_ab: C = X*Y with a long m, of one axis or several, and small n and k. A block brings its rows of X and all of Y into shared
// memory as one panel and computes its rows of C, once: occupancy hides the latency.
// Constants: product.hpp's, batched_fma.cuh's, batched_mma.cuh's, panel_stream.cuh's, and
//   threads_per_block, core
//   panel_bytes        of X and Y in shared memory; behind them, where m has several axes, the places of the block's rows in X and C
#pragma once

#include "batched_tiles.cuh"
#include "panel_stream.cuh"

extern "C" __global__ void __launch_bounds__(threads_per_block) ricci_tall_skinny_ab(const __grid_constant__ arguments a) {
    RICCI_SHARED(memory);
    using tile = typename tile_of<core>::type;
    static_assert(tile::count * tile::threads <= threads_per_block, "a thread has one tile");
    const long long first = block_number() * rows_of_block, all = row_count(a);
    if (first >= all) return;
    const int own = all - first < rows_of_block ? static_cast<int>(all - first) : rows_of_block;
    constexpr bool has_places = m_axes > 1;
    long long* const x_places = reinterpret_cast<long long*>(memory + panel_bytes);
    long long* const c_places = x_places + rows_of_block;
    if constexpr (has_places) {
        for (int i = threadIdx.x; i < rows_of_block; i += threads_per_block) {
            const long long at = i < own ? first + i : first;
            x_places[i] = m_offset(a, 1, at), c_places[i] = m_offset(a, 0, at);
        }
        __syncthreads();
    }
    const panel_stream<1, x_element> x(a, static_cast<const x_element*>(a.x) + (has_places ? 0 : m_offset(a, 1, first)), own, k, x_places);
    const panel_stream<2, y_element> y(a, static_cast<const y_element*>(a.y), static_cast<int>(n), k);
    x.load(memory, 0);
    y.load(memory, 0);
    commit_async_copies();
    wait_async_copies<0>();
    __syncthreads();
    const int number = threadIdx.x / tile::threads;
    if (number >= tile::count) return;
    tile mine(number);
    const x_element* const xs = reinterpret_cast<const x_element*>(memory + region[1]);
    const y_element* const ys = reinterpret_cast<const y_element*>(memory + region[2]);
    mine.template add<k_panel>(xs, ys);
    mine.finish([&](int i, int j, compute sum) {
        if (i >= own) return;
        sum = checked<tile>(sum, [&] { return dot_in_shared(xs + i * row[1], ys + j * column[2], k); });
        const long long row_at = has_places ? c_places[i] : m_offset(a, 0, first + i);
        store_c(a, row_at + n_offset(a, 0, j), sum);
    });
}
