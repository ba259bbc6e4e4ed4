// factor_lanes_qr_ahead: the reflections of a matrix that several lanes have, each told before it is due.
//
// As soon as a pivot's column is up to date its lanes publish v = (d, x), while others are still at work with the one
// before. For that the column's norm has to be known without a pass over it: a slot's columns are squared when the
// slot's first pivot comes, and each of its steps then takes from the squares what it leaves on its row. Where that
// would leave less than a quarter the slot's columns are squared again, as also where what is below the head could be
// nothing at all, which is exactly so for H = I alone. v^H c then takes one pass and one sum over the row lanes.
#pragma once

#include "factor_lanes_qr_reflection.cuh"

RICCI_FUNCTION void meet() {
    if constexpr (many_warps)
        __syncthreads();
    else if constexpr (!one_lane)
        __syncwarp();
}

/// Of the pivots from First on those that share a column slot and a rolled loop.
RICCI_FUNCTION constexpr int end_of_segment(int first) {
    const int of_rows = (first / (panel * row_lanes) + 1) * panel * row_lanes,
              of_columns = (first / column_lanes + 1) * column_lanes;
    return smaller_of(smaller_of(of_rows, of_columns), reflectors);
}

/// Powers of two by which squares may shrink before they are found anew; and by which what is below the head is
/// smaller where it may be nothing. To a quarter norms of random columns err by 0.8 units of the last place on average,
/// to a half by 0.6, and twice as many steps square anew.
constexpr int lost_powers = 2, tiny_powers = sizeof(real) == 4 ? 20 : 48;
/// Whether the columns of a slot are squared at each step: there is little left of them, and of little much is lost.
RICCI_FUNCTION constexpr bool squares_each(int slot) { return m - (slot + 1) * column_lanes < column_lanes / 2; }

/// A lane's columns of the slot at work.
struct column_state {
    real square; ///< of what is on the rows that are not done
    int limit;   ///< of its upper bits: below, it is to be found anew
    bool unsafe; ///< of all columns so far
    told_reflection<element> next; ///< where the lane has the next pivot
};

/// The block's part of shared memory that pivot columns go through.
struct pivot_memory {
    told_reflection<element>* told; ///< of the columns of the matrix's slot at work
    unit_of_column* vectors;
    RICCI_FUNCTION pivot_memory(unsigned char* memory, lane_place at)
        : told(reinterpret_cast<told_reflection<element>*>(memory + told_place) + at.group * column_lanes),
          vectors(reinterpret_cast<unit_of_column*>(memory + vectors_place) +
                  (at.group * row_lanes + at.r) * vector_units) {}
    RICCI_FUNCTION unit_of_column* vector(int k) const {
        return vectors + k % sets * (vectors_of_set * vector_units);
    }
};

/// The first slot of the unit that has row i.
RICCI_FUNCTION constexpr int unit_slot_of(int i) { return i / unit_lanes * row_unit; }

/// The element on row k, where the lane has it: in one of the row slots [Top, End).
template <int Top, int End>
RICCI_FUNCTION element on_row(const element (&x)[row_slots], int k) {
    element out = x[Top];
    RICCI_UNROLL
    for (int h = Top + 1; h < End; ++h)
        out = selected(End - Top == row_unit ? k % row_unit >= h - Top : row_slot_of(k) >= h, x[h], out);
    return out;
}

/// Squares of the rows from k on, which are in row slots from Top on, of the lane's column.
template <int Top>
RICCI_FUNCTION real square_from(const element (&x)[row_slots], lane_place at, int k) {
    real sums[2] = {0, 0};
    RICCI_UNROLL
    for (int h = Top; h < row_slots; ++h) {
        const bool counts = first_row_of(h) >= k || row_of(at, h) >= k;
        sums[h % 2] += counts ? squared(x[h]) : real(0);
    }
    real out = sums[0] + sums[1];
    add_up(out);
    return out;
}

RICCI_FUNCTION void keep_square(column_state& state, real square) {
    state.square = square;
    state.limit = static_cast<int>(upper_bits(square)) - lost_powers * per_power;
}

/// Row k's element of the lane's column, whichever of its lanes has it.
template <int Top, int End>
RICCI_FUNCTION element of_row(const element (&x)[row_slots], int k) {
    const element own = on_row<Top, End>(x, k);
    if constexpr (row_lanes == 1) return own;
    constexpr int of_column = row_lanes * row_lanes_apart;
    const int lane = static_cast<int>(threadIdx.x) % 32,
              first = lane / of_column * of_column + lane % row_lanes_apart;
    return shuffle(own, first + row_lane_of(k) * row_lanes_apart);
}

/// Pivot k's reflection, of column slot Slot, whose own row is in row slots [Top, End), others in those behind, from
/// squares that are found for it.
template <int Slot, int Top, int End>
RICCI_FUNCTION void square_and_prepare(const lane_columns& x, column_state& state, lane_place at, int k) {
    const element alpha = squares_each(Slot) ? on_row<Top, End>(x[Slot], k) : of_row<Top, End>(x[Slot], k);
    const real below = square_from<Top>(x[Slot], at, k + 1);
    keep_square(state, below + squared(alpha));
    state.next = told_reflection<element>(alpha, state.square, is_nothing(below) && imaginary_of(alpha) == 0);
}

