// direct: any statement, right at any size. One element of the output a thread, or a team of 32 or 256 threads where sums are
// long and elements few. Constants: direct_tree.hpp's, and threads_per_element (1, 32 or 256).
#pragma once

#include "direct_tree.hpp"
#include "reduce.cuh"

constexpr int direct_threads = 256;
static_assert(threads_per_element == 1 || threads_per_element == 32 || threads_per_element == direct_threads);

struct thread_team {
    static constexpr bool shares = true;
    static constexpr int size = threads_per_element;
    int rank;
    RICCI_FUNCTION compute reduce(compute value) const {
        if constexpr (size == 32) return warp_sum(value);
        else return block_sum<direct_threads>(value);
    }
};

extern "C" __global__ void __launch_bounds__(direct_threads) ricci_direct(const __grid_constant__ arguments a) {
    const long long block = blockIdx.x + static_cast<long long>(gridDim.x) * blockIdx.y;
    const long long item = (block * direct_threads + threadIdx.x) / threads_per_element;
    long long x[at_least_one(axis_count)] = {};
    if constexpr (threads_per_element == 1) {
        if (item >= a.work_items) return;
        unflatten<0>(a, item, x);
        const compute value = evaluate<node_count - 1>(a, x, alone{});
        store(a, x, value);
    } else {
        // Every thread of a team takes part in the reductions, also past the end.
        const bool exists = item < a.work_items;
        unflatten<0>(a, exists ? item : 0, x);
        const thread_team team{static_cast<int>(threadIdx.x) % threads_per_element};
        const compute value = evaluate<node_count - 1>(a, x, team);
        if (exists && team.rank == 0) store(a, x, value);
    }
}
