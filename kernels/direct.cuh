// direct: any statement, right at any size. A thread has one element of the output; where nothing is summed, a few,
// whose loads are then under way at once, neighbors in memory if that helps; or a team of 32 or 256 threads has one,
// where sums are long and elements few (arguments::teams). Constants: direct_tree.hpp's, team_threads (1: never a
// team), and items_of_thread.
#pragma once

#include "direct_tree.hpp"
#include "neighbors.cuh"
#include "reduce.cuh"

constexpr int direct_threads = 256;
static_assert(team_threads == 1 || team_threads == 32 || team_threads == direct_threads);

struct thread_team : alone {
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
        value[i] = updated(a, x[i], evaluate<node_count - 1>(a, x[i], alone{}), alone{});
    RICCI_UNROLL
    for (int i = 0; i < items_of_thread; ++i) put(a, x[i], value[i]);
}

// ---- elements that are neighbors in memory ----

/// Whether a thread's elements may be neighbors, which few accesses move: one by one, numbers of two bytes come at
/// 82 % of memory's rate (H100), larger ones at all of it.
RICCI_FUNCTION constexpr bool may_be_neighbors() {
    if (axis_count != 1 || left_axis_count != 1 || gather_count > 0 || bound_count > 0) return false;
    bool has_narrow = false, side_by_side = operand_stride[0][0] == 1;
    for (int o = 0; o < operand_count; ++o) {
        constexpr int largest_narrow = 1; // f16 is 0, bf16 1
        has_narrow |= operand_type[o] <= largest_narrow;
        side_by_side &= operand_stride[o][0] != argument;
    }
    return has_narrow && side_by_side;
}

/// Number `item` of a thread's elements, whose operands are already loaded.
template <int Items> struct loaded : alone {
    const compute (&value)[operand_count][Items];
    int item;
    RICCI_FUNCTION loaded(const compute (&all)[operand_count][Items], int number) : value(all), item(number) {}
    template <int Operand> RICCI_FUNCTION compute load(const arguments&, const long long*) const {
        return value[Operand][item];
    }
    RICCI_FUNCTION const loaded& within_sum() const { return *this; }
};

/// Items elements a thread. A template, as are its members: an index table has no element type.
template <int Items> struct of_neighbors {
    template <int Operand> using element = typename type_of<operand_type[Operand]>::type;

    template <int Operand = 0> RICCI_FUNCTION static bool are_aligned(const arguments& a) {
        if constexpr (Operand == operand_count) return true;
        else {
            const bool is_one_number = operand_stride[Operand][0] == 0;
            return (is_one_number || have_aligned_lines<element<Operand>, Items>(a.data[Operand], 0)) &&
                   are_aligned<Operand + 1>(a);
        }
    }

    template <int Operand = 0>
    RICCI_FUNCTION static void load_all(const arguments& a, long long first, compute (&value)[operand_count][Items]) {
        if constexpr (Operand < operand_count) {
            const auto* from = static_cast<const element<Operand>*>(a.data[Operand]);
            if constexpr (Operand == 0 && accumulation == 0) {
            } else if constexpr (operand_stride[Operand][0] == 0) {
                RICCI_UNROLL
                for (int i = 0; i < Items; ++i) value[Operand][i] = load_as<compute>(*from);
            } else {
                const auto several = load_neighbors<element<Operand>, Items>(from + first);
                RICCI_UNROLL
                for (int i = 0; i < Items; ++i) value[Operand][i] = load_as<compute>(several.at(i));
            }
            load_all<Operand + 1>(a, first, value);
        }
    }

    RICCI_FUNCTION static void evaluate_all(const arguments& a, long long first) {
        compute value[operand_count][Items];
        load_all(a, first, value);
        long long x[1] = {};
        neighbors<element<0>, Items> out;
        RICCI_UNROLL
        for (int i = 0; i < Items; ++i) {
            const loaded<Items> values(value, i);
            out.e[i] = store_as<element<0>>(updated(a, x, evaluate<node_count - 1>(a, x, values), values));
        }
        store_neighbors(static_cast<element<0>*>(a.data[0]) + first, out);
    }
};

template <int Items> RICCI_FUNCTION void evaluate_block(const arguments& a, long long thread) {
    if constexpr (Items > 1 && may_be_neighbors())
        if (of_neighbors<Items>::are_aligned(a))
            return of_neighbors<Items>::evaluate_all(a, thread + threadIdx.x * (Items - 1));
    evaluate_several(a, thread);
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
            const thread_team team{{}, static_cast<int>(threadIdx.x) % team_threads};
            const compute value = evaluate<node_count - 1>(a, x, team);
            if (exists && team.rank == 0) store(a, x, value);
            return;
        }
    }
    if constexpr (items_of_thread > 1) {
        if ((block + 1) * direct_threads * items_of_thread <= a.work_items)
            return evaluate_block<items_of_thread>(a, thread);
    }
    for (int i = 0; i < items_of_thread; ++i) {
        const long long item = thread + i * direct_threads;
        if (item >= a.work_items) return;
        unflatten<0>(a, item, x);
        const compute value = evaluate<node_count - 1>(a, x, alone{});
        store(a, x, value);
    }
}
