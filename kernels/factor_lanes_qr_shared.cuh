// factor_lanes_qr_shared: what lies where in shared memory, and in which order lanes read it.
//
// Lanes that read different columns at once would meet on the same banks: columns lie an even number of elements
// apart, or one more than that. Three things keep them apart, as a count of bank conflicts at compile time finds them
// to be worth it:
//
//   the warp's matrices take turns in its lanes: what is read at once is of few columns. Right-hand sides want a
//     matrix's lanes next to each other, or in pairs
//   each matrix is moved further than the one before: a copy of its own, for matrices that are worth one
//   lanes that would meet read their rows in different orders, unit h ^ twist where others read h, and put them right
//     by exchanges of registers under predicates, log2 of the number of orders times half the registers
#pragma once

#include "factor_lanes_qr_shape.cuh"

/// Odd multiples of row_lanes: neither row lanes nor column lanes meet on a bank.
constexpr int padded_rows = (round_up(m, row_lanes) / row_lanes | 1) * row_lanes;
template <int Groups, int Shift>
using matrices_moved_by = matrix_slab<matrix_role, m, n, padded_rows, Groups, Shift, (Groups > 1 || row_unit > 1)>;
using matrices_unmoved = matrices_moved_by<1, 16>;
/// A thread's own matrix is one column of all its elements.
constexpr bool is_flat = one_lane && matrices_unmoved::is_span;

struct reading_order {
    lane_order lanes;
    int shift;                 ///< bytes that each of the block's matrices is moved further than the one before
    int orders, divisor, step; ///< a lane's twist is lane / divisor % orders * step units of rows
};

RICCI_FUNCTION constexpr int offset_in_shared(int i, int j) {
    return i * matrices_unmoved::along + j * matrices_unmoved::across;
}
RICCI_FUNCTION constexpr int twist_of(reading_order o, int thread) {
    return thread % 32 / o.divisor % o.orders * o.step * row_unit;
}

/// Turns that shared memory takes for a warp's first access.
RICCI_FUNCTION constexpr int turns_of(reading_order o) {
    constexpr int size = static_cast<int>(sizeof(element)), at_once = 128 / unit_alignment;
    int turns = 0;
    for (int begin = 0; begin < 32; begin += at_once) {
        int most = 0, on_bank[at_once] = {};
        for (int lane = begin; lane < begin + at_once && lane < 32; ++lane) {
            const lane_place at = place_of(lane, o.lanes);
            if (at.idle) continue;
            const int twist = twist_of(o, lane),
                      element_at = offset_in_shared(row_of(at, is_flat ? 0 : twist), column_of(at, 0)) +
                                   (is_flat ? twist : 0),
                      bytes = at.group * (matrices_unmoved::apart * size + o.shift) + element_at * size,
                      here = ++on_bank[bytes / unit_alignment % at_once];
            if (here > most) most = here;
        }
        turns += most;
    }
    return turns;
}

// Pivot columns go from their lanes to the others through shared memory, 16 bytes at a time: of each a vector a row
// lane. These are 16 bytes modulo 128 apart: lanes that read several at a time find them on different banks. Where
// several warps have a matrix there are two sets, used in turns: so one barrier a pivot is enough.
constexpr int units = (row_slots + of_unit - 1) / of_unit;
struct alignas(16) unit_of_column {
    element at[of_unit];
};
constexpr int vector_units = units < 2 ? 1 : round_up(units - 1, 8) + 1,
              vectors_of_set = one_lane ? 0 : groups * row_lanes;
static_assert(one_lane || row_lanes * vector_units * of_unit >= m, "and a matrix's pivots at once");

/// On an H200 64 and 32 were no faster.
constexpr int kept_bytes = 48;
/// A pivot column is read again for the update where its rows from slot `top` on would take too many registers.
RICCI_FUNCTION constexpr bool keeps_pivot(int top) {
    return (row_slots - top) * static_cast<int>(sizeof(element)) <= kept_bytes;
}

