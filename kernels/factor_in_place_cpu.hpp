// factor_in_place_cpu: one matrix where it is in memory, element by element: for what has no room in scratch.
// Simple, and as fast as memory at best. Pivots and tau are kept in scratch, as is one right-hand side at a time: m
// elements and as many pivots or tau have to find room there. The matrix is written, whether its factors are kept or
// not: lowering gives no other matrices to this.
#pragma once

#include "factor_block_triangles_cpu.hpp"
#include "factor_determinant_cpu.hpp"

/// A matrix in memory, with the conjugates that are meant.
struct matrix_in_memory {
    element* first;
    long long along, across;
    RICCI_FUNCTION element get(long long i, long long j) const { return as_meant(first[i * along + j * across]); }
    RICCI_FUNCTION void set(long long i, long long j, element x) const {
        first[i * along + j * across] = as_meant(x);
    }
};

struct place_state {
    int* pivots;
    element* tau;
    long long info = 0;
    RICCI_FUNCTION void note(bool where, long long number) {
        if (where && info == 0) info = number;
    }
};

/// Column j less column k, of factors, times u, from row `from` on.
RICCI_FUNCTION void subtract_column(const matrix_in_memory& a, long long j, long long k, element u, long long from,
                                    long long m) {
    for (long long i = from; i < m; ++i) a.set(i, j, a.get(i, j) - a.get(i, k) * u);
}

RICCI_APART void cholesky_in_place(const matrix_in_memory& a, place_state& s, long long n) {
    for (long long j = 0; j < n; ++j) {
        for (long long k = 0; k < j; ++k) subtract_column(a, j, k, conjugate(a.get(j, k)), j, n);
        const real square = real_of(a.get(j, j)), root = real_sqrt(square);
        s.note(!(square > 0), j + 1);
        a.set(j, j, from_real<element>(root, 0));
        for (long long i = j + 1; i < n; ++i) a.set(i, j, a.get(i, j) / from_real<element>(root, 0));
    }
}

RICCI_APART void lu_in_place(const matrix_in_memory& a, place_state& s, long long m, long long n) {
    for (long long k = 0; k < (m < n ? m : n); ++k) {
        long long p = k;
        if constexpr (method == lu_method) {
            for (long long i = k + 1; i < m; ++i)
                if (size_of_pivot(a.get(i, k)) > size_of_pivot(a.get(p, k))) p = i;
            s.pivots[k] = static_cast<int>(p);
            if (p != k)
                for (long long j = 0; j < n; ++j) {
                    const element old = a.get(k, j);
                    a.set(k, j, a.get(p, j)), a.set(p, j, old);
                }
        }
        const element pivot = a.get(k, k);
        const bool is_zero = size_of_pivot(pivot) == 0;
        s.note(is_zero, k + 1);
        if (!is_zero)
            for (long long i = k + 1; i < m; ++i) a.set(i, k, a.get(i, k) / pivot);
        for (long long j = k + 1; j < n; ++j) subtract_column(a, j, k, a.get(k, j), k + 1, m);
    }
}

/// H^H of reflector k times a column, of which f gives element i and g sets it.
template <class F, class G>
RICCI_FUNCTION void reflect_column(const matrix_in_memory& a, element tau, long long k, long long m, const F& f,
                                   const G& g) {
    element sum = f(k);
    for (long long i = k + 1; i < m; ++i) add_product(sum, conjugate(a.get(i, k)), f(i));
    sum = conjugate(tau) * sum;
    g(k, f(k) - sum);
    for (long long i = k + 1; i < m; ++i) g(i, f(i) - a.get(i, k) * sum);
}

/// The power of 2 that brings x near 1, or 1 where there is none; in two steps, for it may be no number.
RICCI_FUNCTION void find_scale(real x, real (&up)[2]) {
    constexpr real step = sizeof(real) == 4 ? real(0x1p30) : real(0x1p250);
    up[0] = up[1] = 1;
    if (x == 0 || x - x != 0) return;
    while (x < 1 / step && up[0] < step * step) x *= step, up[0] *= step;
    while (x < 1 / step) x *= step, up[1] *= step;
    while (x > step) x /= step, up[0] /= step;
}

