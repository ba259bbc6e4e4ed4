// factor_block_panels: a panel of eight columns of Cholesky or LU in shared memory, factored by one warp in its
// registers: a lane has rows lane, lane + 32, ... of all columns.
//
// This is what limits: one warp, whose instructions wait for one another. So what needs no floating point is left to
// the integer units, roots and reciprocals are near_..., and what others can write (pivots, tau) is left to them.
#pragma once

#include "factor_block_strips.cuh"

constexpr int padded_rows = rows > 0 ? round_up(static_cast<int>(rows), 8) : 8;
constexpr int lane_rows = (padded_rows + 31) / 32;

/// Of rows from the panel's first: `height`, of which there are at least `steps`; returns the first failing column
/// + 1.
RICCI_FUNCTION int factor_cholesky_panel(element* p, int ld, int height, int steps, panel_results<strip>& out) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    element x[lane_rows][strip];
    RICCI_UNROLL
    for (int i = 0; i < lane_rows; ++i)
        RICCI_UNROLL
        for (int c = 0; c < strip; ++c) x[i][c] = lane + 32 * i < height ? p[lane + 32 * i + c * ld] : zero();
    int failed = 0;
    element diagonal = shuffle(x[0][0], 0);
    real own_inverse = 0;
    RICCI_UNROLL
    for (int c = 0; c < strip; ++c) {
        // Nothing waits for the root but what is multiplied by it: all lanes have what the next diagonal element is
        // made of.
        element factor[strip], next = zero();
        RICCI_UNROLL
        for (int k = c + 1; k < strip; ++k) factor[k] = shuffle(x[0][c], k);
        if (c + 1 < strip) next = shuffle(x[0][(c + 1) % strip], c + 1);
        const real d = real_of(diagonal);
        if (c < steps && failed == 0 && !(d > 0)) failed = c + 1;
        const real inverse = c < steps ? inverse_root(d) : real(0);
        if (lane == c) own_inverse = inverse, x[0][c] = of_parts<element>(d, real(0));
        RICCI_UNROLL
        for (int k = c + 1; k < strip; ++k) factor[k] = conjugate(scaled(factor[k], inverse));
        if (c + 1 < strip) {
            subtract_product(next, conjugate(factor[(c + 1) % strip]), factor[(c + 1) % strip]);
            diagonal = next;
        }
        RICCI_UNROLL
        for (int i = 0; i < lane_rows; ++i) {
            x[i][c] = scaled(x[i][c], inverse);
            RICCI_UNROLL
            for (int k = c + 1; k < strip; ++k) subtract_product(x[i][k], x[i][c], factor[k]);
        }
    }
    RICCI_UNROLL
    for (int i = 0; i < lane_rows; ++i)
        RICCI_UNROLL
        for (int c = 0; c < strip; ++c)
            if (lane + 32 * i < height) p[lane + 32 * i + c * ld] = x[i][c];
    if (lane < strip) out.g[lane + lane * strip] = of_parts<element>(own_inverse, real(0));
    return failed;
}

/// The largest of the warp's 32-bit numbers.
RICCI_FUNCTION unsigned largest_of_warp(unsigned x) {
#if RICCI_ON_GPU && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffu, x);
#else
    RICCI_UNROLL
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        const unsigned other = __shfl_xor_sync(0xffffffffu, x, lanes);
        x = other > x ? other : x;
    }
    return x;
#endif
}

/// How many bits are set.
RICCI_FUNCTION int count_of(unsigned lanes) {
#if RICCI_ON_GPU
    return __popc(lanes);
#else
    return __builtin_popcount(lanes);
#endif
}

/// Lanes that hold the pivot, by which of their rows it is: one bit is set.
struct pivot_holders {
    unsigned lanes[lane_rows];
};

/// Of rows whose sizes' upper bits are the largest the first of the largest. place: where rows stand, < 0: nowhere.
RICCI_FUNCTION void settle_tie(const element (&x)[lane_rows][strip], int c, const int (&place)[lane_rows],
                               pivot_holders& at) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    unsigned low[lane_rows], most = 0, first = 0;
    RICCI_UNROLL
    for (int i = 0; i < lane_rows; ++i) {
        low[i] = (at.lanes[i] >> lane & 1) != 0 ? low_size_bits(x[i][c]) : 0;
        most = low[i] > most ? low[i] : most;
    }
    most = largest_of_warp(most);
    RICCI_UNROLL
    for (int i = 0; i < lane_rows; ++i) {
        const unsigned before = ~static_cast<unsigned>(place[i]);
        if ((at.lanes[i] >> lane & 1) != 0 && low[i] == most && before > first) first = before;
    }
    first = ~largest_of_warp(first);
    RICCI_UNROLL
    for (int i = 0; i < lane_rows; ++i)
        at.lanes[i] = __ballot_sync(0xffffffffu, place[i] == static_cast<int>(first));
}

