// factor_block_solves_cpu: triangular solves with parts of a matrix in scratch: recursively, so that most of them
// are products; at last triangles of `base` rows, whose columns are held ready for the right-hand sides that pass
// by.
#pragma once

#include "factor_block_products_cpu.hpp"

/// Of a triangle's rows: what a vector of its own length holds.
constexpr int corner_lanes = lanes < base ? lanes : base, corner_vectors = base / corner_lanes;
using corner_vector = simd<real, corner_lanes>;

enum class triangle { unit_lower, lower, upper, lower_adjoint, upper_adjoint };
constexpr bool goes_up(triangle t) { return t == triangle::upper || t == triangle::lower_adjoint; }
constexpr bool is_adjoint(triangle t) { return t == triangle::lower_adjoint || t == triangle::upper_adjoint; }

/// A triangle without its diagonal, which is there as reciprocals. What it lacks is 0, its diagonal 1.
struct small_triangle {
    alignas(64) real column[base][parts][base];
    alignas(64) real one_over[parts][base];

    template <triangle T, class A>
    RICCI_FUNCTION void load(const A& a, int high) {
        for (int k = 0; k < base; ++k)
            for (int i = 0; i < base; ++i) {
                const bool inside = k < high && i < high && (goes_up(T) ? i < k : i > k);
                const real* x =
                    is_adjoint(T) ? a.at(inside ? k : 0, inside ? i : 0) : a.at(inside ? i : 0, inside ? k : 0);
                column[k][0][i] = inside ? x[0] : 0;
                if constexpr (is_complex) {
                    const real im = x[a.height()];
                    column[k][imaginary][i] = !inside ? 0 : is_adjoint(T) ? -im : im;
                }
            }
        if constexpr (T != triangle::unit_lower)
            for (int k = 0; k < base; ++k) {
                element d = from_real<element>(1, 0);
                if (k < high) d = d / (is_adjoint(T) ? conjugate(a.number(k, k)) : a.number(k, k));
                set(k, d);
            }
    }
    template <class D>
    RICCI_FUNCTION void set(int k, D d) {
        if constexpr (real_part<D>::is_complex)
            one_over[0][k] = d.re, one_over[imaginary][k] = d.im;
        else
            one_over[0][k] = d;
    }
};

template <int Lane>
struct one_lane {
    static constexpr int at(int) { return Lane; }
};

/// J columns of `base` rows.
template <triangle T, int J, class B>
RICCI_FUNCTION void solve_corner(const small_triangle& a, const B& b, int j) {
    corner_vector x[J][corner_vectors][parts];
    const auto each = [&](const auto& f) RICCI_INLINED {
        for_each_of<J>([&](auto q) RICCI_INLINED {
            for_each_of<corner_vectors>([&](auto v) RICCI_INLINED {
                for_each_of<parts>([&](auto p) RICCI_INLINED { f(x[q][v][p], q, v, p); });
            });
        });
    };
    each([&](corner_vector& y, auto q, auto v, auto p)
             RICCI_INLINED { y = load_whole<real, corner_lanes>(b.at(v * corner_lanes, j + q) + p * b.height()); });
    for_each_of<base>([&](auto number) RICCI_INLINED {
        constexpr int k = goes_up(T) ? base - 1 - number : number, of = k / corner_lanes;
        for_each_of<J>([&](auto q) RICCI_INLINED {
            corner_vector y[parts];
            for_each_of<parts>([&](auto p) RICCI_INLINED {
                y[p] = shuffled<one_lane<k % corner_lanes>, real, corner_lanes>(x[q][of][p], x[q][of][p]);
            });
            if constexpr (T != triangle::unit_lower) {
                const real re = a.one_over[0][k], im = a.one_over[imaginary][k];
                if constexpr (is_complex) {
                    const corner_vector old = y[0];
                    y[0] = old * re - y[imaginary] * im, y[imaginary] = old * im + y[imaginary] * re;
                } else
                    y[0] *= re;
            }
            constexpr int begin = goes_up(T) ? 0 : (k + 1) / corner_lanes,
                          end = goes_up(T) ? of + 1 : corner_vectors;
            for_each_of<end - begin>([&](auto n) RICCI_INLINED {
                constexpr int v = begin + n;
                const auto re = load_whole<real, corner_lanes>(a.column[k][0] + v * corner_lanes);
                x[q][v][0] -= re * y[0];
                if constexpr (is_complex) {
                    const auto im = load_whole<real, corner_lanes>(a.column[k][imaginary] + v * corner_lanes);
                    x[q][v][0] += im * y[imaginary];
                    x[q][v][imaginary] -= re * y[imaginary];
                    x[q][v][imaginary] -= im * y[0];
                }
            });
        });
    });
    if constexpr (T != triangle::unit_lower)
        for_each_of<J>([&](auto q) RICCI_INLINED {
            for_each_of<corner_vectors>([&](auto v) RICCI_INLINED {
                const auto re = load_whole<real, corner_lanes>(a.one_over[0] + v * corner_lanes);
                if constexpr (is_complex) {
                    const auto im = load_whole<real, corner_lanes>(a.one_over[imaginary] + v * corner_lanes);
                    const corner_vector old = x[q][v][0];
                    x[q][v][0] = old * re - x[q][v][imaginary] * im;
                    x[q][v][imaginary] = old * im + x[q][v][imaginary] * re;
                } else
                    x[q][v][0] *= re;
            });
        });
    each([&](corner_vector& y, auto q, auto v, auto p)
             RICCI_INLINED { store_whole<real, corner_lanes>(b.at(v * corner_lanes, j + q) + p * b.height(), y); });
}

