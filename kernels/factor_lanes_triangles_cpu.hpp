// factor_lanes_triangles_cpu: Cholesky and LU of interleaved matrices, columns in tiles from left to right: of each
// what the columns before it contribute comes first, as sums in registers, then it is factored.
//
// The pivot rows of LU differ from lane to lane: they are exchanged lane by lane, of a tile's columns all earlier
// ones at once, before the sums.
#pragma once

#include "factor_lanes_tiles_cpu.hpp"

/// What is known of a group's matrices beside the factors.
struct group_state {
    diagonal d;
    alignas(64) integer pivot[steps][lanes];
    indices info = {};

    RICCI_FUNCTION void note(indices where, int number) {
        info = chosen(where & (info == 0), indices{} + static_cast<integer>(number), info);
    }
};

// ---- Cholesky ----

/// The lower triangle of a tile on the diagonal.
template <int J>
RICCI_FUNCTION void factor_corner(lane_tile<J, J>& t, group_state& s, int j) {
    RICCI_ALL_UNROLLED for (int k = 0; k < J; ++k) {
        const vector square = t.x[k][k][0];
        s.note(~is_less(vector{}, square), j + k + 1);
        const vector root = square_roots(square), one_over = 1 / root;
        t.x[k][k][0] = root;
        if constexpr (is_complex) t.x[k][k][imaginary] = vector{};
        const vector reciprocal[parts] = {one_over};
        store_numbers(s.d.one_over[j + k], lanes, reciprocal);
        RICCI_ALL_UNROLLED for (int p = k + 1; p < J; ++p) multiply_by_real(t.x[p][k], one_over);
        RICCI_ALL_UNROLLED for (int q = k + 1; q < J; ++q) RICCI_ALL_UNROLLED for (int p = q; p < J; ++p)
            subtract_product<false, true>(t.x[p][q], t.x[p][k], t.x[q][k]);
    }
}

RICCI_APART void factor_cholesky(const factor_matrix& a, group_state& s) {
    for_tiles_across<n, tile_columns>([&](auto wide, int j) RICCI_INLINED {
        lane_tile<wide, wide> corner;
        load_tile(a, j, j, corner);
        subtract_sums<1, height, height, 1, false, true>(corner, a.at(j, 0), a.at(j, 0), j);
        factor_corner(corner, s, j);
        RICCI_ALL_UNROLLED for (int q = 0; q < wide; ++q) RICCI_ALL_UNROLLED for (int p = q; p < wide; ++p)
            store_numbers(a.at(j + p, j + q), lanes, corner.x[p][q]);
        for_tiles_down<n>(j + wide, [&](auto high, int i) RICCI_INLINED {
            lane_tile<high, wide> t;
            load_tile(a, i, j, t);
            subtract_sums<1, height, height, 1, false, true>(t, a.at(i, 0), a.at(j, 0), j);
            RICCI_ALL_UNROLLED for (int k = 0; k < wide; ++k) {
                const vector one_over = load_whole<real, lanes>(s.d.one_over[j + k]);
                RICCI_ALL_UNROLLED for (int p = 0; p < high; ++p) multiply_by_real(t.x[p][k], one_over);
                RICCI_ALL_UNROLLED for (int q = k + 1; q < wide; ++q) {
                    vector y[parts];
                    load_numbers(a.at(j + q, j + k), lanes, y);
                    RICCI_ALL_UNROLLED for (int p = 0; p < high; ++p)
                        subtract_product<false, true>(t.x[p][q], t.x[p][k], y);
                }
            }
            store_tile(a, i, j, t);
        });
    });
}

// ---- LU ----

/// Rows k and pivot[k], k in [from, to), of J columns change places. One lane after another: of this memory is as
/// much loaded and stored as for whole vectors, and no lane waits for another.
template <int J, int Height>
RICCI_FUNCTION void exchange_rows(real* first, const group_state& s, int from, int to) {
    for (int k = from; k < to; ++k)
        for (int t = 0; t < lanes; ++t) {
            real* x = first + k * number_size + t;
            real* y = first + s.pivot[k][t] * number_size + t;
            RICCI_ALL_UNROLLED for (int j = 0; j < J * parts; ++j) {
                const int at = j / parts * Height * number_size + j % parts * lanes;
                const real old = x[at];
                x[at] = y[at], y[at] = old;
            }
        }
}

