// batched_panels: products too large for shared memory: X and Y stream through it in panels of k, several under way
// at a time, and C stays in registers until the end. A block computes all rows and some columns of one product.
//
// Constants: product.hpp's, batched_fma.cuh's, batched_mma.cuh's, panel_stream.cuh's, and
//   threads_per_block, core
//   stages             panels that shared memory holds
//   column_blocks      blocks a product, each columns_of_block of its columns
//   stage_bytes        bytes of a stage, a multiple of 128
//   c_along_rows       whether C's columns are contiguous
#pragma once

#include "batched_tiles.cuh"
#include "panel_stream.cuh"

extern "C" __global__ void __launch_bounds__(threads_per_block)
    ricci_batched_panels(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    using tile = typename tile_of<core>::type;
    static_assert(tile::count * tile::threads == threads_per_block, "every thread has one tile");
    constexpr int panels = static_cast<int>((k + k_panel - 1) / k_panel);
    const long long block = block_number();
    if (block >= a.products * column_blocks) return;
    const int first_column = static_cast<int>(block % column_blocks) * columns_of_block;
    const int columns = n - first_column < columns_of_block ? static_cast<int>(n) - first_column : columns_of_block;
    const batch_places at = places_of(a, block / column_blocks);
    const panel_stream<1, x_element> x(a, at.x, static_cast<int>(m), k);
    const panel_stream<2, y_element> y(a, at.y + n_offset(a, 1, first_column), columns, k);
    if constexpr (accumulate) { // C is read last: meanwhile it comes as far as the L2 cache
        constexpr int lines = c_along_rows ? columns_of_block : static_cast<int>(m);
        const int length = (c_along_rows ? static_cast<int>(m) : columns) * static_cast<int>(sizeof(c_element)),
                  own = c_along_rows ? columns : static_cast<int>(m);
        constexpr int most = (c_along_rows ? static_cast<int>(m) : columns_of_block) *
                             static_cast<int>(sizeof(c_element)),
                      chunks = (most + 127) / 128;
        for (int e = threadIdx.x; e < lines * chunks; e += threads_per_block) {
            const int line = e / chunks, byte = e % chunks * 128;
            if (line >= own || byte >= length) continue;
            const long long offset =
                c_along_rows ? c_offset(a, 0, first_column + line) : c_offset(a, line, first_column);
            prefetch_to_l2(reinterpret_cast<const unsigned char*>(at.c + offset) + byte);
        }
    }
    tile mine(threadIdx.x / tile::threads);
    RICCI_UNROLL_ONCE
    for (int p = 1 - stages; p < panels; ++p) { // below 0 panels are only asked for
        if (p >= 0) {
            wait_async_copies<stages - 2>();
            __syncthreads(); // the panel is here for all, and all are done with the one before
        }
        const int next = p + stages - 1;
        unsigned char* const into = memory + next % stages * stage_bytes;
        if (next < panels) x.load(into, next), y.load(into, next);
        commit_async_copies();
        if (p < 0) continue;
        unsigned char* const stage = memory + p % stages * stage_bytes;
        bring_into_place(stage, p, x, y);
        mine.template add<k_panel>(reinterpret_cast<const x_element*>(stage + region[1]),
                                   reinterpret_cast<const y_element*>(stage + region[2]));
    }
    mine.finish(
        [&](int i, int j, compute sum) {
            if (j < columns) update(a, at.c[c_offset(a, i, first_column + j)], sum);
        },
        [&](int i, int j) {
            const long long column = first_column + (j < columns ? j : 0);
            return dot_in_global(a, at.x, at.y, i, column, 0, k);
        });
}
