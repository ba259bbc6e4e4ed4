// factor_lanes_tiles_cpu: tiles of interleaved matrices in registers: less sums of products, and triangular solves
// with them. A number stands for those of all matrices of a group.
#pragma once

#include "factor_groups_cpu.hpp"

constexpr int m = static_cast<int>(rows), n = static_cast<int>(columns), steps = m < n ? m : n;
constexpr int sides = static_cast<int>(right_sides);
constexpr int given_rows = smallest_norm ? n : m, solution_rows = smallest_norm ? m : n;

/// Rows and columns of a tile: its sums, and what is multiplied, have room in the registers.
constexpr int tile_rows = is_complex ? (vector_registers == 32 ? 3 : 2) : (vector_registers == 32 ? 4 : 3);
constexpr int tile_columns = tile_rows;
/// Right-hand sides that are solved for at a time.
constexpr int side_columns = sides < tile_columns ? sides : tile_columns;

/// A matrix in scratch, or a part of it, whose columns are Height numbers long.
template <int Height>
struct lane_matrix {
    real* first;
    RICCI_FUNCTION real* at(int i, int j) const { return first + (j * Height + i) * number_size; }
};
/// Columns in scratch: of a length with many factors of 2 all would meet in few sets of the L1 (f64 32 x 32, QR: 2.2
/// us a matrix, so 1.9).
constexpr int height_of_column(int rows_of_it) { return rows_of_it % 32 == 0 ? rows_of_it + 1 : rows_of_it; }
constexpr int height = height_of_column(m), side_height = height_of_column(m > n ? m : n);
using factor_matrix = lane_matrix<height>;
using side_matrix = lane_matrix<side_height>;

template <int I, int J>
struct lane_tile {
    vector x[I][J][parts];
};

template <int I, int J, class Matrix>
RICCI_FUNCTION void load_tile(const Matrix& a, int i, int j, lane_tile<I, J>& t) {
    RICCI_ALL_UNROLLED for (int q = 0; q < J; ++q) RICCI_ALL_UNROLLED for (int p = 0; p < I; ++p)
        load_numbers(a.at(i + p, j + q), lanes, t.x[p][q]);
}
template <int I, int J, class Matrix>
RICCI_FUNCTION void store_tile(const Matrix& a, int i, int j, lane_tile<I, J>& t) {
    RICCI_ALL_UNROLLED for (int q = 0; q < J; ++q) RICCI_ALL_UNROLLED for (int p = 0; p < I; ++p)
        store_numbers(a.at(i + p, j + q), lanes, t.x[p][q]);
}

/// t -= sum over l < count of A(p, l) * B(l, q). What is fetched steps by AP and AL (BL, BQ) numbers.
template <int AP, int AL, int BL, int BQ, bool ConjugateA, bool ConjugateB, int I, int J>
RICCI_FUNCTION void subtract_sums(lane_tile<I, J>& t, const real* a, const real* b, int count) {
#pragma GCC unroll 1
    for (int l = 0; l < count; ++l, a += AL * number_size, b += BL * number_size) {
        vector x[I][parts];
        RICCI_ALL_UNROLLED for (int p = 0; p < I; ++p) load_numbers(a + p * AP * number_size, lanes, x[p]);
        RICCI_ALL_UNROLLED for (int q = 0; q < J; ++q) {
            vector y[parts];
            load_numbers(b + q * BQ * number_size, lanes, y);
            RICCI_ALL_UNROLLED for (int p = 0; p < I; ++p)
                subtract_product<ConjugateA, ConjugateB>(t.x[p][q], x[p], y);
        }
    }
}

/// f(constant: rows, the first one) for tiles of rows from `from` on, a multiple of tile_rows, to All.
template <int All, class F>
RICCI_FUNCTION void for_tiles_down(int from, const F& f) {
    int i = from;
    if constexpr (All >= tile_rows)
#pragma GCC unroll 1
        for (; i + tile_rows <= All; i += tile_rows) f(constant<tile_rows>(), i);
    if constexpr (All % tile_rows != 0)
        if (i < All) f(constant<All % tile_rows>(), All - All % tile_rows);
}
/// The same from the last to the first.
template <int All, class F>
RICCI_FUNCTION void for_tiles_up(const F& f) {
    if constexpr (All % tile_rows != 0) f(constant<All % tile_rows>(), All - All % tile_rows);
    if constexpr (All >= tile_rows)
#pragma GCC unroll 1
        for (int i = All / tile_rows * tile_rows - tile_rows; i >= 0; i -= tile_rows) f(constant<tile_rows>(), i);
}
/// f(constant: columns, the first one) for tiles of columns.
template <int All, int Width, class F>
RICCI_FUNCTION void for_tiles_across(const F& f) {
    if constexpr (All >= Width)
#pragma GCC unroll 1
        for (int j = 0; j + Width <= All; j += Width) f(constant<Width>(), j);
    if constexpr (All % Width != 0) f(constant<All % Width>(), All - All % Width);
}

