// factor_lanes_qr_shape: which lane holds what of a matrix.
//
// A matrix's lanes are a grid: column_lanes by row_lanes, the row lanes of a column next to each other, or every other
// lane (lane_order). A lane holds in registers of the columns j = q + column_lanes * slot the rows
// i = r + row_lanes * slot, cyclic both ways, so that all lanes have work as the trailing matrix shrinks. Right-hand
// sides are further columns, but where the smallest solution is wanted, which Q is multiplied to at last. More than 32
// lanes are the whole block, which then has one matrix at a time.
//
// Constants: factor.hpp's, and
//   matrices_of_block, threads_per_block, in_slabs
//   lanes_of_matrix, lines_of_lane     lines: columns of a lane
//   panel                              row slots that one rolled loop over pivots covers; 1: nothing is rolled
//   stages                             blocks an SM is to have room for, which caps registers; 0: as the compiler
//                                      likes
//   shared_bytes                       lowering/factor_lanes_qr.cpp counts what `end` is here
#pragma once

#include "factor_slab.cuh"

static_assert(rows != argument && columns != argument && right_sides != argument, "registers want constants");

constexpr int m = static_cast<int>(rows), n = static_cast<int>(columns), sides = static_cast<int>(right_sides);
constexpr int pivots = m < n ? m : n;
/// Nothing is below the last row, where real numbers have H = I.
constexpr int reflectors = is_complex || pivots < m ? pivots : m - 1;
constexpr int all_columns = smallest_norm ? n : n + sides, column_slots = lines_of_lane;
constexpr int needed_lanes = (all_columns + column_slots - 1) / column_slots; ///< of columns
constexpr int row_lanes = power_of_two_within(lanes_of_matrix / at_least_one(needed_lanes));
/// A multiple of row_lanes, where there are as many: slots of rows and of columns then end together more often, each
/// end of which begins a loop of its own.
constexpr int rounded_lanes = round_up(needed_lanes, row_lanes),
              column_lanes = rounded_lanes * row_lanes <= lanes_of_matrix ? rounded_lanes : needed_lanes;
constexpr int lanes_at_work = column_lanes * row_lanes; ///< others of a matrix's are idle
constexpr bool one_lane = lanes_of_matrix == 1, many_warps = lanes_of_matrix > 32;
constexpr int groups_of_warp = many_warps ? 1 : 32 / lanes_of_matrix;
constexpr int groups = many_warps ? 1 : threads_per_block / 32 * groups_of_warp; ///< matrices at a time

static_assert(column_lanes <= lanes_of_matrix && row_lanes <= 32, "a lane for each column");
static_assert(threads_per_block % 32 == 0 && (!many_warps || threads_per_block == lanes_of_matrix), "whole warps");
static_assert(lanes_of_matrix % row_lanes == 0, "row lanes exchange by bits of their number");
static_assert(sides == 0 || m >= n, "least squares");

constexpr int of_unit = 16 / static_cast<int>(sizeof(element)); ///< elements of 16 bytes
/// Rows next to each other that a lane has, and reads at once where they are a span's: 16 bytes, as far as rows that
/// share a loop over pivots go.
RICCI_FUNCTION constexpr int rows_of_unit(int most) {
    const bool is_together = in_slabs && !one_lane && matrix_step[matrix_role][0] == 1 &&
                             m * n * static_cast<int>(sizeof(element)) % 16 == 0;
    while (most > 1 && !(is_together && panel % most == 0 && m % most == 0)) most /= 2;
    return most;
}
constexpr int row_unit = rows_of_unit(of_unit), unit_lanes = row_unit * row_lanes; ///< rows of a unit's slots
/// Of what a lane reads at once: elements alone need not lie at multiples of their size.
constexpr int unit_alignment = row_unit == 1 ? alignof(element) : row_unit * static_cast<int>(sizeof(element));

constexpr int row_slots = (m + unit_lanes - 1) / unit_lanes * row_unit;

/// This thread's place.
struct lane_place {
    int group, q, r; ///< which of the block's matrices at a time, column lane, row lane
    int of_warp;     ///< which of the warp's matrices
    bool idle;       ///< has no matrix or no column
    /// 0, which no compiler knows: places and numbers that it is added to are found again instead of held in
    /// registers.
    int zero;
};
/// Whose lanes are next to each other in a warp.
enum class lane_order {
    adjacent, ///< a matrix's, of these a column's row lanes
    by_turns, ///< row lanes of one of its matrices' columns, then of the next's
    by_pairs  ///< two columns' lanes in turns, row lane by row lane; then the next matrix's
};
RICCI_FUNCTION constexpr lane_place place_of(int thread, lane_order order) {
    const int lane = many_warps ? thread : thread % 32, column = lane / row_lanes, pair = lane / 2 / row_lanes;
    int of_warp = lane / lanes_of_matrix, q = lane % lanes_of_matrix / row_lanes, r = lane % row_lanes;
    if (order == lane_order::by_turns) of_warp = column % groups_of_warp, q = column / groups_of_warp;
    if (order == lane_order::by_pairs)
        of_warp = pair % groups_of_warp, q = pair / groups_of_warp * 2 + lane % 2, r = lane / 2 % row_lanes;
    const bool beyond = of_warp >= groups_of_warp; // looks at what its own warp's barriers guard
    const int group = beyond ? 0 : of_warp, before = many_warps ? 0 : thread / 32 * groups_of_warp;
    return {before + group, q, r, group, beyond || q >= column_lanes, 0};
}

RICCI_FUNCTION constexpr int row_of(lane_place at, int h) {
    return at.r * row_unit + h / row_unit * unit_lanes + h % row_unit;
}
RICCI_FUNCTION constexpr int column_of(lane_place at, int c) { return at.q + column_lanes * c; }
/// The lane and slot that have row i.
RICCI_FUNCTION constexpr int row_lane_of(int i) { return i / row_unit % row_lanes; }
RICCI_FUNCTION constexpr int row_slot_of(int i) { return i / unit_lanes * row_unit + i % row_unit; }
/// The first row of a unit's slots.
RICCI_FUNCTION constexpr int first_row_of(int h) { return h / row_unit * unit_lanes; }
