// factor_block_products_cpu: one matrix in scratch, and products of its parts. A column of complex numbers is one of
// real parts, then one of imaginary parts; columns end with padding, which vectors may reach into: what is computed
// there is never used. Vectors lie along rows.
#pragma once

#include "factor_numbers_cpu.hpp"

/// Rows of the smallest triangle that is solved with, and columns of LU that are factored one after another: as many
/// as a vector has lanes or more, so that vectors of a part's rows reach into no other part.
constexpr int base = lanes > 8 ? lanes : 8;
/// Columns of Cholesky and of QR that are: their parts all go down to the last row.
constexpr int panel_columns = 8;

/// A matrix or a part of one: columns are Height long, or `tall` where that is 0.
template <long long Height>
struct scratch_matrix {
    real* first;
    long long tall;

    RICCI_FUNCTION long long height() const { return Height ? Height : tall; }
    RICCI_FUNCTION long long step() const { return parts * height(); }
    RICCI_FUNCTION real* at(int i, int j) const { return first + j * step() + i; }
    RICCI_FUNCTION scratch_matrix part(int i, int j) const { return {at(i, j), tall}; }
    RICCI_FUNCTION element number(int i, int j) const { return number_at<element>(at(i, j), height()); }
    RICCI_FUNCTION void set(int i, int j, element x) const { set_number(at(i, j), height(), x); }

  private:
    template <class T>
    RICCI_FUNCTION static T number_at(const real* p, long long apart) {
        if constexpr (real_part<T>::is_complex)
            return {p[0], p[apart]};
        else
            return *p;
    }
    template <class T>
    RICCI_FUNCTION static void set_number(real* p, long long apart, T x) {
        if constexpr (real_part<T>::is_complex)
            p[0] = x.re, p[apart] = x.im;
        else
            *p = x;
    }
};

RICCI_FUNCTION indices lane_numbers() {
    integer number[lanes];
    for (int t = 0; t < lanes; ++t) number[t] = t;
    return load_whole<integer, lanes>(number);
}
/// Of a vector of rows that begins at row `first`: those from `from` on.
RICCI_FUNCTION indices rows_from(int first, int from) {
    return reinterpret_cast<indices>(lane_numbers() >= indices{} + static_cast<integer>(from - first));
}
RICCI_FUNCTION void keep_where(indices where, vector (&x)[parts]) {
    for_each_of<parts>([&](auto p) RICCI_INLINED { x[p] = chosen(where, x[p], vector{}); });
}

// ---- C -= A*B ----

constexpr int tile_vectors = is_complex ? 2 : 3;
constexpr int tile_columns = vector_registers == 32 ? (is_complex ? 4 : 8) : is_complex ? 2 : 4;

/// V vectors of rows from i on, J columns from j on. ByRows: B is the conjugate transpose of what b has.
template <int V, int J, bool ByRows, class C, class A, class B>
RICCI_FUNCTION void subtract_tile(const C& c, const A& a, const B& b, int i, int j, int k) {
    vector sums[V][J][parts];
    real* const to = c.at(i, j);
    RICCI_ALL_UNROLLED for (int q = 0; q < J; ++q) RICCI_ALL_UNROLLED for (int v = 0; v < V; ++v)
        load_numbers(to + q * c.step() + v * lanes, c.height(), sums[v][q]);
    const real* x = a.at(i, 0);
    const real* y = ByRows ? b.at(j, 0) : b.at(0, j);
#pragma GCC unroll 1
    for (int l = 0; l < k; ++l, x += a.step(), y += ByRows ? b.step() : 1) {
        vector high[V][parts];
        RICCI_ALL_UNROLLED for (int v = 0; v < V; ++v) load_numbers(x + v * lanes, a.height(), high[v]);
        RICCI_ALL_UNROLLED for (int q = 0; q < J; ++q) {
            vector wide[parts];
            repeat_number(y + (ByRows ? q : q * b.step()), b.height(), wide);
            RICCI_ALL_UNROLLED for (int v = 0; v < V; ++v)
                subtract_product<false, ByRows>(sums[v][q], high[v], wide);
        }
    }
    RICCI_ALL_UNROLLED for (int q = 0; q < J; ++q) RICCI_ALL_UNROLLED for (int v = 0; v < V; ++v)
        store_numbers(to + q * c.step() + v * lanes, c.height(), sums[v][q]);
}

