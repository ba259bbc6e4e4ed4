// direct: any statement, right at any size. A thread has one element of the output; where nothing is summed, a few,
// whose loads are then under way at once; or a team of 32 or 256 threads has one, where sums are long and elements
// few (arguments::teams). Constants: direct_tree.hpp's, team_threads (1: never a team), and items_of_thread.
#pragma once

#include "direct_tree.hpp"
#include "reduce.cuh"

constexpr int direct_threads = 256;
static_assert(team_threads == 1 || team_threads == 32 || team_threads == direct_threads);

struct thread_team {
    static constexpr bool shares = true;
    static constexpr int size = team_threads;
    int rank;
    RICCI_FUNCTION compute reduce(compute value) const {
        if constexpr (size == 32) return warp_sum(value);
        else return block_sum<direct_threads>(value);
    }
};

/// A whole block's elements: neighboring threads have neighboring ones. They are stored when all are evaluated: no
/// load waits for a store to what may be the same memory.
RICCI_FUNCTION void evaluate_several(const arguments& a, long long first) {
    long long x[items_of_thread][at_least_one(axis_count)] = {};
    compute value[items_of_thread];
    RICCI_UNROLL
    for (int i = 0; i < items_of_thread; ++i) unflatten<0>(a, first + i * direct_threads, x[i]);
    RICCI_UNROLL
    for (int i = 0; i < items_of_thread; ++i)
        value[i] = updated(a, x[i], evaluate<node_count - 1>(a, x[i], alone{}));
    RICCI_UNROLL
    for (int i = 0; i < items_of_thread; ++i) put(a, x[i], value[i]);
}

extern "C" __global__ void __launch_bounds__(direct_threads) ricci_direct(const __grid_constant__ arguments a) {
    wait_for_stream();
    const long long block = block_number();
    const long long thread = block * direct_threads * items_of_thread + threadIdx.x;
    long long x[at_least_one(axis_count)] = {};
    if constexpr (team_threads > 1) {
        if (a.teams) {
            // Every thread of a team takes part in the reductions, also past the end.
            const long long item = thread / team_threads;
            const bool exists = item < a.work_items;
            unflatten<0>(a, exists ? item : 0, x);
            const thread_team team{static_cast<int>(threadIdx.x) % team_threads};
            const compute value = evaluate<node_count - 1>(a, x, team);
            if (exists && team.rank == 0) store(a, x, value);
            return;
        }
    }
    if constexpr (items_of_thread > 1) {
        if ((block + 1) * direct_threads * items_of_thread <= a.work_items) return evaluate_several(a, thread);
    }
    for (int i = 0; i < items_of_thread; ++i) {
        const long long item = thread + i * direct_threads;
        if (item >= a.work_items) return;
        unflatten<0>(a, item, x);
        const compute value = evaluate<node_count - 1>(a, x, alone{});
        store(a, x, value);
    }
}
