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
    bool adjoint = false;               ///< apply_q, lu_solve: by, or with, the conjugate transpose
    /// By role, the number of an access; -1: none. That of the matrix is 0.
    std::array<std::int32_t, matrix_roles> access{-1, -1, -1, -1, -1, -1, -1};
    /// By role, whether the user did not say the operand: a tensor made for the call, or the matrix once more as what
    /// is solved for. It is not printed.
    std::array<bool, matrix_roles> implied{};

    std::int32_t of(matrix_role r) const { return access[static_cast<std::size_t>(r)]; }
    std::int32_t& of(matrix_role r) { return access[static_cast<std::size_t>(r)]; }
    bool is_said(matrix_role r) const { return of(r) >= 0 && !implied[static_cast<std::size_t>(r)]; }
    /// Access `number` is the operand in a role, which the user did not say.
    void imply(matrix_role r, std::int32_t number) { of(r) = number, implied[static_cast<std::size_t>(r)] = true; }
};

/// What a call may say beside its operands.
enum class call_option : std::uint8_t { unpivoted, positive_definite, lower, upper, unit_diagonal, adjoint };
inline constexpr std::size_t call_options = 6;

constexpr std::string_view name_of(call_option o) {
    constexpr std::string_view names[] = {"unpivoted", "positive_definite", "lower",
                                          "upper",     "unit_diagonal",     "adjoint"};
    return names[static_cast<std::size_t>(o)];
}

/// Which options a routine has; C++ and the text ask here.
constexpr bool takes_option(routine r, call_option o) {
    switch (o) {
    case call_option::unpivoted:
        return r == routine::lu || r == routine::lu_solve || r == routine::solve || r == routine::inverse ||
               r == routine::log_determinant;
    case call_option::positive_definite:
        return r == routine::solve || r == routine::inverse || r == routine::log_determinant;
    case call_option::adjoint:
        return r == routine::apply_q || r == routine::lu_solve;
    default:
        return r == routine::triangular_solve;
    }
}

/// Of two options one says the other's opposite, or the same.
constexpr bool exclude_each_other(call_option a, call_option b) {
    const auto choice = [](call_option o) {
        return o == call_option::positive_definite ? call_option::unpivoted
               : o == call_option::upper           ? call_option::lower
                                                   : o;
    };
    return choice(a) == choice(b);
}

/// Whether right-hand sides may be given apart from the solutions.
constexpr bool takes_given(routine r) {
    return r == routine::solve || r == routine::least_squares ||
           (r >= routine::triangular_solve && r <= routine::apply_q);
}
constexpr bool has_info(routine r) { return r < routine::apply_q; }

constexpr void set_option(matrix_call& c, call_option o) {
    c.unpivoted |= o == call_option::unpivoted;
    c.positive |= o == call_option::positive_definite;
    c.upper |= o == call_option::upper;
    c.unit |= o == call_option::unit_diagonal;
    c.adjoint |= o == call_option::adjoint;
}

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

constexpr bool is_of_q(routine r) { return r == routine::apply_q || r == routine::form_q; }
constexpr bool solves_adjoint(const matrix_call& c) { return c.what == routine::lu_solve && c.adjoint; }
/// Whether what is solved for, or multiplied, has the index of the matrix's rows; else it has that of its columns.
constexpr bool works_on_rows(const matrix_call& c) { return is_of_q(c.what) || solves_adjoint(c); }

/// Whether rows are exchanged by pivots that are there.
constexpr bool reads_pivots(const matrix_call& c) {
    return c.what == routine::lu_solve && c.of(matrix_role::vector) >= 0;
}

} // namespace ricci::lowering
