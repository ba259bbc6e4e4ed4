// factor_lanes_qr_registers: a matrix between shared memory and the registers of its lanes.
#pragma once

#include "factor_elements.hpp"
#include "factor_lanes_qr_shared.cuh"

/// A lane's part of a matrix: [column slot][row slot].
using lane_columns = element[column_slots][row_slots];

/// How this thread's row slots are twisted, and where it finds slot h then.
RICCI_FUNCTION int own_twist(int thread) { return twist_of(order, thread); }
RICCI_FUNCTION int twisted(int h, int twist) { return h < twisted_slots ? h ^ twist : h; }

/// x[h] <-> x[h ^ twist]
template <int Count>
RICCI_FUNCTION void untwist(element (&x)[Count], int twist) {
    RICCI_UNROLL
    for (int bit = order.step * row_unit; bit < twisted_group; bit *= 2) {
        const bool swaps = (twist & bit) != 0;
        RICCI_UNROLL
        for (int h = 0; h < twisted_slots; ++h)
            if ((h & bit) == 0) {
                const element low = x[h], high = x[h + bit];
                x[h] = swaps ? high : low;
                x[h + bit] = swaps ? low : high;
            }
    }
}

/// A lane's elements of its matrix in shared memory.
class own_elements {
  public:
    RICCI_FUNCTION own_elements(element* matrix, lane_place at, int twist) {
        const lane_place first{0, 0, 0, 0, false, 0};
        own_ = matrix + offset_in_shared(row_of(at, 0), column_of(at, 0));
        RICCI_UNROLL
        for (int b = 0; b < bases; ++b) {
            const int h = b * (order.step * row_unit);
            base_[b] = own_ + (offset_in_shared(row_of(first, h ^ twist), 0) - offset_in_shared(row_of(first, h), 0));
        }
    }
    /// Rows of a unit at slot h as it is twisted, of the column at slot c.
    RICCI_FUNCTION element* unit(int h, int c) const {
        const lane_place first{0, 0, 0, 0, false, 0};
        element* const base = h < twisted_slots ? base_[h / (order.step * row_unit) % bases] : own_;
        return base + offset_in_shared(row_of(first, h), column_lanes * c);
    }

  private:
    static constexpr int bases = is_flat ? 1 : order.orders;
    element *own_, *base_[bases];
};
struct alignas(unit_alignment) row_unit_of_column {
    element at[row_unit];
};

/// Whether all lanes that have a column have one at slot c; and all of them rows of the matrix at slot h.
RICCI_FUNCTION constexpr bool is_full_column(int c) { return column_lanes * (c + 1) <= n; }
RICCI_FUNCTION constexpr bool is_full_unit(int h) {
    const int end = h < twisted_slots ? (h / twisted_group + 1) * twisted_group : h + 1;
    return first_row_of(end - 1) + unit_lanes <= m;
}

/// Whether what is below R's diagonal is wanted: least squares are solved with R alone.
constexpr bool keeps_reflectors = keeps_factors || smallest_norm;
/// Whether all that lanes have at slots h and c is.
RICCI_FUNCTION constexpr bool is_below_diagonal(int h, int c) {
    const int begin = h < twisted_slots ? h / twisted_group * twisted_group : h;
    return first_row_of(begin) >= column_lanes * (c + 1);
}

/// Of a right-hand side the lane's rows.
RICCI_FUNCTION void load_side(element (&x)[row_slots], const element* right, int side, lane_place at) {
    RICCI_UNROLL
    for (int h = 0; h < row_slots; ++h) {
        const int i = row_of(at, h);
        if constexpr (has_role[given_role])
            x[h] = i < m ? right[i + side * padded_rows] : zero();
        else
            x[h] = from_real<element>(i == side, 0);
    }
}

