// gett_places: where a block's rows, columns and steps of the sum lie in X and Y and what they add to padded
// positions, found once and kept in shared memory: an element's place is that of its row or column plus that of its
// step.
//
// Constants: gett_arguments.hpp's, threads_per_block, rows_of_block, columns_of_block, k_panel, a divisor of the
// threads.
#pragma once

#include "gett_arguments.hpp"
#include "neighbors.cuh"

/// Padded positions of X (O = 1) or Y (2); without any, one that only what the product does not have lies outside of.
template <int O>
RICCI_FUNCTION constexpr int bounds_of() {
    int count = 0;
    for (int b = 0; b < bound_count; ++b) count += bound_side[b] == O ? 1 : 0;
    return at_least_one(count);
}
/// Calls f(number among the operand's, number among all) for each.
template <int O, class F>
RICCI_FUNCTION void each_bound(const F& f) {
    int own = 0;
    RICCI_UNROLL
    for (int b = 0; b < bound_count; ++b)
        if (bound_side[b] == O) f(own++, b);
}

/// Added to a position it takes that outside, twice too: positions and extents are smaller (lowering sees to it).
constexpr int far_outside = -(1 << 30);

template <int O>
struct place {
    long long offset = 0;
    int at[bounds_of<O>()] = {}; ///< of the padded positions
};

/// Calls f(axis, where `i` is on it) for each of `axes`.
template <class F>
RICCI_FUNCTION void each_axis(unsigned i, int axes, const long long* lengths, const F& f) {
    RICCI_UNROLL
    for (int axis = 0; axis < axes; ++axis) {
        const auto length = static_cast<unsigned>(lengths[axis]);
        f(axis, static_cast<int>(axis + 1 == axes ? i : i % length));
        i /= length;
    }
}

/// Of a place in shared memory, by accesses of 16 bytes.
template <int O>
RICCI_FUNCTION place<O> load_place(const place<O>& from) {
    constexpr int words = sizeof(place<O>) / 4;
    const auto all = load_neighbors<unsigned, words>(reinterpret_cast<const unsigned*>(&from));
    place<O> out;
    out.offset = static_cast<long long>(static_cast<unsigned long long>(all.at(1)) << 32 | all.at(0));
    RICCI_UNROLL
    for (int b = 0; b < bounds_of<O>(); ++b) out.at[b] = static_cast<int>(all.at(2 + b));
    return out;
}

template <int O>
RICCI_FUNCTION constexpr int element_bytes() {
    return O == 1 ? sizeof(x_element) : sizeof(y_element);
}

/// Row `i` of X or column `i` of Y.
template <int O>
RICCI_FUNCTION place<O> place_of_line(const gett_arguments& a,
                                      const long long (&bounds_here)[at_least_one(bound_count)], long long i,
                                      long long lines) {
    place<O> out;
    each_bound<O>([&](int own, int b) { out.at[own] = static_cast<int>(bounds_here[b]); });
    if (i >= lines) {
        out.at[0] = far_outside;
        return out;
    }
    each_axis(static_cast<unsigned>(i), O == 1 ? m_axes : n_axes, O == 1 ? a.m_length : a.n_length,
              [&](int axis, int at) {
                  out.offset += at * (O == 1 ? a.m_step[1][axis] : a.n_step[1][axis]) * element_bytes<O>();
                  each_bound<O>([&](int own, int b) { out.at[own] += at * static_cast<int>(a.bound_step[b][axis]); });
              });
    return out;
}

/// Step `l` of the sum.
template <int O>
RICCI_FUNCTION place<O> place_of_step(const gett_arguments& a, long long l, long long steps) {
    place<O> out;
    if (l >= steps) {
        out.at[0] = far_outside;
        return out;
    }
    each_axis(static_cast<unsigned>(l), k_axes, a.k_length, [&](int axis, int at) {
        out.offset += at * a.k_step[O - 1][axis] * element_bytes<O>();
        each_bound<O>([&](int own, int b) { out.at[own] += at * static_cast<int>(a.bound_sum_step[b][axis]); });
    });
    return out;
}

/// Whether the element of a line and a step is inside of the operand.
template <int O>
RICCI_FUNCTION bool is_inside(const place<O>& line, const place<O>& step, const int (&extent)[bounds_of<O>()]) {
    bool inside = true;
    RICCI_UNROLL
    for (int b = 0; b < bounds_of<O>(); ++b)
        inside = inside && static_cast<unsigned>(line.at[b] + step.at[b]) < static_cast<unsigned>(extent[b]);
    return inside;
}
template <int O>
RICCI_FUNCTION void find_extents(const gett_arguments& a, int (&extent)[bounds_of<O>()]) {
    extent[0] = 1;
    each_bound<O>([&](int own, int b) { extent[own] = static_cast<int>(a.bound_extent[b]); });
}

/// A block's, in shared memory: its rows and columns, and the steps of some panels in turn: while those of the one
/// turn are read those of the next are found, one by each thread.
struct block_places {
    static constexpr int panels_of_turn = threads_per_block / k_panel;
    place<1> rows[rows_of_block];
    place<2> columns[columns_of_block];
    place<1> x_steps[2][threads_per_block];
    place<2> y_steps[2][threads_per_block];

    RICCI_FUNCTION void find_steps(const gett_arguments& a, int turn, long long steps) {
        const long long step = static_cast<long long>(turn) * threads_per_block + threadIdx.x;
        x_steps[turn % 2][threadIdx.x] = place_of_step<1>(a, step, steps);
        y_steps[turn % 2][threadIdx.x] = place_of_step<2>(a, step, steps);
    }
    RICCI_FUNCTION const place<1>* x_steps_of(int panel) const { return x_steps[turn_of(panel) % 2] + within(panel); }
    RICCI_FUNCTION const place<2>* y_steps_of(int panel) const { return y_steps[turn_of(panel) % 2] + within(panel); }

    static RICCI_FUNCTION int turn_of(int panel) { return panel / panels_of_turn; }
    static RICCI_FUNCTION bool begins_turn(int panel) { return panel % panels_of_turn == 0; }

  private:
    static RICCI_FUNCTION int within(int panel) { return panel % panels_of_turn * k_panel; }
};

/// Element (i, j) of a product, by multiply-adds.
RICCI_FUNCTION compute padded_dot(const gett_arguments& a, const batch_places& in, const place<1>& row,
                                  const place<2>& column, long long steps) {
    int x_extent[bounds_of<1>()], y_extent[bounds_of<2>()];
    find_extents<1>(a, x_extent);
    find_extents<2>(a, y_extent);
    compute sum = from_real<compute>(0, 0);
    RICCI_UNROLL_ONCE
    for (long long l = 0; l < steps; ++l) {
        const place<1> in_x = place_of_step<1>(a, l, steps);
        const place<2> in_y = place_of_step<2>(a, l, steps);
        compute x = from_real<compute>(0, 0), y = from_real<compute>(0, 0);
        if (is_inside<1>(row, in_x, x_extent))
            x = load_x(reinterpret_cast<const char*>(in.x) + row.offset + in_x.offset, 0);
        if (is_inside<2>(column, in_y, y_extent))
            y = load_y(reinterpret_cast<const char*>(in.y) + column.offset + in_y.offset, 0);
        sum += x * y;
    }
    return sum;
}