template <triangle T, class A, class B>
RICCI_APART void solve_small(A a, B b, int high, int wide) {
    small_triangle corner;
    corner.template load<T>(a, high);
    int j = 0;
    for (; j + 4 <= wide; j += 4) solve_corner<T, 4>(corner, b, j);
    for (; j < wide; ++j) solve_corner<T, 1>(corner, b, j);
}

/// Slow, for diagonals whose reciprocals overflow.
template <triangle T, class A, class B>
RICCI_APART void solve_slowly(A a, B b, int high, int wide) {
    for (int j = 0; j < wide; ++j)
        for (int number = 0; number < high; ++number) {
            const int k = goes_up(T) ? high - 1 - number : number;
            element x = b.number(k, j);
            if constexpr (T != triangle::unit_lower)
                x = x / (is_adjoint(T) ? conjugate(a.number(k, k)) : a.number(k, k));
            b.set(k, j, x);
            for (int i = goes_up(T) ? 0 : k + 1; i < (goes_up(T) ? k : high); ++i)
                b.set(i, j, b.number(i, j) - (is_adjoint(T) ? conjugate(a.number(k, i)) : a.number(i, k)) * x);
        }
}

/// Half of a number of columns, a multiple of `unit`.
RICCI_FUNCTION int first_half_of(int count, int unit) { return (count / 2 + unit - 1) / unit * unit; }

/// B (high x wide) becomes A^-1 B.
template <triangle T, class A, class B>
static void solve_triangle(A a, B b, int high, int wide) {
    if (high <= base) return solve_small<T>(a, b, high, wide);
    const int half = first_half_of(high, base), rest = high - half;
    const A corner = a.part(half, half), below = a.part(half, 0), right = a.part(0, half);
    const B second = b.part(half, 0);
    if constexpr (!goes_up(T)) {
        solve_triangle<T>(a, b, half, wide);
        if constexpr (T == triangle::upper_adjoint)
            sum_products<true>(right, b, second, rest, wide, half);
        else
            subtract_products<false>(second, below, b, rest, wide, half);
        solve_triangle<T>(corner, second, rest, wide);
    } else {
        solve_triangle<T>(corner, second, rest, wide);
        if constexpr (T == triangle::upper)
            subtract_products<false>(b, right, second, half, wide, rest);
        else
            sum_products<true>(below, second, b, half, wide, rest);
        solve_triangle<T>(a, b, half, wide);
    }
}
