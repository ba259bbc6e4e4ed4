// tall_skinny_atb: C (+)= alpha X^T Y with a long k, in one launch. Each block sums a fixed slice of k; where C has fewer tiles than a
// block threads, the threads share a panel's steps. Blocks leave their sums in memory, meet, and add them up, each some elements of C,
// in the order of the blocks: the bits depend on nothing but the sizes, the tile and the chip.
// Constants: product.hpp's, batched_fma.cuh's, batched_mma.cuh's, panel_ring.cuh's, and
//   core               which kind of tile multiplies: see batched_tiles.cuh
//   blocks_of_an_sm    that must fit together, since all blocks of a launch meet
//   slices             groups of threads that share a panel's steps
//   slice_offset[3]    elements from one slice's first step to the next slice's in a panel, of X [1] and Y [2]
//   sums_offset        bytes from the start of the workspace, where the blocks meet, to their sums
#pragma once

#include "batched_tiles.cuh"
#include "block_sums.cuh"
#include "panel_ring.cuh"

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_an_sm) ricci_tall_skinny_atb(const __grid_constant__ arguments a) {
    RICCI_SHARED(memory);
    using tile = typename tile_of<core>::type;
    static_assert(tile::count * tile::threads * slices <= threads_per_block - 32 * copy_warps, "a thread has one tile");
    const long long block = block_number();
    if (block >= a.blocks) return;
    const long long all_panels = (a.k_length[0] + k_panel - 1) / k_panel;
    const long long first = all_panels * block / a.blocks, last = all_panels * (block + 1) / a.blocks, steps = a.k_length[0] - first * k_panel;
    const panel_stream<1, x_element> x(a, static_cast<const x_element*>(a.x) + k_offset(a, 0, first * k_panel), static_cast<int>(m), steps);
    const panel_stream<2, y_element> y(a, static_cast<const y_element*>(a.y) + k_offset(a, 1, first * k_panel), static_cast<int>(n), steps);
    const int group = threadIdx.x / tile::threads, slice = group / tile::count;
    tile mine(group % tile::count);
    const int panels = static_cast<int>(last - first);
    for_each_panel(x, y, memory, panels, [&](const unsigned char* stage) {
        if (slice < slices)
            mine.template add<k_panel / slices>(reinterpret_cast<const x_element*>(stage + region[1]) + slice * slice_offset[1],
                                                reinterpret_cast<const y_element*>(stage + region[2]) + slice * slice_offset[2]);
    });

    compute* const of_slices = reinterpret_cast<compute*>(memory + barrier_bytes);
    __syncthreads(); // the panels have been read
    if (slice < slices) mine.finish([&](int i, int j, compute sum) { of_slices[slice * c_elements + j * static_cast<int>(m) + i] = sum; });
    __syncthreads();
    compute* const of_blocks = reinterpret_cast<compute*>(static_cast<unsigned char*>(a.workspace) + sums_offset);
    add_slices(of_slices, [&](int i, int j, compute sum) {
        if constexpr (tile::is_split)
            if (!is_finite(sum)) {
                const long long end = last * k_panel < a.k_length[0] ? last * k_panel : a.k_length[0];
                sum = dot_in_global(a, static_cast<const x_element*>(a.x), static_cast<const y_element*>(a.y), i, j, first * k_panel, end);
            }
        if (a.blocks == 1) store_c(a, c_offset(a, i, j), sum);
        else of_blocks[block * c_elements + j * static_cast<int>(m) + i] = sum;
    });
    if (a.blocks > 1) add_blocks(a, of_blocks, of_slices, meet_grid(static_cast<unsigned long long*>(a.workspace), a.launch, block, a.blocks));
}