/// tail: a row of p behind the matrix's, for use; is_odd changes with each exchange.
///
/// Rows stay where they are until the end; a pivot's row goes at once to its place in shared memory, from where all
/// lanes read it, and what its lane then makes of it is not used.
RICCI_FUNCTION int factor_lu_panel(element* p, int ld, int height, int tail, int steps, panel_results<strip>& out,
                                   bool& is_odd) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    constexpr int outside = -64;
    element x[lane_rows][strip];
    int place[lane_rows]; // of a pivot's row, which is c: -1 - c
    RICCI_UNROLL
    for (int i = 0; i < lane_rows; ++i) {
        const bool is_inside = lane + 32 * i < height;
        place[i] = is_inside ? lane + 32 * i : outside;
        RICCI_UNROLL
        for (int c = 0; c < strip; ++c) x[i][c] = is_inside ? p[lane + 32 * i + c * ld] : zero();
    }
    if (lane < strip) out.rows_moved.to[lane] = lane < steps ? lane : -1;
    __syncwarp();
    int failed = 0;
    RICCI_UNROLL
    for (int c = 0; c < strip; ++c) {
        if (c >= steps) break;
        pivot_holders holders;
        if constexpr (method == lu_method) {
            unsigned high[lane_rows], most = 0;
            element best = zero();
            RICCI_UNROLL
            for (int i = 0; i < lane_rows; ++i) {
                // one more than the zero of those that have no row
                high[i] = place[i] < 0 ? 0 : size_bits(x[i][c]) + 1;
                if (i == 0 || high[i] > most) most = high[i], best = x[i][c];
            }
            most = largest_of_warp(most);
            element inverse = plain_reciprocal(best); // of the right one in the lane that has the largest
            unsigned all = 0, again = 0;
            RICCI_UNROLL
            for (int i = 0; i < lane_rows; ++i) {
                holders.lanes[i] = __ballot_sync(0xffffffffu, high[i] == most);
                again |= all & holders.lanes[i];
                all |= holders.lanes[i];
            }
            if (again != 0 || (all & (all - 1)) != 0) {
                settle_tie(x, c, place, holders);
                RICCI_UNROLL
                for (int i = 0; i < lane_rows; ++i)
                    if ((holders.lanes[i] >> lane & 1) != 0) best = x[i][c];
                inverse = plain_reciprocal(best);
            }
            bool is_mine = false;
            RICCI_UNROLL
            for (int i = 0; i < lane_rows; ++i) is_mine = is_mine || (holders.lanes[i] >> lane & 1) != 0;
            if (is_mine) {
                RICCI_UNROLL
                for (int i = 0; i < lane_rows; ++i)
                    if (holders.lanes[i] != 0) {
                        RICCI_UNROLL
                        for (int k = 0; k < strip; ++k) p[c + k * ld] = x[i][k];
                        out.pivots[c] = place[i];
                        out.rows_moved.from[c] = lane + 32 * i;
                        place[i] = -1 - c;
                    }
                p[tail + c * ld] = inverse;
            }
        } else if (lane == c) {
            RICCI_UNROLL
            for (int k = 0; k < strip; ++k) p[c + k * ld] = x[0][k];
            p[tail + c * ld] = plain_reciprocal(x[0][c]);
            place[0] = -1 - c;
        }
        __syncwarp();
        element top[strip];
        RICCI_UNROLL
        for (int k = c; k < strip; ++k) top[k] = p[c + k * ld];
        element inverse = p[tail + c * ld];
        if constexpr (method == lu_method) {
            const int row = out.pivots[c];
            RICCI_UNROLL
            for (int i = 0; i < lane_rows; ++i)
                if (place[i] == c) place[i] = row;
        }
        if (!has_plain_reciprocal(top[c])) {
            const bool is_singular = size_of_pivot(top[c]) == 0;
            if (is_singular && failed == 0) failed = c + 1;
            if (is_singular) {
                inverse = one();
            } else {
                real grown = has_reciprocal(top[c]) ? real(1) : reciprocal_growth;
                if constexpr (is_complex) {
                    inverse = one() / scaled(top[c], grown);
                } else {
                    if (grown == 1) grown = 1 / reciprocal_growth;
                    inverse = plain_reciprocal(scaled(top[c], grown));
                }
                RICCI_UNROLL
                for (int i = 0; i < lane_rows; ++i) x[i][c] = scaled(x[i][c], grown);
            }
        }
        RICCI_UNROLL
        for (int i = 0; i < lane_rows; ++i) x[i][c] = x[i][c] * inverse;
        RICCI_UNROLL
        for (int k = c + 1; k < strip; ++k)
            RICCI_UNROLL
            for (int i = 0; i < lane_rows; ++i) subtract_product(x[i][k], x[i][c], top[k]);
    }
    RICCI_UNROLL
    for (int i = 0; i < lane_rows; ++i)
        RICCI_UNROLL
        for (int c = 0; c < strip; ++c)
            if (place[i] >= 0) p[place[i] + c * ld] = x[i][c];
    if constexpr (method == lu_method) {
        // beside pivots only rows move in whose places they come
        if (lane < strip) {
            out.rows_moved.to[strip + lane] = place[0] >= 0 && place[0] != lane ? place[0] : -1;
            out.rows_moved.from[strip + lane] = lane;
        }
        if constexpr (has_role[log_abs_role] || has_role[sign_role]) {
            const bool is_exchanged = lane < steps && out.pivots[lane % strip] != lane;
            if (count_of(__ballot_sync(0xffffffffu, is_exchanged)) % 2 != 0) is_odd = !is_odd;
        }
    }
    return failed;
}
