// factor_lanes_qr_steps: Householder's reflections of a matrix whose columns are in registers.
//
// Per pivot k: the lanes of its column publish what is below the diagonal, x, and the head alpha; one pass gives
// every column's x^H c, of which the pivot's own is |x|^2. H is the same whether written with v = (1, x / d) or with
// u = (d, x), where d = alpha - beta and beta = -sign(re alpha) |(alpha, x)|: columns become c - g u with
// g = (conj(d) c_k + x^H c) / (d |beta|) for a positive alpha, so that x is not scaled on the way. v is made when
// all columns of a slot are done.
//
// Where a sum of squares leaves the range in which this is safe, the lane says so, and what it has is to be thrown
// away: factor_lanes_qr_scaled takes the matrix.
#pragma once

#include "factor_elements.hpp"
#include "factor_lanes_qr_registers.cuh"
#include "factor_shuffles.cuh"
#include "ptx_roots.cuh"

/// Whether a sum of squares is between 2^-332 and 2^332 (f32: 2^-66 and 2^66): there it is right, and x^H c neither
/// overflows nor loses a column unless columns differ by more than 1e200 (f32: 1e28). NaN is not.
RICCI_FUNCTION bool is_safe(real square) {
    constexpr bool is_float = sizeof(real) == 4;
    constexpr unsigned per_power = is_float ? 1u << 23 : 1u << 20, bias = is_float ? 127 : 1023,
                       most = is_float ? 66 : 332;
    return upper_bits(square) - (bias - most) * per_power < 2 * most * per_power;
}
/// 0, or in f64 below 2^-1041.
RICCI_FUNCTION bool is_nothing(real square) { return upper_bits(square) == 0; }

/// Of normal numbers.
RICCI_FUNCTION float reciprocal_of(float x) { return near_reciprocal(x); }
RICCI_FUNCTION double reciprocal_of(double x) { return near_reciprocal(x); }
template <class R>
RICCI_FUNCTION complex<R> reciprocal_of(complex<R> x) {
    const R of_square = near_reciprocal(squared(x));
    return {x.re * of_square, -x.im * of_square};
}
/// sum += conj(x) y
RICCI_FUNCTION void add_dot(element& sum, element x, element y) { add_product(sum, conjugate(x), y); }

/// Over the row lanes, the same in each.
template <class T>
RICCI_FUNCTION void add_up(T& x) {
    RICCI_UNROLL
    for (int lanes = 1; lanes < row_lanes; lanes *= 2) x += shuffle_xor(x, lanes);
}

/// H for a column's head and what is below it.
template <class T>
struct reflection {
    T d, e; ///< -g = e (conj(d) c_k + x^H c)
    T scale, tau;
    T beta;    ///< not of the identity
    real root; ///< tau = d root
    bool is_identity;
    RICCI_FUNCTION reflection(T alpha, real below, real square) {
        const real positive_root = near_reciprocal_root(square), norm = square * positive_root;
        const real signed_norm = with_sign_of(norm, real_of(alpha));
        root = with_sign_of(positive_root, real_of(alpha));
        is_identity = is_nothing(below);
        if constexpr (real_part<T>::is_complex) {
            d = {alpha.re + signed_norm, alpha.im};
            beta = {-signed_norm, 0};
            is_identity = is_identity && alpha.im == 0;
        } else {
            d = alpha + signed_norm;
            beta = -signed_norm;
        }
        scale = reciprocal_of(d);
        tau = scaled(d, root);
        e = scaled(scale, -root);
        const T zero = from_real<T>(0, 0);
        if (is_identity) tau = zero, e = zero, scale = zero;
    }
};

/// Of a lane's column in the slot at work: of its H, 0 where that is the identity.
struct column_state {
    element d;
    real root;
    bool unsafe; ///< of all columns so far
};

/// The block's part of shared memory that pivot columns go through.
struct pivot_memory {
    element* heads;
    unit_of_column* vectors;
    int set = 0;
    RICCI_FUNCTION pivot_memory(unsigned char* memory, lane_place at)
        : heads(reinterpret_cast<element*>(memory + heads_place) + at.group),
          vectors(reinterpret_cast<unit_of_column*>(memory + vectors_place) +
                  (at.group * row_lanes + at.r) * vector_units) {}
    RICCI_FUNCTION element& head() const { return heads[set * groups]; }
    RICCI_FUNCTION unit_of_column* vector() const { return vectors + set * (vectors_of_set * vector_units); }
};

RICCI_FUNCTION void meet() {
    if constexpr (many_warps)
        __syncthreads();
    else if constexpr (!one_lane)
        __syncwarp();
}