/// The same from the square that is known, unless that is in doubt: then the slot's columns that the warp has of that
/// matrix are squared again, as the next ones will have lost as much. Those of others are left: no bit of theirs is to
/// depend on it.
template <int Slot, int Top, int End>
RICCI_FUNCTION void prepare(const lane_columns& x, column_state& state, lane_place at, int k) {
    if constexpr (squares_each(Slot)) {
        square_and_prepare<Slot, Top, End>(x, state, at, k);
    } else {
        const element alpha = on_row<Top, End>(x[Slot], k);
        const int size = static_cast<int>(upper_bits(state.square)),
                  size_below = static_cast<int>(upper_bits(state.square - squared(alpha)));
        const bool has_row = at.q == k - Slot * column_lanes && at.r == row_lane_of(k) && !at.idle,
                   is_doubtful = has_row && (size < state.limit || size_below < size - tiny_powers * per_power);
        state.next = told_reflection<element>(alpha, state.square, false);
        const unsigned doubtful = __ballot_sync(0xffffffffu, is_doubtful);
        if (__builtin_expect(doubtful != 0, 0)) {
            column_state anew = state;
            square_and_prepare<Slot, Top, End>(x, anew, at, k);
            if ((doubtful & of_matrix(at)) != 0) state = anew;
        }
    }
}

/// A slot's columns are next.
template <int Slot>
RICCI_FUNCTION void open_slot(const lane_columns& x, column_state& state, lane_place at) {
    constexpr int k = Slot * column_lanes, top = unit_slot_of(k);
    if constexpr (!squares_each(Slot)) keep_square(state, square_from<top>(x[Slot], at, k));
    prepare<Slot, top, top + row_unit>(x, state, at, k);
}

/// Units of v from Unit down to the one that has row slot Top.
template <int Slot, int Top, int End, int Unit>
RICCI_FUNCTION void tell_units(const lane_columns& x, const column_state& state, unit_of_column* vector, lane_place at,
                               int k, bool owns) {
    unit_of_column unit;
    RICCI_UNROLL
    for (int t = 0; t < of_unit; ++t) {
        const int slot = Unit * of_unit + t;
        if (slot < Top || slot >= row_slots)
            unit.at[t] = zero();
        else if (slot < End)
            unit.at[t] = row_of(at, slot) < k ? zero() : row_of(at, slot) == k ? state.next.d : x[Slot][slot];
        else
            unit.at[t] = x[Slot][slot];
    }
    store_if<Unit>(owns, vector, unit);
    if constexpr (Unit > Top / of_unit) tell_units<Slot, Top, End, Unit - 1>(x, state, vector, at, k, owns);
}

/// Tells pivot k's reflection.
template <int Slot, int Top, int End>
RICCI_FUNCTION void tell(const lane_columns& x, const column_state& state, const pivot_memory& memory, lane_place at,
                         int k) {
    const bool owns = at.q == k - Slot * column_lanes && !at.idle, has_row = owns && at.r == row_lane_of(k);
    unit_of_column* const vector = memory.vector(k);
    tell_units<Slot, Top, End, units - 1>(x, state, vector, at, k, owns);
    store_if(has_row, memory.told + (k - Slot * column_lanes), state.next);
}

