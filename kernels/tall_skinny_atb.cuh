// tall_skinny_atb: C = X^T Y with a long k. Each block sums a fixed slice of k into its own m x n partial result, C[.., chunk];
// a reduction over the chunks follows as a step of its own, so the bits depend on nothing but the sizes and the chip. X and Y stream
// through shared memory in panels; where C has fewer tiles than a block threads, the threads share a panel's steps.
// Constants: product.hpp's, batched_fma.cuh's, batched_mma.cuh's, panel_stream.cuh's, and
//   threads_per_block, core, stages, stage_bytes      as in batched_panels.cuh
//   slices             groups of threads that share a panel's steps
//   slice_offset[3]    elements from one slice's first step to the next slice's in a panel, of X [1] and Y [2]
//   parts_at_once      slices whose sums fit shared memory together
#pragma once

#include "batched_tiles.cuh"
#include "panel_stream.cuh"

extern "C" __global__ void __launch_bounds__(threads_per_block) ricci_tall_skinny_atb(const __grid_constant__ arguments a) {
    RICCI_SHARED(memory);
    using tile = typename tile_of<core>::type;
    constexpr int elements = static_cast<int>(m * n);
    static_assert(tile::count * tile::threads * slices <= threads_per_block, "a thread has one tile");
    const long long block = block_number();
    if (block >= a.blocks) return;
    const long long all_panels = (a.k_length[0] + k_panel - 1) / k_panel;
    const long long first = all_panels * block / a.blocks, last = all_panels * (block + 1) / a.blocks, steps = a.k_length[0] - first * k_panel;
    const panel_stream<1, x_element> x(a, static_cast<const x_element*>(a.x) + k_offset(a, 0, first * k_panel), static_cast<int>(m), steps);
    const panel_stream<2, y_element> y(a, static_cast<const y_element*>(a.y) + k_offset(a, 1, first * k_panel), static_cast<int>(n), steps);
    const int panels = static_cast<int>(last - first);
    const int group = threadIdx.x / tile::threads, slice = group / tile::count;
    tile mine(group % tile::count);
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
        const unsigned char* const stage = memory + p % stages * stage_bytes;
        if (slice < slices)
            mine.template add<k_panel / slices>(reinterpret_cast<const x_element*>(stage + region[1]) + slice * slice_offset[1],
                                                reinterpret_cast<const y_element*>(stage + region[2]) + slice * slice_offset[2]);
    }

    // The slices' sums, added in their order.
    constexpr int owned = (elements + threads_per_block - 1) / threads_per_block;
    compute* const parts = reinterpret_cast<compute*>(memory); // [slice][element]
    compute totals[owned];
    RICCI_UNROLL
    for (int o = 0; o < owned; ++o) totals[o] = from_real<compute>(0, 0);
    RICCI_UNROLL_ONCE
    for (int begin = 0; begin < slices; begin += parts_at_once) {
        __syncthreads(); // the panels, or the last parts, have been read
        if (slice >= begin && slice < begin + parts_at_once && slice < slices)
            mine.finish([&](int i, int j, compute sum) { parts[(slice - begin) * elements + j * static_cast<int>(m) + i] = sum; });
        __syncthreads();
        const int count = slices - begin < parts_at_once ? slices - begin : parts_at_once;
        RICCI_UNROLL
        for (int o = 0; o < owned; ++o) {
            const int e = threadIdx.x + o * threads_per_block;
            if (e < elements)
                for (int s = 0; s < count; ++s) totals[o] += parts[s * elements + e];
        }
    }
    compute* const c = static_cast<compute*>(a.c) + elements * block;
    RICCI_UNROLL
    for (int o = 0; o < owned; ++o) {
        const int e = threadIdx.x + o * threads_per_block;
        if (e >= elements) continue;
        const int i = e % static_cast<int>(m), j = e / static_cast<int>(m);
        if constexpr (tile::is_split)
            if (!is_finite(totals[o])) {
                const long long end = last * k_panel < a.k_length[0] ? last * k_panel : a.k_length[0];
                totals[o] = dot_in_global(a, static_cast<const x_element*>(a.x), static_cast<const y_element*>(a.y), i, j, first * k_panel, end);
            }
        c[c_offset(a, i, j)] = totals[o];
    }
}
