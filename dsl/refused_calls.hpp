// refused_calls: calls of factorizations and solves whose arguments no routine takes, refused by name.
//
// Each routine has one more overload here, for arguments of any number and type among which there are an index or a
// matrix of the notation; those of linalg.hpp are more specialized, so that it is met only where none of them fits.
// Without it the compiler would list all of them and say of each why it does not.
#pragma once

#include "dsl/access.hpp"
#include "dsl/call_mistakes.hpp"
#include "dsl/call_options.hpp"
#include "dsl/index.hpp"
#include "dsl/matrix_capture.hpp"

#include "lowering/statement.hpp"

#include <array>
#include <concepts>
#include <cstddef>

namespace ricci::dsl {

/// An argument that only a call has: an index, or an access with two of them, which no number is asked of.
template <class X>
constexpr bool is_of_a_call = linear<X>;
template <scalar_type Type, bool Writable, class Shape, class... P>
constexpr bool is_of_a_call<access<Type, Writable, Shape, P...>> =
    names_of<typename access<Type, Writable, Shape, P...>::occurrences>::type::count > 1;

enum class argument_kind { numbers, integers, option, other };
template <class X>
constexpr argument_kind kind_of = expression<X>      ? argument_kind::numbers
                                  : integer_table<X> ? argument_kind::integers
                                  : is_tag<X>        ? argument_kind::option
                                                     : argument_kind::other;

enum class call_mistake { lacks_operand, too_many, options_first, pivots_of_numbers, integers_for_numbers };

/// What is wrong with the arguments behind the indices, which are operands or options.
template <std::size_t N>
constexpr call_mistake mistake_in(routine what, const std::array<argument_kind, N>& kinds) {
    using enum argument_kind;
    const auto at = [&](std::size_t n) { return n < N ? kinds.data()[n] : other; };
    const bool has_vector = what == routine::lu_solve || what >= routine::qr_solve; // before what is solved for
    if (what == routine::lu) return call_mistake::pivots_of_numbers;
    if (what == routine::form_q && N > 2) return call_mistake::too_many;
    bool begun = false; // of the options: anything but numbers, where these are still to come
    for (std::size_t n = 0; n < N; ++n) {
        if (begun && at(n) == numbers) return call_mistake::options_first;
        begun = begun || at(n) == option || (at(n) == integers && !(has_vector && n == 0));
    }
    const std::size_t first = what == routine::lu_solve && at(0) == integers ? 1 : 0;
    if (at(first) == integers || (has_vector && what != routine::lu_solve && at(1) == integers))
        return call_mistake::integers_for_numbers;
    return call_mistake::lacks_operand;
}

/// All but an option of another routine.
template <routine What, class X>
constexpr bool is_taken = true;
template <routine What, lowering::call_option Option>
constexpr bool is_taken<What, option_tag<Option>> = lowering::takes_option(What, Option);

template <routine What, scalar_type Matrix, class... More>
constexpr void refuse_arguments() {
    constexpr call_mistake mistake = mistake_in(What, std::array<argument_kind, sizeof...(More)>{kind_of<More>...});
    constexpr int given = static_cast<int>(sizeof...(More));
    if constexpr (!(may_be_option<More> && ...))
        (check_kind<What, More>(), ...);
    else if constexpr (!(is_taken<What, More> && ...))
        (check_tag<What, More>(), ...);
    else if constexpr (mistake == call_mistake::pivots_of_numbers)
        (void)pivots_are_integers<Matrix>{};
    else if constexpr (mistake == call_mistake::too_many)
        (void)form_q_has_no_more<What, given>{};
    else if constexpr (mistake == call_mistake::options_first)
        (void)options_stand_behind_operands<What, false>{};
    else if constexpr (mistake == call_mistake::integers_for_numbers)
        (void)operand_holds_numbers<What, false>{};
    else
        (void)call_has_its_operands<What, given>{};
}

struct nothing {};

/// Refuses a call that no overload takes, for one mistake.
template <routine What, class Matrix, class Row = nothing, class Column = nothing, class... More>
constexpr void refuse_call() {
    if constexpr (without_indices<Matrix>)
        (void)operands_of_a_call_have_indices<What, Matrix>{};
    else if constexpr (integer_table<Matrix>)
        (void)matrix_has_a_type_that_is_factored<Matrix::type>{};
    else if constexpr (!expression<Matrix>)
        (void)operand_of_a_call_is_an_access<Matrix>{};
    else if constexpr (!std::derived_from<Row, index_tag>)
        (void)rows_and_columns_are_indices<Row>{};
    else if constexpr (!std::derived_from<Column, index_tag>)
        (void)rows_and_columns_are_indices<Column>{};
    else
        refuse_arguments<What, Matrix::type, More...>();
}

/// What a refused call returns, so that its use is not a second mistake.
struct no_result {
    template <class... P>
    no_result operator()(const P&...) const {
        return {};
    }
};
struct no_results_of_two {
    no_result first, second;
};
struct no_results_of_three {
    no_result first, second, third;
};

#define RICCI_REFUSED_CALL(name, result)                                                                             \
    template <class... X>                                                                                            \
    requires(is_of_a_call<X> || ...) result name(const X&...) {                                                      \
        refuse_call<routine::name, X...>();                                                                          \
        return result();                                                                                             \
    }
RICCI_REFUSED_CALL(cholesky, no_result)
RICCI_REFUSED_CALL(lu, no_results_of_two)
RICCI_REFUSED_CALL(qr, no_results_of_two)
RICCI_REFUSED_CALL(solve, no_result)
RICCI_REFUSED_CALL(least_squares, no_result)
RICCI_REFUSED_CALL(inverse, no_result)
RICCI_REFUSED_CALL(log_determinant, no_results_of_three)
RICCI_REFUSED_CALL(triangular_solve, no_result)
RICCI_REFUSED_CALL(cholesky_solve, no_result)
RICCI_REFUSED_CALL(lu_solve, no_result)
RICCI_REFUSED_CALL(qr_solve, no_result)
RICCI_REFUSED_CALL(apply_q, void)
RICCI_REFUSED_CALL(form_q, void)
#undef RICCI_REFUSED_CALL

} // namespace ricci::dsl