/// Pivot k, one of those of [First, End), is told and reflected, and the next prepared.
template <int First, int End>
RICCI_FUNCTION void reflect(lane_columns& x, column_state& state, const pivot_memory& memory, lane_place at, int k) {
    constexpr int slot = First / column_lanes; // of the pivot's column
    constexpr int top = unit_slot_of(First), mixed_end = unit_slot_of(End - 1) + row_unit, first_unit = top / of_unit;
    // sums of a column's product at once: more of the slot's own, whose next pivot waits for it
    constexpr int chains = column_slots - slot <= 3 ? 2 : 1, own_chains = column_slots - slot == 1 ? 4 : 2;
    __syncwarp(); // what one warp was told before was read; others' have another set
    tell<slot, top, mixed_end>(x, state, memory, at, k);
    meet();
    const unit_of_column* const vector = memory.vector(k);
    constexpr bool keeps = keeps_pivot(top);
    constexpr bool has_next = End - First > 1 || End % column_lanes != 0; // in this slot
    // Row k of the slot's columns, which leaves their squares: asked for before H changes it, since all can tell how.
    element on_pivots_row = zero();
    if constexpr (has_next && !squares_each(slot)) on_pivots_row = of_row<top, mixed_end>(x[slot], k);
    element v[keeps ? round_up(row_slots, of_unit) : 1], dot[own_chains][column_slots];
    RICCI_UNROLL
    for (int s = 0; s < own_chains; ++s) RICCI_UNROLL
    for (int c = slot; c < column_slots; ++c) dot[s][c] = zero();
    RICCI_UNROLL
    for (int u = first_unit; u < units; ++u) {
        const unit_of_column unit = vector[u];
        RICCI_UNROLL
        for (int t = 0; t < of_unit; ++t)
            if (const int h = u * of_unit + t; h >= top && h < row_slots) {
                if constexpr (keeps) v[h] = unit.at[t];
                RICCI_UNROLL
                for (int c = slot; c < column_slots; ++c)
                    add_dot(dot[h % (c == slot ? own_chains : chains)][c], unit.at[t], x[c][h]);
            }
    }
    const told_reflection<element> told = memory.told[k - slot * column_lanes];
    const element factor = told.factor();
    // Columns that are done, and the pivot's own, stay: of what is safe products are finite.
    const element of_slot = selected(at.q <= k - slot * column_lanes, zero(), factor);
    element g[column_slots];
    RICCI_UNROLL
    for (int c = slot; c < column_slots; ++c) {
        RICCI_UNROLL
        for (int s = 1; s < (c == slot ? own_chains : chains); ++s) dot[0][c] += dot[s][c];
        add_up(dot[0][c]);
        g[c] = (c == slot ? of_slot : factor) * dot[0][c];
    }
    const auto update = [&](element value, int h) {
        RICCI_UNROLL
        for (int c = slot; c < column_slots; ++c) add_product(x[c][h], g[c], value);
    };
    if constexpr (keeps) {
        RICCI_UNROLL
        for (int h = top; h < row_slots; ++h) update(v[h], h);
    } else {
        const unit_of_column* const again = vector + at.zero;
        RICCI_UNROLL
        for (int u = first_unit; u < units; ++u) {
            const unit_of_column unit = again[u];
            RICCI_UNROLL
            for (int t = 0; t < of_unit; ++t)
                if (const int h = u * of_unit + t; h >= top && h < row_slots) update(unit.at[t], h);
        }
    }
    if constexpr (has_next) {
        if constexpr (!squares_each(slot)) {
            add_product(on_pivots_row, g[slot], told.d);
            state.square -= squared(on_pivots_row);
        }
        prepare<slot, top, smaller_of(End % column_lanes == 0 ? mixed_end : unit_slot_of(End) + row_unit, row_slots)>(
            x, state, at, k + 1);
    }
}

/// The columns of a slot are done: x becomes v, and tau leaves.
template <int Slot>
RICCI_FUNCTION void finish_slot(lane_columns& x, column_state& state, const pivot_memory& memory, element* tau,
                                const arguments& a, lane_place at) {
    const int j = column_of(at, Slot) + at.zero;
    constexpr bool all_are = (Slot + 1) * column_lanes <= reflectors;
    if (all_are || (j < reflectors && !at.idle)) {
        const told_reflection<element> h = memory.told[at.q < column_lanes ? at.q : 0];
        if (!h.was_safe()) state.unsafe = true;
        const element scale = keeps_reflectors ? h.scale() : zero();
        RICCI_UNROLL
        for (int i = 0; i < row_slots; ++i) {
            constexpr int first = Slot * column_lanes, end = first + column_lanes;
            if (first_row_of(i) + unit_lanes <= first) continue;
            const element value = x[Slot][i];
            if (keeps_reflectors && row_of(at, i) > j) x[Slot][i] = value * scale;
            if (first_row_of(i) < end && row_of(at, i) == j) x[Slot][i] = h.beta(value);
        }
    }
    if (has_taus && tau != nullptr && at.r == 0 && j < pivots)
        store_tau(tau, a, j, j < reflectors ? memory.told[at.q].tau() : zero());
}

template <int First = 0>
RICCI_FUNCTION void reflect_from(lane_columns& x, column_state& state, const pivot_memory& memory, element* tau,
                                const arguments& a, lane_place at) {
    if constexpr (First < reflectors) {
        constexpr int end = end_of_segment(First);
        if constexpr (First % column_lanes == 0) open_slot<First / column_lanes>(x, state, at);
        if constexpr (end - First == 1) {
            reflect<First, end>(x, state, memory, at, First);
        } else {
            RICCI_UNROLL_ONCE
            for (int k = First; k < end; ++k) reflect<First, end>(x, state, memory, at, k);
        }
        if constexpr (end == reflectors || end % column_lanes == 0)
            finish_slot<First / column_lanes>(x, state, memory, tau, a, at);
        reflect_from<end>(x, state, memory, tau, a, at);
    } else if constexpr (reflectors < pivots && reflectors % column_lanes == 0) {
        finish_slot<reflectors / column_lanes>(x, state, memory, tau, a, at); // has the last row's column, and no other
    }
}

/// tau: the matrix's, or null. Returns whether a square was not safe, of the lane's columns.
RICCI_FUNCTION bool reflect_together(lane_columns& x, unsigned char* memory, element* tau, const arguments& a,
                                     lane_place at) {
    const pivot_memory pivot(memory, at);
    column_state state{0, 0, false, {}};
    reflect_from(x, state, pivot, tau, a, at);
    return state.unsafe && !at.idle;
}