/// Turns that shared memory takes for pivot columns on their way through it. 16 bytes a lane are read by eight lanes at
/// a time, or by 16 where all lanes i and i ^ 1, or all i and i ^ 2, read the same (an H200's counters show both), and
/// written by eight.
RICCI_FUNCTION constexpr int turns_of_pivots(lane_order lanes) {
    bool are_pairs[2] = {true, true};
    for (int lane = 0; lane < 32; ++lane)
        for (int bit = 0; bit < 2; ++bit) {
            const lane_place at = place_of(lane, lanes), other = place_of(lane ^ (1 << bit), lanes);
            if (at.group != other.group || at.r != other.r) are_pairs[bit] = false;
        }
    const int reading = are_pairs[0] || are_pairs[1] ? 2 : 4;
    int turns = 0;
    for (int k = 0; k < reflectors; ++k) {
        int writing = 0;
        for (int first = 0; first < 32; first += 8) {
            bool writes = false;
            for (int lane = first; lane < first + 8; ++lane) {
                const lane_place at = place_of(lane, lanes);
                writes = writes || (at.q == k % column_lanes && !at.idle);
            }
            writing += writes ? 1 : 0;
        }
        const int top = row_slot_of(k);
        turns += (units - top / of_unit) * (reading * (keeps_pivot(top) ? 1 : 2) + writing);
    }
    return turns;
}

/// Instructions that a turn is worth: more is lost again where registers are few. Copies are worth less than one.
constexpr int of_turn = 2;
/// Of an access to a lane's columns.
RICCI_FUNCTION constexpr int cost_of(reading_order o) {
    int bits = 0;
    while (1 << bits < o.orders) ++bits;
    return turns_of(o) * of_turn + (o.shift > 0 ? 1 : 0) + bits * row_unit * static_cast<int>(sizeof(element) / 4);
}
RICCI_FUNCTION constexpr int cost_with_pivots(reading_order o) {
    return cost_of(o) * (2 * column_slots * row_slots / row_unit) + of_turn * turns_of_pivots(o.lanes);
}

/// Bytes of matrices that are worth a copy of their own: on an H100 smaller ones took 3 to 12% longer with one.
constexpr int moved_bytes = 2048;
RICCI_FUNCTION constexpr reading_order find_shift(reading_order best) {
    constexpr int bytes = m * n * static_cast<int>(sizeof(element));
    constexpr bool moves = matrices_unmoved::is_span && groups_of_warp > 1 && bytes % 16 == 0 &&
                           bytes >= moved_bytes && matrices_of_block == groups;
    int least = cost_of(best);
    for (int shift = 0; shift < (moves ? 128 : 16); shift += 16) {
        const reading_order o{best.lanes, shift, 1, 1, 1};
        if (const int cost = cost_of(o); cost < least) best = o, least = cost;
    }
    return best;
}
constexpr int twisted_units = (is_flat ? m * n : row_slots) / row_unit; ///< as far as whole groups go
/// What is moved is not twisted as well.
RICCI_FUNCTION constexpr reading_order find_twist(reading_order best) {
    if (best.shift > 0) return best;
    int least = cost_of(best);
    for (int orders = 2; orders <= 32 && orders <= twisted_units; orders *= 2)
        for (int step = 1; step * orders <= twisted_units && step <= 8; step *= 2)
            for (int divisor = 1; divisor * orders <= 32; divisor *= 2) {
                const reading_order o{best.lanes, best.shift, orders, divisor, step};
                if (const int cost = cost_of(o); cost < least) best = o, least = cost;
            }
    return best;
}
RICCI_FUNCTION constexpr reading_order plain(lane_order lanes) { return {lanes, 0, 1, 1, 1}; }
RICCI_FUNCTION constexpr reading_order cheaper(reading_order one, reading_order other) {
    return cost_of(other) < cost_of(one) ? other : one;
}
/// Where what lanes read and write of their columns takes the fewest turns.
RICCI_FUNCTION constexpr reading_order find_order() {
    constexpr bool takes_turns = groups_of_warp > 1 && sides == 0;
    constexpr reading_order of_adjacent = find_shift(plain(lane_order::adjacent));
    if constexpr (!takes_turns) return find_twist(of_adjacent);
    constexpr reading_order moved = cheaper(find_shift(plain(lane_order::by_turns)), of_adjacent);
    if constexpr (moved.shift > 0) return moved;
    constexpr reading_order twisted_by_turns = find_twist(plain(lane_order::by_turns)),
                            twisted_adjacent = find_twist(plain(lane_order::adjacent));
    return cheaper(twisted_by_turns, twisted_adjacent);
}
/// Pairs, where their cost is below 6/7 of the others': on an H200 f64 matrices of up to 64 rows were 2% faster then on
/// average, and to 9%; with copies of their own, where others have none, 3 to 5% slower. Sides are multiplied by Q by
/// lanes next to each other.
RICCI_FUNCTION constexpr reading_order find_order_with_pairs() {
    constexpr reading_order others = find_order();
    if constexpr (!smallest_norm && !one_lane && 2 * row_lanes <= 32 &&
                  groups_of_warp * row_lanes * round_up(column_lanes, 2) <= (many_warps ? lanes_of_matrix : 32)) {
        constexpr reading_order unmoved = plain(lane_order::by_pairs),
                                pairs = find_twist(others.shift > 0 ? find_shift(unmoved) : unmoved);
        if (7 * cost_with_pivots(pairs) < 6 * cost_with_pivots(others)) return pairs;
    }
    return others;
}
constexpr reading_order order = find_order_with_pairs();
/// How far a column's row lanes, and a warp's matrices, are apart in its lanes.
constexpr int row_lanes_apart = order.lanes == lane_order::by_pairs ? 2 : 1,
              matrices_apart = order.lanes == lane_order::adjacent ? lanes_of_matrix : row_lanes * row_lanes_apart;
