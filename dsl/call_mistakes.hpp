// call_mistakes: the mistakes that the types of a factorization's or a solve's arguments show. One static_assert
// each, inside a struct whose template arguments name the call, or what is wrong, so that g++ and clang print them.
#pragma once

#include "lowering/statement.hpp"

namespace ricci::dsl {

using lowering::matrix_role;
using lowering::routine;

// ---- of operands

template <class Operand>
struct operand_of_a_call_is_an_access {
    static_assert(
        sizeof(Operand) == 0,
        "an operand of a factorization or a solve is an access, A(i, j, e); the matrix of one that only reads "
        "it may be conj(A(i, j, e)); another expression is computed into a tensor first");
};
template <routine What, class Tensor>
struct operands_of_a_call_have_indices {
    static_assert(sizeof(Tensor) == 0,
                  "the operands of a call stand with their indices, as in solve(A(i, j, e), i, j, X(j, r, e), "
                  "info(e)); of one matrix alone the info is info()");
};
template <class Index>
struct rows_and_columns_are_indices {
    static_assert(sizeof(Index) == 0, "behind the matrix stand the indices of its rows and of its columns, without "
                                      "ranges: cholesky(A(i, j, e), i, j)");
};
template <class Name, bool Stands>
struct index_of_the_matrix_stands_in_it {
    static_assert(Stands, "the index of the matrix's rows or columns does not stand in the matrix");
};
template <bool Different>
struct rows_and_columns_differ {
    static_assert(Different, "the matrix's rows and columns have two different indices");
};
template <lowering::scalar_type Type>
struct matrix_has_a_type_that_is_factored {
    static_assert(!lowering::is_index(Type) && lowering::size_of(Type) > 2,
                  "matrices that are factored or solved with hold float, double or std::complex of these");
};
template <bool Writable>
struct written_operand_is_not_const {
    static_assert(Writable, "the call writes an operand that is const: a const tensor, or a view of const elements");
};
template <lowering::scalar_type Type, lowering::scalar_type Matrix>
struct operands_have_the_matrix_type {
    static_assert(Type == Matrix, "right-hand sides, solutions and tau have the matrix's element type");
};
template <routine What, bool Holds>
struct operand_holds_numbers {
    static_assert(Holds,
                  "integers stand where this call takes numbers of the matrix's element type, X, tau or Q: only "
                  "pivots and info are integers");
};
template <lowering::scalar_type Type>
struct pivots_are_integers {
    static_assert(lowering::is_index(Type), "pivots are integers: pivots(k, e) of a tensor of int or std::int64_t");
};
template <routine What, int Given>
struct call_has_its_operands {
    static_assert(Given < 0,
                  "this call lacks an operand: behind the indices solve, least_squares, triangular_solve and "
                  "cholesky_solve take X(j, r, e), lu_solve pivots(k, e) and X, or with ricci::unpivoted X alone, "
                  "qr_solve tau(k, e) and X, apply_q tau(k, e) and C(i, r, e), form_q tau(k, e) and Q(i, l, e)");
};
template <routine What, int Given>
struct form_q_has_no_more {
    static_assert(Given < 0,
                  "form_q takes tau(k, e) and Q(i, l, e), and nothing more: Q^H is apply_q's, with adjoint");
};
template <bool Said>
struct pivots_are_given {
    static_assert(Said,
                  "lu_solve takes the pivots that lu left, lu_solve(A(i, j, e), i, j, pivots(k, e), X(j, r, e)), of "
                  "integers; with the factors of an unpivoted lu it says ricci::unpivoted behind X");
};
template <bool Pivoted>
struct pivots_are_of_a_pivoted_lu {
    static_assert(Pivoted, "pivots are given, and unpivoted is said: an unpivoted LU has none");
};

// ---- of options, and of what may stand among them

template <class Option>
struct option_of_a_call_is_known {
    static_assert(sizeof(Option) == 0,
                  "not an option of this call; there are given right-hand sides B(i, r, e), info(e) of a tensor of "
                  "integers, and unpivoted, positive_definite, upper, lower, unit_diagonal, adjoint");
};
template <routine What, lowering::call_option Option>
struct option_belongs_to_the_call {
    static_assert(lowering::takes_option(What, Option),
                  "this call has no such option: unpivoted is one of lu, lu_solve, solve, inverse and "
                  "log_determinant, positive_definite of solve, inverse and log_determinant, lower, upper and "
                  "unit_diagonal of triangular_solve, adjoint of apply_q and lu_solve");
};
template <routine What, bool Behind>
struct options_stand_behind_operands {
    static_assert(Behind, "options and info stand behind the operands of a call: solve(A(i, j, e), i, j, X(j, r, e), "
                          "info(e), ricci::unpivoted)");
};
template <routine What, bool Once>
struct options_do_not_exclude_each_other {
    static_assert(Once, "two options of this call say the same or the opposite: it has one of unpivoted and "
                        "positive_definite, one of lower and upper, and each option once");
};
template <bool Said>
struct triangle_is_said {
    static_assert(Said, "triangular_solve wants to know which triangle is meant: ricci::lower or ricci::upper");
};
template <routine What, bool Takes>
struct call_takes_right_hand_sides {
    static_assert(Takes, "this call takes no right-hand sides, for which it takes an access to numbers: solve and "
                         "least_squares do, and what solves with factors that are there; an info is of integers");
};
template <routine What, bool Has>
struct call_has_an_info {
    static_assert(Has, "this call writes no info that is given: apply_q has none, log_determinant returns its own");
};
template <routine What, int Given, int Infos>
struct operands_are_given_once {
    static_assert(Given < 2 && Infos < 2, "right-hand sides or an info are given twice in one call");
};

} // namespace ricci::dsl
