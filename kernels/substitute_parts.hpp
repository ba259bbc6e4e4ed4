// substitute_parts: what a solve with factors that are there consists of, the same on a CPU and a GPU: at most one
// permutation, one product with Q or its conjugate transpose, one triangle forward and one backward.
//
//   method        forward            backward
//   Cholesky      L                  L^H
//   LU            L, unit            U             rows permuted first, where it has pivots
//   its adjoint   U^H                L^H, unit     rows permuted back in the end
//   QR                               R             Q^H first
//   triangular    lower              upper         one of them
//
// Constants: factor.hpp's.
#pragma once

#include "factor_elements.hpp"

constexpr bool solves = method <= triangular_method;
constexpr bool applies_q = method == qr_method || method >= apply_q_method;
constexpr bool last_reflector_first = method == apply_q_method || method == form_q_method;
constexpr bool has_pivots = method == lu_method, permutes_first = has_pivots && !of_adjoint,
               permutes_last = has_pivots && of_adjoint;
constexpr bool has_forward = method == cholesky_method || is_lu || (method == triangular_method && !upper);
constexpr bool has_backward =
    method == cholesky_method || is_lu || method == qr_method || (method == triangular_method && upper);
constexpr bool has_given = has_role[given_role];
constexpr bool has_info = has_role[info_role];
constexpr bool is_constant = rows != argument; ///< all sizes are
/// Whether a zero on the diagonal is looked for.
constexpr bool has_divisors = solves && !(method == triangular_method && unit);

/// The triangle T of one pass, x = T^-1 x: element (i, k) is element (i, k) of the matrix, or its adjoint's.
template <bool Forward> struct triangle {
    static constexpr bool adjoint = is_lu ? of_adjoint : !Forward && method == cholesky_method;
    static constexpr bool has_unit_diagonal = is_lu ? Forward != of_adjoint : method == triangular_method && unit;
    static constexpr bool is_conjugated = is_complex && conjugated != adjoint; ///< with respect to memory
    static RICCI_FUNCTION element meant(element x) { return is_conjugated ? conjugate(x) : x; }
    template <class Matrix> static RICCI_FUNCTION element at(const Matrix& matrix, long long i, long long k) {
        return meant(adjoint ? matrix(k, i) : matrix(i, k));
    }
};

/// Whether any pass reads the matrix's element (i, j): the rest is neither copied nor counted.
RICCI_FUNCTION constexpr bool is_read(long long i, long long j) {
    if (method == cholesky_method) return i >= j;
    if (method == triangular_method) return upper ? i < j || (!unit && i == j) : i > j || (!unit && i == j);
    if (method == qr_method || is_lu) return true;
    return i > j; // reflectors alone
}

RICCI_FUNCTION long long row_count(const arguments& a) { return rows == argument ? a.row_count : rows; }
RICCI_FUNCTION long long column_count(const arguments& a) { return columns == argument ? a.column_count : columns; }
RICCI_FUNCTION long long side_count(const arguments& a) {
    return right_sides == argument ? a.side_count : right_sides;
}
RICCI_FUNCTION long long reflector_count(const arguments& a) {
    const long long m = row_count(a), n = column_count(a);
    return m < n ? m : n;
}
/// Of right-hand sides while they are worked on, and of solutions.
RICCI_FUNCTION long long work_rows(const arguments& a) { return applies_q ? row_count(a) : column_count(a); }
RICCI_FUNCTION long long solution_rows(const arguments& a) { return solves ? column_count(a) : row_count(a); }

/// The interchange that comes after `step` others.
RICCI_FUNCTION constexpr long long interchange_at(long long step, long long count) {
    return permutes_last ? count - 1 - step : step;
}
/// The row of an interchange. (There is tau in the pivots' place, and nobody asks, where there are none.)
template <class T> RICCI_FUNCTION int row_of(T pivot) {
    if constexpr (real_part<T>::is_complex) return 0;
    else return static_cast<int>(pivot);
}

template <class R> RICCI_FUNCTION R largest_part(R x) { return real_abs(x); }
template <class R> RICCI_FUNCTION R largest_part(complex<R> x) {
    return real_abs(x.re) > real_abs(x.im) ? real_abs(x.re) : real_abs(x.im);
}
/// A diagonal element as what x is multiplied by. Its reciprocal may be too large or too small to be a number where
/// the quotient is one: then it is that of a scaled element, and x is scaled too.
struct divisor {
    element inverse;
    real scale;
};
RICCI_FUNCTION divisor divisor_of(element d) {
    constexpr bool is_float = sizeof(real) == 4;
    constexpr real small = is_float ? 0x1p-110 : 0x1p-1000, large = is_float ? 0x1p110 : 0x1p1000,
                   up = is_float ? 0x1p60 : 0x1p200, down = is_float ? 0x1p-60 : 0x1p-200;
    const real size = largest_part(d), scale = size < small ? up : size > large ? down : real(1);
    return {from_real<element>(1, 0) / scaled(d, scale), scale};
}
RICCI_FUNCTION element quotient(element x, const divisor& d) { return scaled(x, d.scale) * d.inverse; }
