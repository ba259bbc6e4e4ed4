// direct, for a CPU: any statement, right at any size. A work item is a part of a row: row_part elements along the
// output's first axis, in order; or, where an operand has neighbors along another of the output's axes, of tile_rows
// rows along that axis, `tile` elements of each at a time, so that of every line of memory all is used while it is in
// the cache. Sums of numbers that are neighbors along the first axis are added up sums_tile at a time; sums of
// numbers that are neighbors along the sum, in sum_lanes parts, each of every sum_lanes-th number.
// Constants: direct_tree.hpp's, row_part, tile_axis (-1: none), tile, tile_rows, sums_tile and sum_lanes (0: no such
// sums). Of row_part tile and sums_tile are divisors.
#pragma once

#include "direct_tree.hpp"
#include "inside_range.hpp"
#include "unrolled.hpp"

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

/// Whether the operands' numbers along an axis are neighbors, or one for all.
constexpr bool are_neighbors_along(int axis) {
    bool any = false;
    for (int o = 1; o < operand_count; ++o) {
        const long long stride = operand_stride[o][axis];
        if (stride != 0 && stride != 1) return false;
        any = any || stride == 1;
    }
    return any && bound_count == 0 && gather_count == 0;
}

/// Sums of neighbors in vectors' lanes: several of them, since each addition waits for the one before it.
struct in_lanes : alone {
    template <int Axis> static constexpr bool adds_lanes =
        sum_lanes > 0 && are_neighbors_along(Axis) &&
        (axis_extent[Axis] == argument || axis_extent[Axis] >= sum_lanes);
    RICCI_FUNCTION in_lanes within_sum() const { return {}; }

    /// The sum of node N along Axis. In pieces, as sum_over's, each of which is as long a sum of a lane.
    template <int N, int Axis> RICCI_FUNCTION compute sum_in_lanes(const arguments& a, long long* x) const {
        constexpr int lanes = at_least_one(sum_lanes);
        const long long length = extent<Axis>(a), piece = piece_length(length / lanes) * lanes;
        compute total = from_real<compute>(0, 0);
        for (long long begin = 0; begin < length; begin += piece) {
            const long long end = length - begin < piece ? length : begin + piece;
            compute parts[lanes];
            for (int t = 0; t < lanes; ++t) parts[t] = from_real<compute>(0, 0);
            const auto add = [&](long long l, int count) RICCI_INLINED {
                for (int t = 0; t < count; ++t) {
                    x[Axis] = l + t;
                    parts[t] += evaluate<N>(a, x, *this);
                }
            };
            long long l = begin;
            for (; end - l >= lanes; l += lanes) add(l, lanes);
            add(l, static_cast<int>(end - l));
            RICCI_ALL_UNROLLED for (int half = lanes / 2; half > 0; half /= 2)
                for (int t = 0; t < half; ++t) parts[t] += parts[t + half];
            total += parts[0];
        }
        return total;
    }
};

/// Adds the sum N to the totals of `count` elements, sums_tile at most, from `first` on along the first axis, in
/// pieces as sum_over does.
template <int N, int Depth>
RICCI_FUNCTION void add_sums(const arguments& a, long long* x, long long first, int count, compute* totals) {
    constexpr int list = node_b[N];
    constexpr int axis = sum_axis[sum_first[list] + Depth];
    // Adds what Steps steps of the innermost axis from l on have; several at once for each time the parts are loaded.
    const auto add_steps = [&](auto steps, long long l, compute* parts) RICCI_INLINED {
        for (int t = 0; t < count; ++t) {
            compute part = parts[t];
            x[0] = first + t;
            for (int u = 0; u < steps; ++u) {
                x[axis] = l + u;
                part += evaluate<node_a[N]>(a, x, alone{});
            }
            parts[t] = part;
        }
    };
    const long long length = extent<axis>(a), piece = piece_length(length);
    for (long long begin = 0; begin < length; begin += piece) {
        const long long end = length - begin < piece ? length : begin + piece;
        compute parts[sums_tile];
        for (int t = 0; t < count; ++t) parts[t] = from_real<compute>(0, 0);
        if constexpr (Depth + 1 < sum_length[list]) {
            for (x[axis] = begin; x[axis] < end; ++x[axis]) add_sums<N, Depth + 1>(a, x, first, count, parts);
        } else {
            long long l = begin;
            for (; end - l >= 4; l += 4) add_steps(constant<4>(), l, parts);
            for (; l < end; ++l) add_steps(constant<1>(), l, parts);
        }
        for (int t = 0; t < count; ++t) totals[t] += parts[t];
    }
}

