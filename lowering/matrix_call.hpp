// matrix_call: what a statement calls instead of assigning: a factorization of the matrices of a batch, or a solve.
#pragma once

#include "lowering/matrix_work.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ricci::lowering {

/// By the name that the language gives it. Those behind log_determinant take factors that are there.
enum class routine : std::uint8_t {
    none,
    cholesky,
    lu,
    qr,
    solve,
    least_squares,
    inverse,
    log_determinant,
    triangular_solve,
    cholesky_solve,
    lu_solve,
    qr_solve,
    apply_q,
    form_q
};

constexpr std::string_view name_of(routine r) {
    constexpr std::string_view names[] = {"",
                                          "cholesky",
                                          "lu",
                                          "qr",
                                          "solve",
                                          "least_squares",
                                          "inverse",
                                          "log_determinant",
                                          "triangular_solve",
                                          "cholesky_solve",
                                          "lu_solve",
                                          "qr_solve",
                                          "apply_q",
                                          "form_q"};
    return names[static_cast<std::size_t>(r)];
}

struct matrix_call {
    routine what = routine::none;
    std::int32_t row = -1, column = -1; ///< labels: of the matrix's rows and columns
    bool conjugated = false;            ///< conj(A(...)) of a matrix that is only read
    bool unpivoted = false;             ///< lu, solve: without exchanging rows
    bool positive = false;              ///< solve: Hermitian positive definite, of which the lower triangle is read
    bool upper = false, unit = false;   ///< triangular_solve
    bool adjoint = false;               ///< apply_q: by the conjugate transpose
    /// By role, the number of an access; -1: none. That of the matrix is 0.
    std::array<std::int32_t, matrix_roles> access{-1, -1, -1, -1, -1, -1, -1};

    std::int32_t of(matrix_role r) const { return access[static_cast<std::size_t>(r)]; }
    std::int32_t& of(matrix_role r) { return access[static_cast<std::size_t>(r)]; }
};

/// Whether a routine factors the matrix in place.
constexpr bool factors_in_place(routine r) { return r == routine::cholesky || r == routine::lu || r == routine::qr; }

/// Whether a call writes its operand in a role, if there is one.
constexpr bool writes_role(const matrix_call& c, matrix_role r) {
    switch (r) {
    case matrix_role::matrix:
        return factors_in_place(c.what);
    case matrix_role::vector:
        return c.what == routine::lu || c.what == routine::qr;
    case matrix_role::given:
        return false;
    default:
        return true;
    }
}

} // namespace ricci::lowering
