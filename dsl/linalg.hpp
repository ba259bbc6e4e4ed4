// linalg: factorizations of the matrices of a batch and solves with them, in the notation of statements.
//
//     auto info = cholesky(A(i, j, e), i, j);         // for every e; the lower triangle becomes L
//     auto [piv, info] = lu(A(i, j, e), i, j);
//     auto [tau, info] = qr(A(i, j, e), i, j);
//     auto info = solve(A(i, j, e), i, j, X(j, r, e));  // X holds the right-hand sides, then the solutions
//
// Any two indices are the matrix, all others of it count the batch. Sides and transposes are a matter of indices:
// A(j, i, e) with rows i and columns j is the transpose, X(r, j, e) holds its right-hand sides in rows. info has
// LAPACK's meaning and is one integer for each matrix: it is returned in a tensor made for it, or written where
// info(e) is given.
#pragma once

#include "dsl/call_mistakes.hpp"
#include "dsl/call_options.hpp"
#include "dsl/matrix_capture.hpp"
#include "dsl/refused_calls.hpp"

#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ricci {

/// What lu returns: row k was exchanged with row pivots(k, ...), counted from 0, k = 0, 1, ... in this order.
template <class Pivots, class Info>
struct lu_result {
    Pivots pivots;
    Info info;
};
/// What qr returns: tau(k, ...) of the reflectors H = I - tau v v^H.
template <class Tau, class Info>
struct qr_result {
    Tau tau;
    Info info;
};
/// What log_determinant returns: log |det| and det/|det|; -infinity and 0 of a singular matrix; NaN where info of
/// positive_definite or unpivoted is not 0, which do not tell singular matrices from those that they cannot factor.
template <class LogAbs, class Sign, class Info>
struct log_determinant_result {
    LogAbs log_abs;
    Sign sign;
    Info info;
};