RICCI_APART void qr_in_place(const matrix_in_memory& a, place_state& s, long long m, long long n) {
    for (long long k = 0; k < (m < n ? m : n); ++k) {
        real largest = 0;
        for (long long i = k + 1; i < m; ++i) {
            const real size = largest_part(a.get(i, k));
            if (size > largest || size != size) largest = size;
        }
        element alpha = a.get(k, k);
        const bool is_reflected = largest != 0 || imaginary_of(alpha) != 0;
        s.tau[k] = from_real<element>(0, 0);
        if (is_reflected) {
            real up[2], squares = 0;
            find_scale(largest > largest_part(alpha) ? largest : largest_part(alpha), up);
            const auto scaled = [&](element x) {
                return x * from_real<element>(up[0], 0) * from_real<element>(up[1], 0);
            };
            const auto add = [&](auto x) { squares += real_of(conjugate(x) * x); };
            alpha = scaled(alpha);
            for (long long i = k + 1; i < m; ++i) add(scaled(a.get(i, k)));
            add(alpha);
            const real norm = real_sqrt(squares), beta = real_of(alpha) < 0 ? norm : -norm;
            const element divisor = alpha - from_real<element>(beta, 0);
            for (long long i = k + 1; i < m; ++i) a.set(i, k, scaled(a.get(i, k)) / divisor);
            a.set(k, k, from_real<element>(beta / up[0] / up[1], 0));
            s.tau[k] = (from_real<element>(beta, 0) - alpha) / from_real<element>(beta, 0);
        }
        for (long long j = k + 1; j < n; ++j)
            reflect_column(
                a, s.tau[k], k, m, [&](long long i) { return a.get(i, j); },
                [&](long long i, element x) { a.set(i, j, x); });
    }
}

/// One right-hand side of n elements becomes the smallest solution, of m.
RICCI_APART void solve_adjoint_in_place(const matrix_in_memory& a, const place_state& s, long long m, long long n,
                                        element* x) {
    for (long long k = 0; k < n; ++k) {
        for (long long i = 0; i < k; ++i) x[k] = x[k] - conjugate(a.get(i, k)) * x[i];
        x[k] = x[k] / conjugate(a.get(k, k));
    }
    for (long long i = n; i < m; ++i) x[i] = zero();
    for (long long k = n - 1; k >= 0; --k)
        reflect_column(
            a, conjugate(s.tau[k]), k, m, [&](long long i) { return x[i]; },
            [&](long long i, element value) { x[i] = value; });
}

/// One right-hand side becomes its solution.
RICCI_APART void solve_in_place(const matrix_in_memory& a, const place_state& s, long long m, long long n,
                                element* x) {
    if constexpr (method == lu_method)
        for (long long k = 0; k < n; ++k) {
            const element old = x[k];
            x[k] = x[s.pivots[k]], x[s.pivots[k]] = old;
        }
    if constexpr (method == qr_method)
        for (long long k = 0; k < n; ++k)
            reflect_column(
                a, s.tau[k], k, m, [&](long long i) { return x[i]; },
                [&](long long i, element value) { x[i] = value; });
    else
        for (long long k = 0; k < n; ++k) {
            if constexpr (method == cholesky_method) x[k] = x[k] / a.get(k, k);
            for (long long i = k + 1; i < n; ++i) x[i] = x[i] - a.get(i, k) * x[k];
        }
    for (long long k = n - 1; k >= 0; --k) {
        if constexpr (method == cholesky_method) {
            for (long long i = k + 1; i < n; ++i) x[k] = x[k] - conjugate(a.get(i, k)) * x[i];
            x[k] = x[k] / a.get(k, k);
        } else {
            x[k] = x[k] / a.get(k, k);
            for (long long i = 0; i < k; ++i) x[i] = x[i] - a.get(i, k) * x[k];
        }
    }
}