constexpr int twisted_group = order.orders * order.step * row_unit,
              twisted_slots = twisted_units * row_unit / twisted_group * twisted_group;

RICCI_FUNCTION constexpr lane_place place_of(int thread) { return place_of(thread, order.lanes); }

/// Those of the warp's first matrix that have columns.
RICCI_FUNCTION constexpr unsigned of_first_matrix() {
    unsigned out = 0;
    for (int lane = 0; lane < 32; ++lane)
        if (const lane_place at = place_of(lane); at.of_warp == 0 && !at.idle) out |= 1u << lane;
    return out;
}
/// Those of the thread's.
RICCI_FUNCTION unsigned of_matrix(lane_place at) {
    constexpr unsigned first = of_first_matrix();
    return first << at.of_warp * matrices_apart % 32;
}

/// A lane's number among its matrix's, from 0 to lanes_at_work - 1 of those that work, and the lane of a number.
RICCI_FUNCTION constexpr int number_of(lane_place at) { return at.q * row_lanes + at.r; }
RICCI_FUNCTION constexpr int lane_of(int number, int of_warp) {
    const int q = number / row_lanes, r = number % row_lanes;
    if constexpr (order.lanes == lane_order::by_pairs)
        return (q / 2 * groups_of_warp + of_warp) * (2 * row_lanes) + r * 2 + q % 2;
    if constexpr (order.lanes == lane_order::by_turns) return (q * groups_of_warp + of_warp) * row_lanes + r;
    return of_warp * lanes_of_matrix + number;
}
RICCI_FUNCTION constexpr bool all_have_a_lane() {
    int found = 0;
    for (int lane = 0; lane < (many_warps ? lanes_of_matrix : 32); ++lane) {
        const lane_place at = place_of(lane);
        if (!at.idle && number_of(at) < lanes_at_work && lane_of(number_of(at), at.of_warp) == lane) ++found;
    }
    return found == groups_of_warp * lanes_at_work;
}
static_assert(all_have_a_lane(), "each column lane and row lane of each of the warp's matrices is one lane");

using matrices_in_shared =
    matrices_moved_by<order.shift == 0 ? 1 : matrices_of_block, order.shift == 0 ? 16 : order.shift>;
static_assert(order.shift == 0 || matrices_in_shared::of_group == 1);
using given_in_shared = matrix_slab<given_role, smallest_norm ? n : m, at_least_one(sides), padded_rows>;
using solutions_in_shared = matrix_slab<solution_role, smallest_norm ? m : n, at_least_one(sides), padded_rows>;
static_assert(given_in_shared::apart == solutions_in_shared::apart, "solved in place");

constexpr int of_told = 2 * static_cast<int>(sizeof(element)); ///< bytes, of factor_lanes_qr_reflection's

/// Beside the slab's barrier: whether a matrix has to be factored the slow way. Behind: what is told of a slot's
/// pivots.
constexpr int unsafe_place = 8, told_place = of_told > 16 ? of_told : 16;
constexpr int vectors_place = told_place + (one_lane ? 0 : round_up(groups * column_lanes * of_told, 16));
constexpr int sets = many_warps ? 2 : 1;
constexpr int taus_place = vectors_place + sets * vectors_of_set * vector_units * 16; ///< of smallest_norm
constexpr int sides_place =
    round_up(taus_place + (smallest_norm ? groups * n * static_cast<int>(sizeof(element)) : 0), 128);
constexpr int matrices_place = sides_place + (sides > 0 ? given_in_shared::bytes : 0);
static_assert(matrices_place + matrices_in_shared::bytes <= shared_bytes, "as lowering counted");
