// direct, for a CPU: any statement, right at any size. A work item is a row: all elements along the output's first
// axis, in order; or, where an operand has neighbors along another of the output's axes, tile_rows rows along that
// axis, `tile` elements of each at a time, so that of every line of memory all is used while it is in the cache. Sums
// of numbers that are neighbors along the first axis are added up sums_tile at a time.
// Constants: direct_tree.hpp's, tile_axis (-1: none), tile, tile_rows, and sums_tile (0: no such sums).
#pragma once

#include "direct_tree.hpp"

/// The extent of a left axis as work items count it.
template <int Axis> RICCI_FUNCTION long long item_extent(const arguments& a) {
    return Axis == tile_axis ? (extent<Axis>(a) + tile_rows - 1) / tile_rows : extent<Axis>(a);
}

/// The left axes but the first of work item `t`, from axis First on.
template <int First> RICCI_FUNCTION void unflatten_item(const arguments& a, long long t, long long* x) {
    if constexpr (First + 1 == left_axis_count) {
        x[First] = t;
    } else if constexpr (First < left_axis_count) {
        const long long length = item_extent<First>(a);
        x[First] = t % length;
        unflatten_item<First + 1>(a, t / length, x);
    }
}

/// Adds the sum N to the totals of Count elements from `first` on along the first axis, in pieces as sum_over does.
template <int N, int Depth, int Count>
RICCI_FUNCTION void add_sums(const arguments& a, long long* x, long long first, compute* totals) {
    constexpr int list = node_b[N];
    if constexpr (Depth == sum_length[list]) {
        for (int t = 0; t < Count; ++t) {
            x[0] = first + t;
            totals[t] += evaluate<node_a[N]>(a, x, alone{});
        }
    } else {
        constexpr int axis = sum_axis[sum_first[list] + Depth];
        const long long length = extent<axis>(a), piece = piece_length(length);
        for (long long begin = 0; begin < length; begin += piece) {
            const long long end = length - begin < piece ? length : begin + piece;
            compute parts[Count];
            for (auto& part : parts) part = from_real<compute>(0, 0);
            for (x[axis] = begin; x[axis] < end; ++x[axis]) add_sums<N, Depth + 1, Count>(a, x, first, parts);
            for (int t = 0; t < Count; ++t) totals[t] += parts[t];
        }
    }
}

/// Elements [first, last) along the first axis.
RICCI_FUNCTION void evaluate_row(const arguments& a, long long* x, long long first, long long last) {
    constexpr int root = node_count - 1;
    if constexpr (sums_tile > 0) {
        for (; last - first >= sums_tile; first += sums_tile) {
            compute totals[sums_tile];
            for (auto& total : totals) total = from_real<compute>(0, 0);
            add_sums<root, 0, sums_tile>(a, x, first, totals);
            for (int t = 0; t < sums_tile; ++t) {
                x[0] = first + t;
                store(a, x, totals[t]);
            }
        }
    }
    // No iteration reads what another writes: overlaps were resolved before.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
    for (long long i = first; i < last; ++i) {
        x[0] = i;
        store(a, x, evaluate<root>(a, x, alone{}));
    }
}

extern "C" void ricci_direct(const void* words, long long first, long long last) {
    const arguments& a = *static_cast<const arguments*>(words);
    long long x[at_least_one(axis_count)] = {};
    for (long long item = first; item < last; ++item) {
        if constexpr (left_axis_count == 0) {
            store(a, x, evaluate<node_count - 1>(a, x, alone{}));
        } else {
            unflatten_item<1>(a, item, x);
            const long long length = extent<0>(a);
            if constexpr (tile_axis < 0) {
                evaluate_row(a, x, 0, length);
            } else {
                const long long begin = x[tile_axis] * tile_rows, rows = extent<tile_axis>(a);
                const long long end = rows - begin < tile_rows ? rows : begin + tile_rows;
                // Of a constant number of elements: through evaluate_row reversing three axes takes twice as long.
                long long i = 0;
                for (; length - i >= tile; i += tile)
                    for (x[tile_axis] = begin; x[tile_axis] < end; ++x[tile_axis])
                        for (int t = 0; t < tile; ++t) {
                            x[0] = i + t;
                            store(a, x, evaluate<node_count - 1>(a, x, alone{}));
                        }
                for (x[tile_axis] = begin; x[tile_axis] < end; ++x[tile_axis]) evaluate_row(a, x, i, length);
            }
        }
    }
}