RICCI_FUNCTION void sides_in_place(const arguments& a, long long matrix, const matrix_in_memory& x, place_state& s,
                                   element* column, long long m, long long n, long long r) {
    if constexpr (method == qr_method)
        for (long long k = 0; k < n; ++k) s.note(size_of_pivot(x.get(k, k)) == 0, k + 1);
    const long long given_rows = smallest_norm ? n : m, solution_rows = smallest_norm ? m : n;
    for (long long j = 0; j < r; ++j) {
        for (long long i = 0; i < given_rows; ++i) {
            if constexpr (has_role[given_role])
                column[i] = operand_of<given_role>(a, matrix)[offset_of<given_role>(a, i, j)];
            else
                column[i] = from_real<element>(i == j, 0);
        }
        if (s.info == 0) {
            if constexpr (smallest_norm)
                solve_adjoint_in_place(x, s, m, n, column);
            else
                solve_in_place(x, s, m, n, column);
        }
        element* const to = operand_of<solution_role>(a, matrix);
        for (long long i = 0; i < solution_rows; ++i)
            to[offset_of<solution_role>(a, i, j)] =
                s.info == 0 ? column[i] : from_real<element>(no_number, no_number);
    }
}

/// Pivots or tau.
template <class To>
RICCI_FUNCTION void store_vector(const arguments& a, To* to, const int* pivots, const element* tau,
                                 long long count) {
    for (long long k = 0; k < count; ++k)
        if constexpr (method == qr_method)
            to[offset_of<vector_role>(a, k, 0)] = as_meant(tau[k]);
        else if constexpr (method == lu_method)
            to[offset_of<vector_role>(a, k, 0)] = static_cast<To>(pivots[k]);
}

/// info and the determinant; f(k) is element k of the factors' diagonal.
template <class F>
RICCI_FUNCTION void store_rest(const arguments& a, long long matrix, long long info, const int* pivots,
                               long long steps, const F& f) {
    if constexpr (has_role[info_role])
        *operand_of<info_role>(a, matrix) = static_cast<typename role_element<info_role>::type>(info);
    if constexpr (has_determinant) {
        scaled_product det;
        bool negative = false;
        for (long long k = 0; k < steps; ++k) {
            det.multiply(f(k));
            if constexpr (method == lu_method) negative ^= pivots[k] != k;
        }
        det.store(a, matrix, info, method == cholesky_method ? 2 : 1, negative);
    }
}

/// A matrix without elements: info is 0, the determinant 1, and 0 the smallest solution of no equations.
RICCI_APART void factor_nothing(const arguments& a, long long matrix) {
    const long long m = rows == argument ? a.row_count : rows,
                    r = right_sides == argument ? a.side_count : right_sides;
    if constexpr (smallest_norm)
        for (long long j = 0; j < r; ++j)
            for (long long i = 0; i < m; ++i)
                operand_of<solution_role>(a, matrix)[offset_of<solution_role>(a, i, j)] = zero();
    store_rest(a, matrix, 0, nullptr, 0, [](long long) { return one(); });
}

RICCI_APART void factor_in_place(const arguments& a, long long matrix, char* scratch) {
    const long long m = rows == argument ? a.row_count : rows, n = columns == argument ? a.column_count : columns;
    const long long steps = m < n ? m : n;
    const matrix_in_memory x{operand_of<matrix_role>(a, matrix), offset_of<matrix_role>(a, 1, 0),
                             offset_of<matrix_role>(a, 0, 1)};
    element* const column = reinterpret_cast<element*>(scratch);
    place_state s{reinterpret_cast<int*>(column + m), column + m};
    if constexpr (method == cholesky_method)
        cholesky_in_place(x, s, n);
    else if constexpr (method == qr_method)
        qr_in_place(x, s, m, n);
    else
        lu_in_place(x, s, m, n);
    if constexpr (has_role[vector_role]) store_vector(a, operand_of<vector_role>(a, matrix), s.pivots, s.tau, steps);
    if constexpr (has_sides)
        sides_in_place(a, matrix, x, s, column, m, n, right_sides == argument ? a.side_count : right_sides);
    store_rest(a, matrix, s.info, s.pivots, steps, [&](long long k) { return x.get(k, k); });
}
