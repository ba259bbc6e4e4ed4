// factor_block_triangles_cpu: Cholesky and LU of one matrix in scratch, columns recursively by halves (Toledo,
// "Locality of reference in LU decomposition with partial pivoting", 1997; Gustavson), at last panels of a few
// columns.
#pragma once

#include "factor_block_solves_cpu.hpp"

/// What is known of a matrix beside its factors.
struct matrix_state {
    int* pivots;
    int info = 0;
    bool has_small = false; ///< a pivot has no reciprocal
    RICCI_FUNCTION void note(bool where, int number) {
        if (where && info == 0) info = number;
    }
};

template <class T>
RICCI_FUNCTION real largest_part(T x) {
    if constexpr (real_part<T>::is_complex)
        return real_abs(x.re) > real_abs(x.im) ? real_abs(x.re) : real_abs(x.im);
    else
        return real_abs(x);
}

// ---- Cholesky ----

/// Vectors of rows that the triangle of a panel fills, and rows below it that come along where it is shorter than
/// one.
constexpr int top_vectors = panel_columns < lanes ? 1 : panel_columns / lanes;

/// Lane k of the panel's first rows in all lanes.
template <int K>
RICCI_FUNCTION void repeat_row(const vector (&x)[top_vectors][parts], vector (&out)[parts]) {
    for_each_of<parts>([&](auto p) RICCI_INLINED {
        out[p] = shuffled<one_lane<K % lanes>, real, lanes>(x[K / lanes][p], x[K / lanes][p]);
    });
}

/// The first rows of a panel of `wide` columns, in registers; its first column's number is only for info.
template <class A>
RICCI_FUNCTION void factor_top(const A& a, matrix_state& s, int wide, int first, real (&one_over)[panel_columns]) {
    vector x[panel_columns][top_vectors][parts];
    RICCI_ALL_UNROLLED for (int k = 0; k < panel_columns; ++k) if (k < wide)
        RICCI_ALL_UNROLLED for (int v = 0; v < top_vectors; ++v)
            load_numbers(a.at(v * lanes, k), a.height(), x[k][v]);
    for_each_of<panel_columns>([&](auto k) RICCI_INLINED {
        if (k < wide) {
            const real square = x[k][k / lanes][0][k % lanes], root = real_sqrt(square), over = 1 / root;
            s.note(!(square > 0), first + k + 1);
            one_over[k] = over;
            RICCI_ALL_UNROLLED for (int v = k / lanes; v < top_vectors; ++v) {
                multiply_by_real(x[k][v], all_lanes(over));
                store_numbers(a.at(v * lanes, k), a.height(), x[k][v]);
            }
            a.set(k, k, from_real<element>(root, 0));
            for_each_of<panel_columns - 1 - k>([&](auto number) RICCI_INLINED {
                constexpr int q = k + 1 + number;
                vector y[parts];
                repeat_row<q>(x[k], y);
                RICCI_ALL_UNROLLED for (int v = q / lanes; v < top_vectors; ++v)
                    subtract_product<false, true>(x[q][v], x[k][v], y);
            });
        }
    });
}

/// V vectors of rows from i on below a panel's triangle.
template <int V, class A>
RICCI_FUNCTION void solve_below(const A& a, const real (&one_over)[panel_columns], int wide, int i) {
    vector x[panel_columns][V][parts];
    RICCI_ALL_UNROLLED for (int k = 0; k < panel_columns; ++k) if (k < wide)
        RICCI_ALL_UNROLLED for (int v = 0; v < V; ++v) load_numbers(a.at(i + v * lanes, k), a.height(), x[k][v]);
    RICCI_ALL_UNROLLED for (int k = 0; k < panel_columns; ++k) if (k < wide) {
        RICCI_ALL_UNROLLED for (int v = 0; v < V; ++v) {
            multiply_by_real(x[k][v], all_lanes(one_over[k]));
            store_numbers(a.at(i + v * lanes, k), a.height(), x[k][v]);
        }
        RICCI_ALL_UNROLLED for (int q = k + 1; q < panel_columns; ++q) {
            vector y[parts];
            repeat_number(a.at(q, k), a.height(), y);
            RICCI_ALL_UNROLLED for (int v = 0; v < V; ++v) subtract_product<false, true>(x[q][v], x[k][v], y);
        }
    }
}

/// A panel of at most `panel_columns` columns, `high` rows, the first of them that of its triangle.
template <class A>
RICCI_APART void factor_cholesky_panel(A a, matrix_state& s, int high, int wide, int first) {
    real one_over[panel_columns];
    factor_top(a, s, wide, first, one_over);
    constexpr int at_once = vector_registers == 32 && !is_complex ? 2 : 1;
    int i = top_vectors * lanes;
    for (; i + (at_once - 1) * lanes < high; i += at_once * lanes) solve_below<at_once>(a, one_over, wide, i);
    if constexpr (at_once > 1)
        for (; i < high; i += lanes) solve_below<1>(a, one_over, wide, i);
}

template <class A>
static void factor_cholesky(A a, matrix_state& s, int high, int wide, int first) {
    if (wide <= panel_columns) return factor_cholesky_panel(a, s, high, wide, first);
    const int half = first_half_of(wide, panel_columns);
    factor_cholesky(a, s, high, half, first);
    subtract_products<true, true>(a.part(half, half), a.part(half, 0), a.part(half, 0), high - half, wide - half,
                                  half);
    factor_cholesky(a.part(half, half), s, high - half, wide - half, first + half);
}

// ---- LU ----

/// Vectors of rows that a panel's triangle fills.
constexpr int lu_top_vectors = base / lanes;