/// All rows of J columns. Fewer than a tile's vectors: one by one where the columns are the last few.
template <int V, int J, bool ByRows, class C, class A, class B>
RICCI_FUNCTION void subtract_rows(const C& c, const A& a, const B& b, int i, int j, int high, int k) {
    for (; i + (V - 1) * lanes < high; i += V * lanes) subtract_tile<V, J, ByRows>(c, a, b, i, j, k);
    if constexpr (V > 1)
        if (i < high) subtract_rows<J == tile_columns ? V - 1 : 1, J, ByRows>(c, a, b, i, j, high, k);
}
template <int J, bool ByRows, bool Lower, class C, class A, class B>
RICCI_FUNCTION void subtract_columns(const C& c, const A& a, const B& b, int j, int high, int wide, int k) {
    for (; j + J <= wide; j += J)
        subtract_rows<tile_vectors, J, ByRows>(c, a, b, Lower ? j / lanes * lanes : 0, j, high, k);
    if constexpr (J > 1)
        if (j < wide) subtract_columns<J == tile_columns ? J / 2 : 1, ByRows, Lower>(c, a, b, j, high, wide, k);
}
/// C (high x wide) -= A (high x k) * B (k x wide); Lower: what is above C's diagonal may or may not be computed.
template <bool ByRows, bool Lower = false, class C, class A, class B>
RICCI_APART void subtract_products(C c, A a, B b, int high, int wide, int k) {
    if (high > 0 && k > 0) subtract_columns<tile_columns, ByRows, Lower>(c, a, b, 0, high, wide, k);
}

// ---- A^H B: sums along the rows ----

constexpr int sums_down = is_complex ? 2 : 4, sums_across = vector_registers == 32 ? 4 : 2;

/// Column i (P of them) of a by column j (Q) of b, `count` rows: stored to out(i, j), or subtracted from it.
template <int P, int Q, bool Subtract, class A, class B, class Out>
RICCI_FUNCTION void sum_tile(const A& a, const B& b, const Out& out, int i, int j, int count) {
    vector sums[P][Q][parts] = {};
    const real *x = a.at(0, i), *y = b.at(0, j);
    const auto add = [&](int row, indices inside, bool whole) RICCI_INLINED {
        vector left[P][parts];
        RICCI_ALL_UNROLLED for (int p = 0; p < P; ++p) {
            load_numbers(x + p * a.step() + row, a.height(), left[p]);
            if (!whole) keep_where(inside, left[p]);
        }
        RICCI_ALL_UNROLLED for (int q = 0; q < Q; ++q) {
            vector right[parts];
            load_numbers(y + q * b.step() + row, b.height(), right);
            if (!whole) keep_where(inside, right);
            RICCI_ALL_UNROLLED for (int p = 0; p < P; ++p) add_conjugate_product(sums[p][q], left[p], right);
        }
    };
    int row = 0;
#pragma GCC unroll 1
    for (; row + lanes <= count; row += lanes) add(row, indices{}, true);
    if (row < count) add(row, ~rows_from(row, count), false);

    constexpr int all = P * Q * parts, vectors = (all + lanes - 1) / lanes;
    alignas(64) real total[vectors * lanes];
    for_each_of<vectors>([&](auto g) RICCI_INLINED {
        constexpr int some = all - g * lanes < lanes ? all - g * lanes : lanes;
        vector v[lanes] = {};
        for_each_of<some>([&](auto t) RICCI_INLINED {
            constexpr int at = g * lanes + t;
            v[t] = sums[at / parts % P][at / parts / P][at % parts];
        });
        store_whole<real, lanes>(total + g * lanes, sums_of_lanes<real, lanes, some>(v));
    });
    for (int q = 0; q < Q; ++q)
        for (int p = 0; p < P; ++p)
            for_each_of<parts>([&](auto part) RICCI_INLINED {
                real& to = out.at(i + p, j + q)[part * out.height()];
                const real sum = total[(q * P + p) * parts + part];
                to = Subtract ? to - sum : sum;
            });
}
template <int Q, bool Subtract, class A, class B, class Out>
RICCI_FUNCTION void sum_columns(const A& a, const B& b, const Out& out, int j, int high, int count) {
    int i = 0;
    for (; i + sums_down <= high; i += sums_down) sum_tile<sums_down, Q, Subtract>(a, b, out, i, j, count);
    for (; i < high; ++i) sum_tile<1, Q, Subtract>(a, b, out, i, j, count);
}
/// out (high x wide) = or -= A^H (high x count) * B (count x wide).
template <bool Subtract, class A, class B, class Out>
RICCI_APART void sum_products(A a, B b, Out out, int high, int wide, int count) {
    int j = 0;
    for (; j + sums_across <= wide; j += sums_across) sum_columns<sums_across, Subtract>(a, b, out, j, high, count);
    for (; j < wide; ++j) sum_columns<1, Subtract>(a, b, out, j, high, count);
}