// ---- triangular solves of tiles: rows of t are multiplied by a triangle's inverse from the left ----

/// What a matrix's diagonal elements are divided by: their reciprocals, where all have one.
struct diagonal {
    alignas(64) real one_over[steps][number_size];
    bool has_small = false; ///< some have none: they are divided by

    RICCI_FUNCTION void divide(vector (&x)[parts], const real* element, int k) const {
        vector y[parts];
        if (__builtin_expect(has_small, 0)) {
            load_numbers(element, lanes, y);
            divide_by(x, y);
        } else {
            load_numbers(one_over[k], lanes, y);
            multiply_by(x, y);
        }
    }
};

/// Lower, rows from i on: of ones or with a diagonal; or the conjugate transpose of the upper one.
template <bool Unit, bool Transposed, int I, int J>
RICCI_FUNCTION void solve_lower(lane_tile<I, J>& t, const factor_matrix& a, const diagonal& d, int i) {
    RICCI_ALL_UNROLLED for (int k = 0; k < I; ++k) {
        if constexpr (!Unit)
            RICCI_ALL_UNROLLED for (int q = 0; q < J; ++q) d.divide(t.x[k][q], a.at(i + k, i + k), i + k);
        RICCI_ALL_UNROLLED for (int p = k + 1; p < I; ++p) {
            vector x[parts];
            load_numbers(Transposed ? a.at(i + k, i + p) : a.at(i + p, i + k), lanes, x);
            RICCI_ALL_UNROLLED for (int q = 0; q < J; ++q)
                subtract_product<Transposed, false>(t.x[p][q], x, t.x[k][q]);
        }
    }
}
/// Upper, or the conjugate transpose of the lower one.
template <bool Transposed, int I, int J>
RICCI_FUNCTION void solve_upper(lane_tile<I, J>& t, const factor_matrix& a, const diagonal& d, int i) {
    RICCI_ALL_UNROLLED for (int k = I - 1; k >= 0; --k) {
        RICCI_ALL_UNROLLED for (int q = 0; q < J; ++q) d.divide(t.x[k][q], a.at(i + k, i + k), i + k);
        RICCI_ALL_UNROLLED for (int p = 0; p < k; ++p) {
            vector x[parts];
            load_numbers(Transposed ? a.at(i + k, i + p) : a.at(i + p, i + k), lanes, x);
            RICCI_ALL_UNROLLED for (int q = 0; q < J; ++q)
                subtract_product<Transposed, false>(t.x[p][q], x, t.x[k][q]);
        }
    }
}

/// What of an upper triangle is its conjugate transpose, rows from i on.
template <int I, int J>
RICCI_FUNCTION void solve_upper_adjoint(lane_tile<I, J>& t, const factor_matrix& a, const diagonal& d, int i) {
    RICCI_ALL_UNROLLED for (int k = 0; k < I; ++k) {
        RICCI_ALL_UNROLLED for (int q = 0; q < J; ++q) d.divide(t.x[k][q], a.at(i + k, i + k), i + k);
        RICCI_ALL_UNROLLED for (int p = k + 1; p < I; ++p) {
            vector x[parts];
            load_numbers(a.at(i + k, i + p), lanes, x);
            RICCI_ALL_UNROLLED for (int q = 0; q < J; ++q)
                subtract_product<true, false>(t.x[p][q], x, t.x[k][q]);
        }
    }
}

/// J right-hand sides, n rows: b becomes L^-1 b, or U^-H b.
template <bool Unit, bool Transposed, int J>
RICCI_FUNCTION void forward_substitution(const factor_matrix& a, const diagonal& d, const side_matrix& b) {
    for_tiles_down<n>(0, [&](auto high, int i) RICCI_INLINED {
        lane_tile<high, J> t;
        load_tile(b, i, 0, t);
        if constexpr (Transposed)
            subtract_sums<height, 1, 1, side_height, true, false>(t, a.at(0, i), b.at(0, 0), i);
        else
            subtract_sums<1, height, 1, side_height, false, false>(t, a.at(i, 0), b.at(0, 0), i);
        solve_lower<Unit, Transposed>(t, a, d, i);
        store_tile(b, i, 0, t);
    });
}
/// U^-1 b, or L^-H b.
template <bool Transposed, int J>
RICCI_FUNCTION void backward_substitution(const factor_matrix& a, const diagonal& d, const side_matrix& b) {
    for_tiles_up<n>([&](auto high, int i) RICCI_INLINED {
        lane_tile<high, J> t;
        load_tile(b, i, 0, t);
        const int next = i + high;
        if (next < n) {
            if constexpr (Transposed)
                subtract_sums<height, 1, 1, side_height, true, false>(t, a.at(next, i), b.at(next, 0), n - next);
            else
                subtract_sums<1, height, 1, side_height, false, false>(t, a.at(i, next), b.at(next, 0), n - next);
        }
        solve_upper<Transposed>(t, a, d, i);
        store_tile(b, i, 0, t);
    });
}
