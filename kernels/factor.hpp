// factor: what all kernels of batched factorizations, and of solves with them, share.
//
// The prelude gives, as constants:
//   compute_type         2 to 5: of the matrices and right-hand sides, and of tau
//   method               lowering::matrix_method: 0 Cholesky, 1 LU, 2 LU without pivoting, 3 QR; and with factors that
//                        are there 4 triangular, 5 Q, 6 its conjugate transpose, 7 the columns of Q
//   rows, columns        m and n of the matrices, or `argument`
//   right_sides          r, columns that are solved for or multiplied; 0: none; or `argument`
//   conjugated           the conjugate of the matrix in memory is meant
//   keeps_factors        the matrix becomes its factors
//   upper, unit          of a triangular matrix
//   of_adjoint           of LU's factors that are there: the equations are those of the conjugate transpose
//   smallest_norm        QR that solves: the equations are those of the matrix's conjugate transpose, A^H X = B, of
//                        which X = Q R^-H B is the smallest solution: `columns` equations, `rows` unknowns, no fewer
//   vector_type, info_type   6 or 7: integers of 4 or 8 bytes, of pivots (compute_type of tau) and of info
//   has_role[7]          which of the operands there are, in the order of lowering::matrix_role: 0 the matrix, 1 pivots
//                        or tau, 2 info, 3 right-hand sides (else those of the identity), 4 solutions, 5 log |det|,
//                        6 det/|det|
//   matrix_step[7][2]    elements from one row to the next, and from one column (right-hand side) to the next, of each;
//                        of a vector the first; or `argument`
//   batch_axes           axes of the batch, the first fastest
//
// Numbers are LAPACK's: info is 0, or one more than the number of the first pivot that is exactly zero (LU, triangular),
// of the first column whose leading minor is not positive or no number (Cholesky). Pivots count from 0: row k was exchanged
// with row pivot[k] >= k; the largest |re| + |im| is taken, the first of equal ones. LU goes on behind a zero pivot, whose
// column is not divided. Where info is not 0 solutions are NaN, and determinants too, or, with exchanges, 0.
#pragma once

#include "matrix_methods.hpp"
#include "scalar.hpp"

using element = type_of<compute_type>::type;
using real = real_part<element>::type;
constexpr bool is_complex = real_part<element>::is_complex;

constexpr bool is_lu = method == lu_method || method == lu_unpivoted_method;
constexpr bool has_sides = right_sides != 0;
/// Where info is not 0 LU with exchanges tells of a determinant that is 0; Cholesky and LU without them do not tell
/// singular matrices from those that they cannot factor.
constexpr bool info_tells_of_singular = method == lu_method;

/// The element type of an operand.
template <int Role> struct role_element { using type = element; };
template <> struct role_element<vector_role> {
    using type = typename type_of<method == lu_method ? vector_type : compute_type>::type;
};
template <> struct role_element<info_role> { using type = typename type_of<info_type>::type; };
template <> struct role_element<log_abs_role> { using type = real; };

/// How far apart a step's elements are, whatever its sign: one that is an argument holds the batch's extent, so that
/// it is a long one.
RICCI_FUNCTION constexpr long long length_of_step(long long step) {
    return step == argument ? -(argument + 1) : step < 0 ? -step : step;
}

struct arguments {
    void* data[role_count]; ///< element (0, 0) of the batch's first
    void* workspace;        ///< the step's own memory, where its kernel wants some
    long long matrices;     ///< the batch's extents multiplied
    long long row_count, column_count, side_count; ///< rows, columns, right_sides
    long long step[role_count][2];                 ///< matrix_step
    long long batch_length[at_least_one(batch_axes)];
    long long batch_step[role_count][at_least_one(batch_axes)]; ///< elements
};

/// matrix_step, or what is given where that is an argument.
template <int Role, int Axis> RICCI_FUNCTION long long step_of(long long given) {
    return matrix_step[Role][Axis] == argument ? given : matrix_step[Role][Axis];
}
/// Elements from a matrix's first to the one at (i, j).
template <int Role> RICCI_FUNCTION long long offset_of(const arguments& a, long long i, long long j) {
    return i * step_of<Role, 0>(a.step[Role][0]) + j * step_of<Role, 1>(a.step[Role][1]);
}

/// An operand's first element in matrix number `at` of the batch.
template <int Role>
RICCI_FUNCTION typename role_element<Role>::type* operand_of(const arguments& a, long long at) {
    auto* p = static_cast<typename role_element<Role>::type*>(a.data[Role]);
    if constexpr (batch_axes == 1) {
        return p + at * a.batch_step[Role][0];
    } else {
        for (int b = 0; b < batch_axes; ++b) {
            const long long length = a.batch_length[b], next = at / length;
            p += (at - next * length) * a.batch_step[Role][b];
            at = next;
        }
        return p;
    }
}

/// |re| + |im|, by which BLAS's iamax finds the largest.
template <class T> RICCI_FUNCTION auto size_of_pivot(T x) {
    if constexpr (real_part<T>::is_complex) return real_abs(x.re) + real_abs(x.im);
    else return real_abs(x);
}

/// What the matrix in memory stands for, and back.
RICCI_FUNCTION element as_meant(element x) { return conjugated ? conjugate(x) : x; }