/// Of the pivots from First on those that share a column slot and a rolled loop.
RICCI_FUNCTION constexpr int end_of_segment(int first) {
    const int of_rows = (first / row_lanes / panel + 1) * panel * row_lanes,
              of_columns = (first / column_lanes + 1) * column_lanes;
    return smaller_of(smaller_of(of_rows, of_columns), reflectors);
}

/// A pivot column is read again for the update where it would take too many registers.
constexpr bool keeps_pivot = row_slots * static_cast<int>(sizeof(element)) <= kept_bytes;

/// Whether a lane adds what it has of the pivot's row, times d, to its part of x^H c: the other row lanes then need
/// not be told. But their sums wait for d. Measured on an H100, f64: 2% faster for 24 x 24 in 4 x 2 lanes; 4% slower
/// for 56 x 56 in 8 x 4 lanes, 12% for 64 x 64 in two warps.
constexpr bool adds_heads_first = !many_warps && row_lanes > 1 && row_lanes* column_slots <= 20;

/// Pivot k, one of those of [First, End).
template <int First, int End>
RICCI_FUNCTION void reflect(lane_columns& x, column_state& state, pivot_memory& memory, lane_place at, int k) {
    constexpr int slot = First / column_lanes; // of the pivot's column
    constexpr int top = First / row_lanes,
                  mixed_end = (End - 1) / row_lanes + 1;             // row slots that may hold the pivot
    constexpr bool is_only = row_lanes == 1 && mixed_end - top == 1; // then they hold nothing else
    constexpr int begin = is_only ? top + 1 : top, first_unit = begin / of_unit;
    constexpr int chains = column_slots - slot == 1 ? 4 : column_slots - slot <= 3 ? 2 : 1;
    const element zero = from_real<element>(0, 0);
    const int owner = k % column_lanes, row_owner = k % row_lanes;
    const bool owns = at.q == owner && !at.idle;

    element head[column_slots]; // what is on the pivot's row
    RICCI_UNROLL
    for (int c = slot; c < column_slots; ++c) {
        head[c] = x[c][top];
        RICCI_UNROLL
        for (int h = top + 1; h < mixed_end; ++h) // of bare elements NVRTC 13.0 chooses the address: all x in memory
            head[c] = k >= h * row_lanes ? (row_lanes > 1 ? x[c][h] + zero : x[c][h]) : head[c];
    }
    element alpha = head[slot];
    unit_of_column* const vector = memory.vector();
    if constexpr (!one_lane) {
        if (owns) {
            RICCI_UNROLL
            for (int u = first_unit; u < units; ++u) {
                unit_of_column unit;
                RICCI_UNROLL
                for (int t = 0; t < of_unit; ++t) {
                    const int h = u * of_unit + t;
                    if (h < begin || h >= row_slots)
                        unit.at[t] = zero;
                    else if (h < mixed_end && row_of(at, h) <= k)
                        unit.at[t] = zero;
                    else
                        unit.at[t] = x[slot][h];
                }
                vector[u] = unit;
            }
            if (at.r == row_owner) memory.head() = alpha;
        }
        meet();
        alpha = memory.head();
    }

    element v[one_lane || !keeps_pivot ? 1 : round_up(row_slots, of_unit)], dot[chains][column_slots];
    real below = 0;
    RICCI_UNROLL
    for (int s = 0; s < chains; ++s) RICCI_UNROLL
    for (int c = slot; c < column_slots; ++c) dot[s][c] = zero;
    const auto add = [&](element value, int h) {
        RICCI_UNROLL
        for (int c = slot; c < column_slots; ++c) add_dot(dot[h % chains][c], value, x[c][h]);
        if constexpr (many_warps) below += squared(value);
    };
    if constexpr (one_lane) {
        RICCI_UNROLL
        for (int h = begin; h < row_slots; ++h) add(x[slot][h], h);
    } else {
        RICCI_UNROLL
        for (int u = first_unit; u < units; ++u) {
            const unit_of_column unit = vector[u];
            RICCI_UNROLL
            for (int t = 0; t < of_unit; ++t)
                if (const int h = u * of_unit + t; h >= begin && h < row_slots) {
                    if constexpr (keeps_pivot) v[h] = unit.at[t];
                    add(unit.at[t], h);
                }
        }
    }
    RICCI_UNROLL
    for (int c = slot; c < column_slots; ++c) RICCI_UNROLL
    for (int s = 1; s < chains; ++s) dot[0][c] += dot[s][c];
    RICCI_UNROLL
    for (int c = slot; c < column_slots; ++c)
        if (c == slot || !adds_heads_first) {
            add_up(dot[0][c]);
            if constexpr (row_lanes > 1)
                head[c] = shuffle(head[c], static_cast<int>(threadIdx.x) % 32 / row_lanes * row_lanes + row_owner);
        }
    if constexpr (many_warps)
        add_up(below);
    else
        below = real_of(dot[0][slot]);
    if constexpr (!many_warps && !one_lane) below = shuffle(below, at.first_lane + owner * row_lanes);
    const real square = squared(alpha) + below;
    if (!is_safe(square)) state.unsafe = true;
    const reflection<element> h_of(alpha, below, square);

    element g[column_slots];
    RICCI_UNROLL
    for (int c = slot; c < column_slots; ++c) {
        if constexpr (row_lanes == 1) {
            add_dot(dot[0][c], h_of.d, head[c]);
        } else if (adds_heads_first && c > slot) {
            add_dot(dot[0][c], at.r == row_owner ? h_of.d : zero, head[c]);
            add_up(dot[0][c]);
        } else {
            add_dot(dot[0][c], h_of.d, head[c]);
        }
        g[c] = h_of.e * dot[0][c];
        if (c == slot && at.q <= owner) g[c] = zero; // done, or the pivot's own
    }
    const auto update = [&](element value, int h) {
        if (h < mixed_end && row_of(at, h) == k) value = h_of.d;
        RICCI_UNROLL
        for (int c = slot; c < column_slots; ++c) add_product(x[c][h], g[c], value);
    };
    if constexpr (is_only) update(h_of.d, top);
    if constexpr (one_lane) {
        RICCI_UNROLL
        for (int h = begin; h < row_slots; ++h) update(x[slot][h], h); // itself by zero
    } else if constexpr (keeps_pivot) {
        RICCI_UNROLL
        for (int h = begin; h < row_slots; ++h) update(v[h], h);
    } else {
        const unit_of_column* const again = vector + at.zero;
        RICCI_UNROLL
        for (int u = first_unit; u < units; ++u) {
            const unit_of_column unit = again[u];
            RICCI_UNROLL
            for (int t = 0; t < of_unit; ++t)
                if (const int h = u * of_unit + t; h >= begin && h < row_slots) update(unit.at[t], h);
        }
    }
    const bool changed = owns && !h_of.is_identity;
    RICCI_UNROLL
    for (int h = top; h < mixed_end; ++h)
        if (changed && row_of(at, h) == k) x[slot][h] = h_of.beta;
    if (changed) state.d = h_of.d, state.root = h_of.root;
    memory.set ^= 1;
}