/// Rows first + k and pivots[k], k < count, of columns of the whole matrix change places.
template <class A>
RICCI_APART void exchange_rows(A a, const int* pivots, int first, int count, int column, int wide) {
    for (int j = column * parts; j < (column + wide) * parts; ++j) {
        real* const x = a.first + j * a.height();
        for (int k = 0; k < count; ++k) {
            const real old = x[first + k], next = x[pivots[k]];
            x[first + k] = next, x[pivots[k]] = old;
        }
    }
}

/// Column k of a panel, whose first row is `first` of the matrix: less what the columns before it contribute.
/// Returns the row, from k on, of the largest element.
template <class A>
RICCI_FUNCTION int reduce_column(const A& a, int high, int k) {
    element u[base];
    for (int l = 0; l < k; ++l) { // rows of U
        element x = a.number(l, k);
        for (int p = 0; p < l; ++p) x = x - a.number(l, p) * u[p];
        u[l] = x;
        a.set(l, k, x);
    }
    vector best{};
    indices at = indices{} + static_cast<integer>(k);
    indices row = lane_numbers();
    const auto reduce = [&](int i, auto top) RICCI_INLINED {
        vector x[parts];
        load_numbers(a.at(i, k), a.height(), x);
        for_each_of<base - 1>([&](auto l) RICCI_INLINED {
            if (l < k) {
                vector y[parts], w[parts];
                load_numbers(a.at(i, l), a.height(), y);
                repeat_number(reinterpret_cast<const real*>(u + l), 1, w);
                subtract_product(x, y, w);
            }
        });
        vector size;
        if constexpr (top) {
            const indices below = rows_from(i, k);
            vector old[parts];
            load_numbers(a.at(i, k), a.height(), old);
            for_each_of<parts>([&](auto p) RICCI_INLINED { x[p] = chosen(below, x[p], old[p]); });
            size = chosen(below, sizes_of_pivots(x), vector{});
        } else
            size = sizes_of_pivots(x);
        store_numbers(a.at(i, k), a.height(), x);
        const indices is_better = is_less(best, size);
        best = chosen(is_better, size, best);
        at = chosen(is_better, row, at);
        row += lanes;
    };
    for (int v = 0; v < lu_top_vectors; ++v) reduce(v * lanes, constant<1>());
    for (int i = lu_top_vectors * lanes; i < high; i += lanes) reduce(i, constant<0>());
    if constexpr (method != lu_method) return k;
    real size[lanes];
    integer number[lanes];
    store_whole<real, lanes>(size, best);
    store_whole<integer, lanes>(number, at);
    int out = static_cast<int>(number[0]);
    real largest = size[0];
    for (int t = 1; t < lanes; ++t) {
        const bool is_better = size[t] > largest || (size[t] == largest && number[t] < out);
        largest = is_better ? size[t] : largest, out = is_better ? static_cast<int>(number[t]) : out;
    }
    return out < high ? out : k;
}

/// Column k below its pivot becomes multipliers.
template <class A>
RICCI_FUNCTION void divide_column(const A& a, matrix_state& s, int high, int k, int number) {
    element pivot = a.number(k, k);
    const real size = largest_part(pivot);
    s.note(size == 0, number + 1);
    real up = 1;
    if (size < smallest_divisor) {
        s.has_small = true;
        if (size == 0) return; // not divided
        up = upwards;
        pivot = pivot * from_real<element>(up, 0);
    }
    const element over = from_real<element>(1, 0) / pivot;
    vector y[parts];
    repeat_number(reinterpret_cast<const real*>(&over), 1, y);
    const auto divide = [&](int i, indices below) RICCI_INLINED {
        vector x[parts], old[parts];
        load_numbers(a.at(i, k), a.height(), x);
        for_each_of<parts>([&](auto p) RICCI_INLINED { old[p] = x[p], x[p] *= up; });
        multiply_by(x, y);
        for_each_of<parts>([&](auto p) RICCI_INLINED { x[p] = chosen(below, x[p], old[p]); });
        store_numbers(a.at(i, k), a.height(), x);
    };
    for (int v = 0; v < lu_top_vectors; ++v) divide(v * lanes, rows_from(v * lanes, k + 1));
    for (int i = lu_top_vectors * lanes; i < high; i += lanes) divide(i, ~indices{});
}

/// Columns [first, first + wide) of the matrix, rows from `first` on.
template <class A>
RICCI_APART void factor_lu_panel(A a, matrix_state& s, int high, int wide, int first) {
    const A panel_of = a.part(first, first);
    for (int k = 0; k < wide && first + k < high; ++k) {
        const int row = reduce_column(panel_of, high - first, k);
        s.pivots[first + k] = first + row;
        if (row != k)
            for (int j = 0; j < wide * parts; ++j) {
                real* const x = panel_of.first + j * a.height();
                const real old = x[k];
                x[k] = x[row], x[row] = old;
            }
        divide_column(panel_of, s, high - first, k, first + k);
    }
}

template <class A>
static void factor_lu(A a, matrix_state& s, int high, int first, int wide) {
    if (wide <= base) return factor_lu_panel(a, s, high, wide, first);
    const int half = first_half_of(wide, base), middle = first + half, rest = wide - half;
    factor_lu(a, s, high, first, half);
    if constexpr (method == lu_method) exchange_rows(a, s.pivots + first, first, half, middle, rest);
    solve_triangle<triangle::unit_lower>(a.part(first, first), a.part(first, middle), half, rest);
    subtract_products<false>(a.part(middle, middle), a.part(middle, first), a.part(first, middle), high - middle,
                             rest, half);
    factor_lu(a, s, high, middle, rest);
    if constexpr (method == lu_method) exchange_rows(a, s.pivots + middle, middle, rest, first, half);
}
