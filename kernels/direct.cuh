// direct: any statement, right at any size. One element of the output a thread; or a team of 32 or 256 threads an
// element, where sums are long and elements few (arguments::teams). Constants: direct_tree.hpp's, and team_threads
// (1: never a team).
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

extern "C" __global__ void __launch_bounds__(direct_threads) ricci_direct(const __grid_constant__ arguments a) {
    wait_for_stream();
    const long long block = block_number();
    const long long thread = block * direct_threads + threadIdx.x;
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
    if (thread >= a.work_items) return;
    unflatten<0>(a, thread, x);
    const compute value = evaluate<node_count - 1>(a, x, alone{});
    store(a, x, value);
}