/// The sum N of `count` elements from `first` on along the first axis.
template <int N> RICCI_FUNCTION void store_sums(const arguments& a, long long* x, long long first, int count) {
    compute totals[sums_tile];
    for (int t = 0; t < count; ++t) totals[t] = from_real<compute>(0, 0);
    add_sums<N, 0>(a, x, first, count, totals);
    for (int t = 0; t < count; ++t) {
        x[0] = first + t;
        store(a, x, totals[t]);
    }
}

/// Whether the output is padded, and nothing else: what lies outside of it need not be evaluated.
constexpr bool drops_outputs() {
    for (int b = 0; b < bound_count; ++b)
        if (bound_operand[b] != 0) return false;
    return bound_count > 0;
}
/// Of elements [first, last) along the first axis those inside of such an output. (Looking at each one by itself an
/// output of 6x6 tiles took 3.0 instead of 1.9 ns.)
RICCI_FUNCTION void narrow_row(const arguments& a, const long long* x, long long& first, long long& last) {
    for (int b = 0; b < bound_count; ++b) {
        long long at = a.bound_offset[b];
        RICCI_ALL_UNROLLED for (int axis = 1; axis < axis_count; ++axis) at += a.bound_coefficient[b][axis] * x[axis];
        narrow(at, a.bound_coefficient[b][0], a.bound_extent[b], first, last);
    }
}

/// Elements [first, last) along the first axis.
RICCI_FUNCTION void evaluate_row(const arguments& a, long long* x, long long first, long long last) {
    constexpr int root = node_count - 1;
    if constexpr (drops_outputs()) narrow_row(a, x, first, last);
    if constexpr (sums_tile > 0) {
        for (; last - first >= sums_tile; first += sums_tile) store_sums<root>(a, x, first, sums_tile);
        if (first < last) store_sums<root>(a, x, first, static_cast<int>(last - first));
        return;
    }
    // No iteration reads what another writes: overlaps were resolved before.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
    for (long long i = first; i < last; ++i) {
        x[0] = i;
        const compute value = evaluate<root>(a, x, in_lanes{});
        if constexpr (drops_outputs()) put_at(element_at<0>(a, x), updated(a, x, value, alone{}));
        else store(a, x, value);
    }
}

extern "C" void ricci_direct(const void* words, long long first, long long last) {
    const arguments& a = *static_cast<const arguments*>(words);
    long long x[at_least_one(axis_count)] = {};
    for (long long item = first; item < last; ++item) {
        if constexpr (left_axis_count == 0) {
            store(a, x, evaluate<node_count - 1>(a, x, in_lanes{}));
        } else {
            long long row = item, i = 0, length = extent<0>(a);
            if (length > row_part) { // of short rows a batch has many: no divisions for them
                const long long parts = (length + row_part - 1) / row_part;
                row = item / parts, i = item % parts * row_part;
                length = length - i < row_part ? length : i + row_part;
            }
            unflatten_item<1>(a, row, x);
            if constexpr (tile_axis < 0) {
                evaluate_row(a, x, i, length);
            } else {
                const long long begin = x[tile_axis] * tile_rows, rows = extent<tile_axis>(a);
                const long long end = rows - begin < tile_rows ? rows : begin + tile_rows;
                // Of a constant number of elements: through evaluate_row reversing three axes takes twice as long.
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