namespace dsl {

/// The operands among the options behind a call's own: expressions are given right-hand sides, tables of integers
/// info.
template <class First, class... More>
constexpr auto operands_among(const First& first, const More&... more);
constexpr auto operands_among() { return std::tuple<>(); }
template <class First, class... More>
constexpr auto operands_among(const First& first, const More&... more) {
    if constexpr (is_tag<First>) {
        return operands_among(more...);
    } else if constexpr (integer_table<First>) {
        return std::tuple_cat(std::tuple(in_role<matrix_role::info, First>{first}), operands_among(more...));
    } else if constexpr (expression<First>) {
        return std::tuple_cat(std::tuple(in_role<matrix_role::given, First>{first}), operands_among(more...));
    } else {
        return operands_among(more...); // check_options has refused it
    }
}

template <class... Options>
constexpr bool gives_info = (integer_table<Options> || ...);

template <routine What, class Matrix, class Row, class Column, class... In>
auto capture_call(const Matrix& matrix, const Row&, const Column&, const In&... in) {
    return matrix_capture<What, Matrix, Row, Column, In...>(matrix, in...);
}

/// A call with its own operands, those among the options, and what these say.
template <routine What, class Matrix, class Row, class Column, class Own, class... Options>
auto capture_with_options(const Matrix& matrix, const Row& row, const Column& column, const Own& own,
                          const Options&... options) {
    check_options<What, Options...>();
    auto call = std::apply([&](const auto&... in) { return capture_call<What>(matrix, row, column, in...); },
                           std::tuple_cat(own, operands_among(options...)));
    [[maybe_unused]] const auto set = [&](const auto& option) {
        using tag = std::remove_cvref_t<decltype(option)>;
        if constexpr (is_tag<tag>) lowering::set_option(call.call(), tag::option);
    };
    (set(options), ...);
    return call;
}

/// Runs a call whose operands are given but for info, which it returns in a tensor where no option says where it
/// goes.
template <routine What, class Matrix, class Row, class Column, class Own, class... Options>
auto run_call(const Matrix& matrix, const Row& row, const Column& column, const Own& own, const Options&... options) {
    auto call = capture_with_options<What>(matrix, row, column, own, options...);
    if constexpr (What == routine::inverse)
        if (call.call().of(matrix_role::solution) < 0) call.solve_into_matrix();
    if constexpr (gives_info<Options...>) {
        call.run();
    } else {
        auto info = call.template make<std::int32_t>(matrix_role::info);
        call.run();
        return info;
    }
}

template <matrix_role Role, class X>
constexpr auto as_role(const X& x) {
    return std::tuple(in_role<Role, X>{x});
}

/// A = L L^H of each matrix that two indices of A are (LAPACK's potrf): the lower triangle becomes L, what lies above
/// the diagonal is neither read nor written. Positions A(j, i) for rows i and columns j give the upper triangle
/// instead. info: 0, or k where the leading minor of order k is not positive; then L is not complete. An option:
/// info(e).
template <expression Matrix, class Row, class Column, class... Options>
auto cholesky(const Matrix& a, const Row& row, const Column& column, const Options&... options) {
    return run_call<routine::cholesky>(a, row, column, std::tuple<>(), options...);
}

/// P A = L U of each m x n matrix with partial pivoting (getrf): U with the diagonal and, below it, L without its
/// ones. Returns pivots and info: 0, or k where U(k, k), from 1, is exactly zero. With `unpivoted` rows stay where
/// they are, and info alone is returned.
template <expression Matrix, class Row, class Column>
auto lu(const Matrix& a, const Row& row, const Column& column) {
    auto call = capture_call<routine::lu>(a, row, column);
    auto pivots = call.template make_vector<std::int32_t>();
    auto info = call.template make<std::int32_t>(matrix_role::info);
    call.run();
    return lu_result<decltype(pivots), decltype(info)>{std::move(pivots), std::move(info)};
}
template <expression Matrix, class Row, class Column, class... Options>
auto lu(const Matrix& a, const Row& row, const Column& column, unpivoted_t, const Options&... options) {
    return run_call<routine::lu>(a, row, column, std::tuple<>(), unpivoted, options...);
}
/// The same with pivots(k, e) given, of integers of 4 or 8 bytes, min(m, n) of them, and perhaps info(e).
template <expression Matrix, class Row, class Column, integer_table Pivots, class... Options>
auto lu(const Matrix& a, const Row& row, const Column& column, const Pivots& pivots, const Options&... options) {
    (void)pivots_are_of_a_pivoted_lu<(!std::same_as<Options, unpivoted_t> && ...)>{};
    return run_call<routine::lu>(a, row, column, as_role<matrix_role::vector>(pivots), options...);
}

/// A = Q R of each m x n matrix by Householder's reflectors (geqrf): R with the diagonal, and below it the
/// reflectors' vectors without their first ones. Returns tau, min(m, n) long, and info, which is 0.
template <expression Matrix, class Row, class Column>
auto qr(const Matrix& a, const Row& row, const Column& column) {
    auto call = capture_call<routine::qr>(a, row, column);
    auto tau = call.template make_vector<element_t<Matrix::type>>();
    auto info = call.template make<std::int32_t>(matrix_role::info);
    call.run();
    return qr_result<decltype(tau), decltype(info)>{std::move(tau), std::move(info)};
}
/// The same with tau(k, e) given, and perhaps info(e).
template <expression Matrix, class Row, class Column, expression Tau, class... Options>
auto qr(const Matrix& a, const Row& row, const Column& column, const Tau& tau, const Options&... options) {
    return run_call<routine::qr>(a, row, column, as_role<matrix_role::vector>(tau), options...);
}

/// X = A^-1 B for each square matrix, by LU with partial pivoting (gesv), `unpivoted`, or Cholesky
/// (`positive_definite`, posv). X has index j; B is an option, B(i, r, e), else X holds it before. A is not changed.
/// Indices of X that A lacks count right-hand sides. info is that of the factorization; where it is not 0, X is NaN.
template <expression Matrix, class Row, class Column, expression X, class... Options>
auto solve(const Matrix& a, const Row& row, const Column& column, const X& x, const Options&... options) {
    return run_call<routine::solve>(a, row, column, as_role<matrix_role::solution>(x), options...);
}

/// The X that makes |A X - B| smallest, for each m x n matrix of full rank, by QR (gels); with fewer rows than
/// columns the smallest X of those that solve A X = B, by the QR of A^H. B(i, r, e) is an option; without it A is
/// square. B and X may begin at the same memory. info: k where R(k, k), from 1, is exactly zero; X is NaN then.
template <expression Matrix, class Row, class Column, expression X, class... Options>
auto least_squares(const Matrix& a, const Row& row, const Column& column, const X& x, const Options&... options) {
    return run_call<routine::least_squares>(a, row, column, as_role<matrix_role::solution>(x), options...);
}

/// The inverse of each square matrix, in place or, inverse(A(i, j, e), i, j, Y(j, i, e)), in another tensor. NaN
/// where info is not 0.
template <expression Matrix, class Row, class Column>
auto inverse(const Matrix& a, const Row& row, const Column& column) {
    return run_call<routine::inverse>(a, row, column, std::tuple<>());
}
template <expression Matrix, class Row, class Column, class First, class... Options>
requires(!expression<First>) auto inverse(const Matrix& a, const Row& row, const Column& column, const First& first,
                                          const Options&... options) {
    return run_call<routine::inverse>(a, row, column, std::tuple<>(), first, options...);
}
template <expression Matrix, class Row, class Column, expression Y, class... Options>
auto inverse(const Matrix& a, const Row& row, const Column& column, const Y& y, const Options&... options) {
    return run_call<routine::inverse>(a, row, column, as_role<matrix_role::solution>(y), options...);
}

/// log |det A| and det A / |det A| of each square matrix, which is not changed.
template <expression Matrix, class Row, class Column, class... Tags>
auto log_determinant(const Matrix& a, const Row& row, const Column& column, const Tags&... tags) {
    auto call = capture_with_options<routine::log_determinant>(a, row, column, std::tuple<>(), tags...);
    auto log_abs = call.template make<element_t<lowering::real_of(Matrix::type)>>(matrix_role::log_abs);
    auto sign = call.template make<element_t<Matrix::type>>(matrix_role::sign);
    auto info = call.template make<std::int32_t>(matrix_role::info);
    call.run();
    return log_determinant_result<decltype(log_abs), decltype(sign), decltype(info)>{
        std::move(log_abs), std::move(sign), std::move(info)};
}

/// X = T^-1 B for each triangular matrix, `lower` or `upper`, perhaps with a `unit_diagonal` (trtrs, trsm). The other
/// triangle is not read. info: k where T(k, k), from 1, is exactly zero; X is NaN then.
template <expression Matrix, class Row, class Column, expression X, class... Options>
auto triangular_solve(const Matrix& t, const Row& row, const Column& column, const X& x, const Options&... options) {
    return run_call<routine::triangular_solve>(t, row, column, as_role<matrix_role::solution>(x), options...);
}

/// X = A^-1 B with what cholesky left (potrs).
template <expression Matrix, class Row, class Column, expression X, class... Options>
auto cholesky_solve(const Matrix& l, const Row& row, const Column& column, const X& x, const Options&... options) {
    return run_call<routine::cholesky_solve>(l, row, column, as_role<matrix_role::solution>(x), options...);
}

/// X = A^-1 B with what lu left (getrs), pivots(k, e) and all; or with what an unpivoted lu left, and unpivoted. With
/// `adjoint` X = A^-H B, where X has index i, and B, if it is given, j; of conj(A) that is the transpose.
template <expression Matrix, class Row, class Column, integer_table Pivots, expression X, class... Options>
auto lu_solve(const Matrix& a, const Row& row, const Column& column, const Pivots& pivots, const X& x,
              const Options&... options) {
    (void)pivots_are_of_a_pivoted_lu<(!std::same_as<Options, unpivoted_t> && ...)>{};
    return run_call<routine::lu_solve>(
        a, row, column, std::tuple_cat(as_role<matrix_role::vector>(pivots), as_role<matrix_role::solution>(x)),
        options...);
}
template <expression Matrix, class Row, class Column, expression X, class... Options>
auto lu_solve(const Matrix& a, const Row& row, const Column& column, const X& x, const Options&... options) {
    (void)pivots_are_given<(std::same_as<Options, unpivoted_t> || ...)>{};
    return run_call<routine::lu_solve>(a, row, column, as_role<matrix_role::solution>(x), options...);
}

/// least_squares with what qr left, tau(k, e) and all.
template <expression Matrix, class Row, class Column, expression Tau, expression X, class... Options>
auto qr_solve(const Matrix& a, const Row& row, const Column& column, const Tau& tau, const X& x,
              const Options&... options) {
    return run_call<routine::qr_solve>(
        a, row, column, std::tuple_cat(as_role<matrix_role::vector>(tau), as_role<matrix_role::solution>(x)),
        options...);
}

/// C = Q B, or with `adjoint` Q^H B, with what qr left of m x n matrices; C(i, r, e) holds B before, or B(i, r, e) is
/// an option (ormqr, unmqr).
template <expression Matrix, class Row, class Column, expression Tau, expression C, class... Options>
void apply_q(const Matrix& a, const Row& row, const Column& column, const Tau& tau, const C& c,
             const Options&... options) {
    capture_with_options<routine::apply_q>(
        a, row, column, std::tuple_cat(as_role<matrix_role::vector>(tau), as_role<matrix_role::solution>(c)),
        options...)
        .run();
}

/// The first columns of Q, as many as Q(i, l, e) has, with what qr left (orgqr, ungqr).
template <expression Matrix, class Row, class Column, expression Tau, expression Q>
void form_q(const Matrix& a, const Row& row, const Column& column, const Tau& tau, const Q& q) {
    capture_call<routine::form_q>(a, row, column, in_role<matrix_role::vector, Tau>{tau},
                                  in_role<matrix_role::solution, Q>{q})
        .run();
}

} // namespace dsl

using dsl::apply_q;
using dsl::cholesky;
using dsl::cholesky_solve;
using dsl::form_q;
using dsl::inverse;
using dsl::least_squares;
using dsl::log_determinant;
using dsl::lu;
using dsl::lu_solve;
using dsl::qr;
using dsl::qr_solve;
using dsl::solve;
using dsl::triangular_solve;

} // namespace ricci