/// Lanes without a column get some lane's.
RICCI_FUNCTION void load_columns(lane_columns& x, element* matrix, const element* right, lane_place at) {
    if constexpr (is_flat) {
        const int twist = own_twist(static_cast<int>(threadIdx.x));
        element flat[row_slots * column_slots];
        RICCI_UNROLL
        for (int e = 0; e < m * n; ++e) flat[e] = at.idle ? zero() : matrix[twisted(e, twist)];
        untwist(flat, twist);
        RICCI_UNROLL
        for (int c = 0; c < n; ++c) RICCI_UNROLL
        for (int h = 0; h < m; ++h) x[c][h] = as_meant(flat[offset_in_shared(h, c)]);
        RICCI_UNROLL
        for (int c = n; c < all_columns; ++c) {
            RICCI_UNROLL
            for (int h = 0; h < row_slots; ++h) x[c][h] = zero();
            if (!at.idle) load_side(x[c], right, c - n, at);
        }
        return;
    }
    const int twist = own_twist(static_cast<int>(threadIdx.x));
    if (at.q >= column_lanes) at.q = 0;
    const own_elements own(matrix, at, twist);
    RICCI_UNROLL
    for (int c = 0; c < column_slots; ++c) {
        const int j = column_of(at, c);
        RICCI_UNROLL
        for (int h = 0; h < row_slots; h += row_unit) {
            row_unit_of_column unit;
            RICCI_UNROLL
            for (int t = 0; t < row_unit; ++t) unit.at[t] = zero();
            if ((is_full_column(c) || j < n) && (is_full_unit(h) || row_of(at, twisted(h, twist)) < m))
                unit = *reinterpret_cast<const row_unit_of_column*>(own.unit(h, c));
            RICCI_UNROLL
            for (int t = 0; t < row_unit; ++t) x[c][h + t] = as_meant(unit.at[t]);
        }
        untwist(x[c], twist);
        if (sides > 0 && !is_full_column(c) && j >= n && j < all_columns && !at.idle)
            load_side(x[c], right, j - n, at);
    }
}

RICCI_FUNCTION void store_columns(lane_columns& x, element* matrix, element* right, lane_place at) {
    const int twist = own_twist(static_cast<int>(threadIdx.x) + at.zero);
    at.q += at.zero;
    if (at.idle) return;
    if constexpr (is_flat) {
        RICCI_UNROLL
        for (int c = n; c < all_columns; ++c) RICCI_UNROLL
        for (int i = 0; i < n; ++i) right[i + (c - n) * padded_rows] = x[c][i];
        if constexpr (!keeps_reflectors) return; // what was solved was in registers
        element flat[row_slots * column_slots];
        RICCI_UNROLL
        for (int c = 0; c < n; ++c) RICCI_UNROLL
        for (int h = 0; h < m; ++h) flat[offset_in_shared(h, c)] = as_meant(x[c][h]);
        untwist(flat, twist);
        RICCI_UNROLL
        for (int e = 0; e < m * n; ++e) matrix[twisted(e, twist)] = flat[e];
        return;
    }
    const own_elements own(matrix, at, twist);
    RICCI_UNROLL
    for (int c = 0; c < column_slots; ++c) {
        const int j = column_of(at, c);
        if (sides > 0 && !is_full_column(c) && j >= n && j < all_columns) {
            RICCI_UNROLL
            for (int h = 0; h < row_slots; ++h)
                if (const int i = row_of(at, h); i < n) right[i + (j - n) * padded_rows] = x[c][h];
        }
        if constexpr (one_lane && !keeps_reflectors) continue; // what was solved was in registers
        untwist(x[c], twist);
        RICCI_UNROLL
        for (int h = 0; h < row_slots; h += row_unit) {
            if (!keeps_reflectors && is_below_diagonal(h, c)) continue;
            row_unit_of_column unit;
            RICCI_UNROLL
            for (int t = 0; t < row_unit; ++t) unit.at[t] = as_meant(x[c][h + t]);
            if ((is_full_column(c) || j < n) && (is_full_unit(h) || row_of(at, twisted(h, twist)) < m))
                *reinterpret_cast<row_unit_of_column*>(own.unit(h, c)) = unit;
        }
    }
}
