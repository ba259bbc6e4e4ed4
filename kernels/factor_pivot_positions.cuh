// factor_pivot_positions: of the rows that pivots had, where they lie at first, the positions that these were
// exchanged with: LAPACK's. Rows themselves stay where they are.
//
// Row p[k] was where it lay at first unless an earlier pivot was exchanged with that position:
// q = p[k]; while (q < k) q = position[q].
#pragma once

#include "factor_lanes_results.cuh"

/// Makes of `count` pivots' rows their positions, by a warp, or by `Lanes` neighbors of it for each matrix; all lanes
/// see them. A round takes pivot k from q = at[k] < k to at[q], however far that has come: all that q has passed are
/// less than q, so none of them was where k ends. (Where k waits until at[q] is final, 17 rows take 7 rounds, a tenth
/// of their kernel's time.)
template <int Lanes>
RICCI_FUNCTION void find_positions(int* positions, int lane, int count) {
    constexpr int rounds = (pivots + Lanes - 1) / Lanes;
    int at[rounds];
    bool is_left = false;
    RICCI_UNROLL
    for (int r = 0; r < rounds; ++r) {
        const int k = lane + Lanes * r;
        at[r] = k < count ? positions[k] : k;
        is_left = is_left || at[r] < k;
    }
    while (__any_sync(0xffffffffu, is_left)) {
        is_left = false;
        RICCI_UNROLL
        for (int r = 0; r < rounds; ++r) {
            const int k = lane + Lanes * r;
            if (at[r] < k) at[r] = positions[at[r]];
            is_left = is_left || at[r] < k;
        }
        __syncwarp();
        RICCI_UNROLL
        for (int r = 0; r < rounds; ++r)
            if (const int k = lane + Lanes * r; k < count) positions[k] = at[r];
        __syncwarp();
    }
}

/// Where a row that is not among `count` pivots lies behind their exchanges.
template <class Index>
RICCI_FUNCTION int position_behind(const Index* positions, int count, int row) {
    while (row < count) row = positions[row];
    return row;
}
