// call_options: what may be said of a factorization or a solve behind its operands.
#pragma once

#include "dsl/call_mistakes.hpp"
#include "dsl/expr.hpp"
#include "dsl/operand.hpp"
#include "dsl/table.hpp"

#include "lowering/statement.hpp"

#include <concepts>
#include <type_traits>

namespace ricci {

namespace dsl {
template <lowering::call_option Option>
struct option_tag {
    static constexpr auto option = Option;
};
} // namespace dsl

using unpivoted_t = dsl::option_tag<lowering::call_option::unpivoted>;
using positive_definite_t = dsl::option_tag<lowering::call_option::positive_definite>;
using upper_t = dsl::option_tag<lowering::call_option::upper>;
using lower_t = dsl::option_tag<lowering::call_option::lower>;
using unit_diagonal_t = dsl::option_tag<lowering::call_option::unit_diagonal>;
using adjoint_t = dsl::option_tag<lowering::call_option::adjoint>;
/// lu, solve, inverse, log_determinant: rows are not exchanged. lu_solve: the factors are of such.
inline constexpr unpivoted_t unpivoted{};
/// solve, inverse, log_determinant: the matrix is Hermitian positive definite; of it the lower triangle is read.
inline constexpr positive_definite_t positive_definite{};
/// triangular_solve: which triangle; the diagonal is taken as ones, and not read.
inline constexpr upper_t upper{};
inline constexpr lower_t lower{};
inline constexpr unit_diagonal_t unit_diagonal{};
/// apply_q: multiplies by the conjugate transpose of Q. lu_solve: solves with that of the matrix.
inline constexpr adjoint_t adjoint{};

namespace dsl {

template <class X>
concept integer_table = std::derived_from<X, table_tag>;

template <class X>
constexpr bool is_tag = false;
template <lowering::call_option Option>
constexpr bool is_tag<option_tag<Option>> = true;

/// What may stand among a call's options.
template <class X>
constexpr bool may_be_option = is_tag<X> || integer_table<X> || expression<X>;

/// How many of the options say what O says, or its opposite.
template <lowering::call_option O, class... Options>
constexpr int count_choice() {
    [[maybe_unused]] const auto same = []<class X>(std::type_identity<X>) {
        if constexpr (is_tag<X>)
            return lowering::exclude_each_other(X::option, O) ? 1 : 0;
        else
            return 0;
    };
    return (0 + ... + same(std::type_identity<Options>{}));
}

template <routine What, class Tag>
constexpr void check_tag() {
    if constexpr (is_tag<Tag>) (void)option_belongs_to_the_call<What, Tag::option>{};
}
template <routine What, class X>
constexpr void check_kind() {
    if constexpr (without_indices<X>)
        (void)operands_of_a_call_have_indices<What, X>{};
    else if constexpr (!may_be_option<X>)
        (void)option_of_a_call_is_known<X>{};
}

/// One message for what is wrong with a call's options, before they are used.
template <routine What, class... Options>
constexpr void check_options() {
    using enum lowering::call_option;
    if constexpr (!(may_be_option<Options> && ...)) {
        (check_kind<What, Options>(), ...);
    } else {
        constexpr int sides = (0 + ... + (expression<Options> ? 1 : 0)),
                      infos = (0 + ... + (integer_table<Options> ? 1 : 0));
        (check_tag<What, Options>(), ...);
        (void)options_do_not_exclude_each_other<
            What, count_choice<unpivoted, Options...>() < 2 && count_choice<lower, Options...>() < 2 &&
                      count_choice<unit_diagonal, Options...>() < 2 && count_choice<adjoint, Options...>() < 2>{};
        if constexpr (What == routine::triangular_solve)
            (void)triangle_is_said<(count_choice<lower, Options...>() > 0)>{};
        if constexpr (sides > 0) (void)call_takes_right_hand_sides<What, lowering::takes_given(What)>{};
        if constexpr (infos > 0)
            (void)call_has_an_info<What, lowering::has_info(What) && What != routine::log_determinant>{};
        (void)operands_are_given_once<What, sides, infos>{};
    }
}

} // namespace dsl
} // namespace ricci