/// Whether tau is wanted: in memory, or in shared memory by what finds the smallest solution.
constexpr bool has_taus = has_role[vector_role] || smallest_norm;
RICCI_FUNCTION void store_tau(element* taus, const arguments& a, int k, element tau) {
    if constexpr (smallest_norm)
        taus[k] = tau;
    else
        taus[offset_of<vector_role>(a, k, 0)] = as_meant(tau);
}

/// The columns of a slot are done: x becomes v, and tau leaves.
template <int Slot>
RICCI_FUNCTION void finish_slot(lane_columns& x, column_state& state, element* tau, const arguments& a,
                                lane_place at) {
    const int j = column_of(at, Slot) + at.zero;
    const element zero = from_real<element>(0, 0);
    const element scale = state.root != 0 ? reciprocal_of(state.d) : zero;
    RICCI_UNROLL
    for (int h = 0; h < row_slots; ++h)
        if (row_lanes * (h + 1) - 1 > Slot * column_lanes && row_of(at, h) > j && j < reflectors)
            x[Slot][h] = x[Slot][h] * scale;
    if (has_taus && tau != nullptr && at.r == 0 && j < pivots) store_tau(tau, a, j, scaled(state.d, state.root));
    state.d = zero, state.root = 0;
}

/// tau: the matrix's, or null.
template <int First = 0>
RICCI_FUNCTION void factor_columns(lane_columns& x, column_state& state, pivot_memory& memory, element* tau,
                                   const arguments& a, lane_place at) {
    if constexpr (First < reflectors) {
        constexpr int end = end_of_segment(First);
        if constexpr (end - First == 1) {
            reflect<First, end>(x, state, memory, at, First);
        } else {
            RICCI_UNROLL_ONCE
            for (int k = First; k < end; ++k) reflect<First, end>(x, state, memory, at, k);
        }
        if constexpr (end == reflectors || end % column_lanes == 0)
            finish_slot<First / column_lanes>(x, state, tau, a, at);
        factor_columns<end>(x, state, memory, tau, a, at);
    } else if constexpr (reflectors < pivots && reflectors % column_lanes == 0) {
        finish_slot<reflectors / column_lanes>(x, state, tau, a, at); // has the last row's column, and no other
    }
}
