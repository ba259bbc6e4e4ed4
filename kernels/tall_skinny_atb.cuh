// tall_skinny_atb: C (+)= alpha X^T Y with a long k. Each block sums a fixed slice of k; where C has fewer tiles than
// a block threads, the threads share a panel's steps. Blocks leave their sums in memory, and block_sums.cuh adds them
// up in a fixed order: the bits depend on nothing but the sizes, the tile and the chip.
// Constants: product.hpp's, batched_fma.cuh's, batched_mma.cuh's, panel_ring.cuh's, and
//   core               which kind of tile multiplies: see batched_tiles.cuh
//   blocks_of_an_sm    that fit together: a launch has as many of each
//   slices             groups of threads that share a panel's steps
//   slice_offset[3]    elements from one slice's first step to the next slice's in a panel, of X [1] and Y [2]
#pragma once

#include "batched_tiles.cuh"
#include "slice_sums.cuh"
#include "panel_ring.cuh"

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_an_sm)
    ricci_tall_skinny_atb(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    using tile = typename tile_of<core>::type;
    static_assert(tile::count * tile::threads * slices <= threads_per_block - 32 * copy_warps,
                  "a thread has one tile");
    const long long block = block_number();
    if (block >= a.blocks) return;
    const own_steps own = steps_of_block(a, block, k_panel);
    const long long steps = a.k_length[0] - own.first;
    const panel_stream<1, x_element> x(a, static_cast<const x_element*>(a.x) + k_offset(a, 0, own.first),
                                       static_cast<int>(m), steps);
    const panel_stream<2, y_element> y(a, static_cast<const y_element*>(a.y) + k_offset(a, 1, own.first),
                                       static_cast<int>(n), steps);
    const int group = threadIdx.x / tile::threads, slice = group / tile::count;
    tile mine(group % tile::count);
    const int panels = static_cast<int>((own.last - own.first + k_panel - 1) / k_panel);
    for_each_panel(x, y, memory, panels, [&](const unsigned char* stage) {
        if (slice < slices)
            mine.template add<k_panel / slices>(
                reinterpret_cast<const x_element*>(stage + region[1]) + slice * slice_offset[1],
                reinterpret_cast<const y_element*>(stage + region[2]) + slice * slice_offset[2]);
    });

    compute* const of_slices = reinterpret_cast<compute*>(memory + barrier_bytes);
    __syncthreads(); // the panels have been read
    if (slice < slices)
        mine.finish(
            [&](int i, int j, compute sum) { of_slices[slice * c_elements + j * static_cast<int>(m) + i] = sum; });
    leave_sums(a, block, of_slices, [&](int i, int j, compute sum) {
        return tile::is_split && !is_finite(sum) ? sum_of_steps(a, own, i, j) : sum;
    });
}
