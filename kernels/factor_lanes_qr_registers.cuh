// factor_lanes_qr_registers: a matrix between shared memory and the registers of its lanes.
//
// Columns that lie an even number of elements apart would meet on the same banks. So lanes that would meet read
// their rows in different orders, row slot h ^ twist where others read h, and put them right by exchanges of
// registers under predicates, log2 of the number of orders times half the registers. Which lanes have which order is
// found at compile time by counting bank conflicts.
#pragma once

#include "factor_lanes_qr_shape.cuh"

/// This thread's place.
struct lane_place {
    int group, q, r; ///< which of the block's matrices at a time, column lane, row lane
    int first_lane;  ///< of the matrix, in the warp
    bool idle;       ///< has no matrix or no column
    /// 0, which no compiler knows: places and numbers that it is added to are found again instead of held in
    /// registers.
    int zero;
};
RICCI_FUNCTION constexpr lane_place place_of(int thread) {
    const int lane = thread % 32, of_warp = many_warps ? 0 : lane / lanes_of_matrix,
              of_matrix = many_warps ? thread : lane % lanes_of_matrix;
    const bool beyond = of_warp >= groups_of_warp; // looks at what its own warp's barriers guard
    return {many_warps ? 0 : thread / 32 * groups_of_warp + (beyond ? 0 : of_warp),
            of_matrix / row_lanes,
            of_matrix % row_lanes,
            many_warps ? 0 : of_warp * lanes_of_matrix,
            beyond || of_matrix / row_lanes >= column_lanes,
            0};
}

/// A lane's part of a matrix: [column slot][row slot].
using lane_columns = element[column_slots][row_slots];

RICCI_FUNCTION constexpr int row_of(lane_place at, int h) { return at.r + row_lanes * h; }
RICCI_FUNCTION constexpr int column_of(lane_place at, int c) { return at.q + column_lanes * c; }

/// The order of a lane's rows: its twist is lane / divisor % orders.
struct row_orders {
    int orders, divisor;
};
/// A thread's own matrix is one column of all its elements.
constexpr bool is_flat = one_lane && all_columns == n && matrices_in_shared::is_span;
constexpr int twisted_slots = is_flat ? m * n : row_slots;

RICCI_FUNCTION constexpr int offset_in_shared(int i, int j) {
    return i * matrices_in_shared::along + j * matrices_in_shared::across;
}

/// Bank conflicts of a warp's first access: turns that it takes.
RICCI_FUNCTION constexpr int turns_of(row_orders o) {
    constexpr int part = static_cast<int>(sizeof(real)), parts = static_cast<int>(sizeof(element)) / part,
                  at_once = 128 / part, words = at_once;
    int turns = 0;
    for (int begin = 0; begin < 32; begin += at_once) {
        int most = 0;
        int bank[32] = {};
        int count = 0;
        for (int lane = begin; lane < begin + at_once && lane < 32; ++lane) {
            const lane_place at = place_of(lane);
            if (at.idle) continue;
            const int twist = lane / o.divisor % o.orders;
            const int i = row_of(at, is_flat ? 0 : twist), j = column_of(at, 0);
            const int address =
                parts * (at.group * matrices_in_shared::apart + offset_in_shared(i, j) + (is_flat ? twist : 0));
            bank[count] = address % words;
            int same = 1;
            for (int other = 0; other < count; ++other) same += bank[other] == bank[count];
            if (same > most) most = same;
            ++count;
        }
        turns += most;
    }
    return turns;
}
RICCI_FUNCTION constexpr row_orders find_orders() {
    row_orders best{1, 1};
    int turns = turns_of(best);
    for (int orders = 2; orders <= 32 && twisted_slots % orders == 0; orders *= 2)
        for (int divisor = 1; divisor * orders <= 32; divisor *= 2) {
            const row_orders o{orders, divisor};
            if (const int t = turns_of(o); t < turns) best = o, turns = t;
        }
    return best;
}
constexpr row_orders twists = find_orders();

/// x[h] <-> x[h ^ twist] in each of the arrays.
template <int Count>
RICCI_FUNCTION void untwist(element (&x)[Count], int twist) {
    RICCI_UNROLL
    for (int bit = 1; bit < twists.orders; bit *= 2) {
        const bool swaps = (twist & bit) != 0;
        RICCI_UNROLL
        for (int h = 0; h < Count; ++h)
            if ((h & bit) == 0) {
                const element low = x[h], high = x[h + bit];
                x[h] = swaps ? high : low;
                x[h + bit] = swaps ? low : high;
            }
    }
}

RICCI_FUNCTION void load_columns(lane_columns& x, const element* matrix, const element* right, lane_place at) {
    const int twist = threadIdx.x % 32 / twists.divisor % twists.orders;
    if constexpr (is_flat) {
        element flat[row_slots * column_slots];
        RICCI_UNROLL
        for (int e = 0; e < m * n; ++e) flat[e] = at.idle ? from_real<element>(0, 0) : matrix[e ^ twist];
        untwist(flat, twist);
        RICCI_UNROLL
        for (int c = 0; c < n; ++c) RICCI_UNROLL
        for (int h = 0; h < m; ++h) x[c][h] = as_meant(flat[offset_in_shared(h, c)]);
    } else {
        RICCI_UNROLL
        for (int c = 0; c < column_slots; ++c) {
            const int j = column_of(at, c);
            const bool inside = j < n && !at.idle;
            RICCI_UNROLL
            for (int h = 0; h < row_slots; ++h) {
                const int i = row_of(at, h ^ twist);
                x[c][h] = inside && i < m ? as_meant(matrix[offset_in_shared(i, j)]) : from_real<element>(0, 0);
            }
            untwist(x[c], twist);
            if (sides > 0 && j >= n && j < all_columns && !at.idle) {
                RICCI_UNROLL
                for (int h = 0; h < row_slots; ++h) {
                    const int i = row_of(at, h);
                    if constexpr (has_role[given_role])
                        x[c][h] = i < m ? right[i + (j - n) * padded_rows] : from_real<element>(0, 0);
                    else
                        x[c][h] = from_real<element>(i == j - n, 0);
                }
            }
        }
    }
}

RICCI_FUNCTION void store_columns(lane_columns& x, element* matrix, element* right, lane_place at) {
    const int twist = (static_cast<int>(threadIdx.x) + at.zero) % 32 / twists.divisor % twists.orders;
    at.q += at.zero;
    if constexpr (is_flat) {
        element flat[row_slots * column_slots];
        RICCI_UNROLL
        for (int c = 0; c < n; ++c) RICCI_UNROLL
        for (int h = 0; h < m; ++h) flat[offset_in_shared(h, c)] = as_meant(x[c][h]);
        untwist(flat, twist);
        RICCI_UNROLL
        for (int e = 0; e < m * n; ++e)
            if (!at.idle) matrix[e ^ twist] = flat[e];
    } else {
        RICCI_UNROLL
        for (int c = 0; c < column_slots; ++c) {
            const int j = column_of(at, c);
            if (sides > 0 && j >= n && j < all_columns && !at.idle) {
                RICCI_UNROLL
                for (int h = 0; h < row_slots; ++h)
                    if (const int i = row_of(at, h); i < n) right[i + (j - n) * padded_rows] = x[c][h];
            }
            untwist(x[c], twist);
            RICCI_UNROLL
            for (int h = 0; h < row_slots; ++h) {
                const int i = row_of(at, h ^ twist);
                if (j < n && !at.idle && i < m) matrix[offset_in_shared(i, j)] = as_meant(x[c][h]);
            }
        }
    }
}
