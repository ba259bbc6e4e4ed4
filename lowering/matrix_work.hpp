// matrix_work: what a step does with the matrices of a batch instead of evaluating a tree: a factorization, or a
// solve with one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ricci::lowering {

/// Beside each what LAPACK calls it. From `triangular` on only with factors that are there.
enum class matrix_method : std::uint8_t {
    cholesky,     ///< potrf, potrs: the lower triangle
    lu,           ///< getrf, getrs: rows exchanged
    lu_unpivoted, ///< getrf without
    qr,           ///< geqrf, gels: Householder
    triangular,   ///< trtrs
    apply_q,      ///< ormqr, unmqr
    apply_qh,     ///< the same with the conjugate transpose
    form_q        ///< orgqr, ungqr: the first columns of Q
};

/// factor: of a matrix that is read, with what is solved at once; substitute: with factors.
enum class matrix_task : std::uint8_t { none, factor, substitute };

/// What an operand of such a step is.
enum class matrix_role : std::uint8_t {
    matrix,   ///< m x n, becomes its factors in place where they are kept
    vector,   ///< pivots of LU (integers, from 0), tau of QR: min(m, n) long
    info,     ///< an integer: LAPACK's
    given,    ///< right-hand sides, rows x r
    solution, ///< x r; may be the same memory as `given`
    log_abs,  ///< log |det|, real
    sign      ///< det/|det|
};
inline constexpr std::size_t matrix_roles = 7;

struct matrix_work {
    matrix_task task = matrix_task::none;
    matrix_method method = matrix_method::cholesky;
    bool conjugated = false;          ///< the conjugate of what `matrix` holds is meant
    bool keeps_factors = false;       ///< factor: they are written
    bool upper = false, unit = false; ///< triangular
    /// substitute, LU: the equations are those of the conjugate transpose of what was factored.
    bool adjoint = false;
    /// factor, QR: the equations are those of the matrix's conjugate transpose, n of them with m >= n unknowns, and
    /// the smallest of their solutions is wanted.
    bool smallest_norm = false;
    /// Axes of the step: of the matrix's rows and columns, the right-hand sides, the vector; -1: none.
    std::int32_t row = -1, column = -1, right = -1, along_vector = -1;
    std::int32_t given_row = -1,
                 solution_row = -1; ///< which of them, or others, are the rows of the right-hand sides
    /// By role, the operand; -1: none. Right-hand sides that are not given are the identity's columns.
    std::array<std::int32_t, matrix_roles> operand{-1, -1, -1, -1, -1, -1, -1};

    std::int32_t of(matrix_role r) const { return operand[static_cast<std::size_t>(r)]; }
};

} // namespace ricci::lowering
