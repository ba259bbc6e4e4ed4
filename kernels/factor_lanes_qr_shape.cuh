// factor_lanes_qr_shape: which lane holds what of a matrix, and what lies where in shared memory.
//
// A matrix's lanes are a grid: column_lanes by row_lanes, the row lanes of a column next to each other. A lane holds
// in registers of the columns j = q + column_lanes * slot the rows i = r + row_lanes * slot, cyclic both ways, so
// that all lanes have work as the trailing matrix shrinks. Right-hand sides are further columns, but where the
// smallest solution is wanted, which Q is multiplied to at last. More than 32 lanes
// are the whole block, which then has one matrix at a time.
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
constexpr int row_slots = (m + row_lanes - 1) / row_lanes;
constexpr bool one_lane = lanes_of_matrix == 1, many_warps = lanes_of_matrix > 32;
constexpr int groups_of_warp = many_warps ? 1 : 32 / lanes_of_matrix;
constexpr int groups = many_warps ? 1 : threads_per_block / 32 * groups_of_warp; ///< matrices at a time

static_assert(column_lanes <= lanes_of_matrix && row_lanes <= 32, "a lane for each column");
static_assert(threads_per_block % 32 == 0 && (!many_warps || threads_per_block == lanes_of_matrix), "whole warps");
static_assert(lanes_of_matrix % row_lanes == 0, "row lanes are neighbors that exchange by bits of their number");
static_assert(sides == 0 || m >= n, "least squares");

constexpr int kept_bytes = 32; ///< of registers, to keep a pivot column in while others are updated

// Pivot columns go from their lanes to the others through shared memory, 16 bytes at a time: of each a vector a row
// lane. These are 16 bytes modulo 128 apart: lanes that read several at a time find them on different banks. There
// are two sets, used in turns: so one barrier a pivot is enough.
constexpr int of_unit = 16 / static_cast<int>(sizeof(element)), units = (row_slots + of_unit - 1) / of_unit;
struct alignas(16) unit_of_column {
    element at[of_unit];
};
constexpr int vector_units = units < 2 ? 1 : round_up(units - 1, 8) + 1,
              vectors_of_set = one_lane ? 0 : groups * row_lanes;
static_assert(one_lane || row_lanes * vector_units * of_unit >= m, "and a matrix's pivots at once");

/// Odd multiples of row_lanes: neither row lanes nor column lanes meet on a bank.
constexpr int padded_rows = (round_up(m, row_lanes) / row_lanes | 1) * row_lanes;
using matrices_in_shared = matrix_slab<matrix_role, m, n, padded_rows>;
using given_in_shared = matrix_slab<given_role, smallest_norm ? n : m, at_least_one(sides), padded_rows>;
using solutions_in_shared = matrix_slab<solution_role, smallest_norm ? m : n, at_least_one(sides), padded_rows>;
static_assert(given_in_shared::apart == solutions_in_shared::apart, "solved in place");

constexpr int heads_place = 16; ///< behind the slab's barrier: of each pivot column the element on the diagonal
constexpr int vectors_place =
    heads_place + (one_lane ? 0 : round_up(2 * groups * static_cast<int>(sizeof(element)), 16));
constexpr int taus_place = vectors_place + 2 * vectors_of_set * vector_units * 16; ///< of smallest_norm
constexpr int sides_place =
    round_up(taus_place + (smallest_norm ? groups * n * static_cast<int>(sizeof(element)) : 0), 128);
constexpr int matrices_place = sides_place + (sides > 0 ? given_in_shared::bytes : 0);
static_assert(matrices_place + matrices_in_shared::bytes <= shared_bytes, "as lowering counted");