/// In each lane the row from k on whose element of column k is the largest.
RICCI_FUNCTION indices find_pivots(const factor_matrix& a, int k) {
    vector x[parts];
    load_numbers(a.at(k, k), lanes, x);
    vector best = sizes_of_pivots(x);
    indices at = indices{} + static_cast<integer>(k);
    for (int i = k + 1; i < m; ++i) {
        load_numbers(a.at(i, k), lanes, x);
        const vector size = sizes_of_pivots(x);
        const indices is_better = is_less(best, size);
        best = chosen(is_better, size, best);
        at = chosen(is_better, indices{} + static_cast<integer>(i), at);
    }
    return at;
}

/// Column k below its pivot becomes multipliers, by which columns up to j + J are reduced.
template <int J>
RICCI_FUNCTION void eliminate(const factor_matrix& a, group_state& s, int j, int k) {
    vector pivot[parts], one_over[parts];
    load_numbers(a.at(k, k), lanes, pivot);
    indices is_zero = is_equal(pivot[0], vector{});
    if constexpr (is_complex) is_zero &= is_equal(pivot[imaginary], vector{});
    s.note(is_zero, k + 1);
    const indices is_small = is_less(largest_parts(pivot), all_lanes(smallest_divisor));
    if (__builtin_expect(any_of(is_small), 0)) {
        s.d.has_small = true;
        const vector up = chosen(is_small & ~is_zero, all_lanes(upwards), all_lanes(1));
        for (int i = k + 1; i < m; ++i) {
            vector x[parts];
            load_numbers(a.at(i, k), lanes, x);
            multiply_by_real(x, up);
            store_numbers(a.at(i, k), lanes, x);
        }
        multiply_by_real(pivot, up);
        pivot[0] = chosen(is_zero, all_lanes(1), pivot[0]); // a column of zeros is not divided
    }
    reciprocals(pivot, one_over);
    store_numbers(s.d.one_over[k], lanes, one_over);
    const int more = j + J - k - 1;
    for (int i = k + 1; i < m; ++i) {
        vector x[parts];
        load_numbers(a.at(i, k), lanes, x);
        multiply_by(x, one_over);
        store_numbers(a.at(i, k), lanes, x);
        for_each_of<J - 1>([&](auto q) RICCI_INLINED {
            if (q < more) {
                vector y[parts], z[parts];
                load_numbers(a.at(k, k + 1 + q), lanes, y);
                load_numbers(a.at(i, k + 1 + q), lanes, z);
                subtract_product(z, x, y);
                store_numbers(a.at(i, k + 1 + q), lanes, z);
            }
        });
    }
}

RICCI_APART void factor_lu(const factor_matrix& a, group_state& s) {
    for_tiles_across<n, tile_columns>([&](auto wide, int j) RICCI_INLINED {
        const int before = j < m ? j : m;
        if constexpr (method == lu_method) exchange_rows<wide, height>(a.at(0, j), s, 0, before);
        for_tiles_down<m>(0, [&](auto high, int i) RICCI_INLINED {
            lane_tile<high, wide> t;
            load_tile(a, i, j, t);
            subtract_sums<1, height, 1, height, false, false>(t, a.at(i, 0), a.at(0, j), i < j ? i : j);
            if (i < j) solve_lower<true, false>(t, a, s.d, i);
            store_tile(a, i, j, t);
        });
        const int next = j + wide < steps ? j + wide : steps;
        for (int k = j; k < next; ++k) {
            if constexpr (method == lu_method) {
                const indices at = find_pivots(a, k);
                *reinterpret_cast<indices*>(s.pivot[k]) = at;
                exchange_rows<wide, height>(a.at(0, j), s, k, k + 1);
            }
            eliminate<wide>(a, s, j, k);
        }
        if constexpr (method == lu_method)
            for (int q = 0; q < j; ++q) exchange_rows<1, height>(a.at(0, q), s, j, next);
    });
}

/// J right-hand sides become solutions.
template <int J>
RICCI_FUNCTION void solve_triangles(const factor_matrix& a, group_state& s, const side_matrix& b) {
    if constexpr (method == lu_method) exchange_rows<J, side_height>(b.first, s, 0, n);
    forward_substitution<is_lu, false, J>(a, s.d, b);
    backward_substitution<method == cholesky_method, J>(a, s.d, b);
}
