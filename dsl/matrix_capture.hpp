// matrix_capture: a call of a factorization or a solve becomes a lowering::statement.
//
// Operands are accesses as in any statement. Two indices of the matrix are its rows' and its columns', those of the
// others that the matrix has too count the batch. What a call returns are tensors made for it, indexed by the batch's
// indices in the order in which the matrix has them.
#pragma once

#include "dsl/access.hpp"
#include "dsl/call_mistakes.hpp"
#include "dsl/capture.hpp"
#include "dsl/checks.hpp"
#include "dsl/expr.hpp"
#include "dsl/index_set.hpp"
#include "dsl/tensor.hpp"

#include "lowering/statement.hpp"
#include "runtime/device.hpp"
#include "runtime/run.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ricci::dsl {

template <class X>
inline constexpr bool is_access = false;
template <scalar_type Type, bool Writable, class Shape, class... P>
inline constexpr bool is_access<access<Type, Writable, Shape, P...>> = true;
template <class X>
inline constexpr bool is_conjugate = false;
template <class X>
inline constexpr bool is_conjugate<unary<operation::conjugate, X>> = is_access<X>;
/// Of an access, or the conjugate of one.
template <class X>
inline constexpr bool is_writable = false;
template <scalar_type Type, bool Writable, class Shape, class... P>
inline constexpr bool is_writable<access<Type, Writable, Shape, P...>> = Writable;
template <class X>
inline constexpr bool is_writable<unary<operation::conjugate, X>> = is_writable<X>;

template <class Index>
struct name_of_index {
    using type = index_name<'?'>;
    static constexpr bool valid = false;
};
template <std::derived_from<index_tag> Index>
struct name_of_index<Index> {
    using type = typename Index::name;
    static constexpr bool valid = true;
};

template <class X>
struct occurrences_in_operand {
    using type = typename X::occurrences;
};
template <scalar_type Type, bool Writable, entries Said, class Shape, class... P>
struct occurrences_in_operand<table_access<Type, Writable, Said, Shape, P...>> {
    using type = typename occurrences_in_table<-1, table_access<Type, Writable, Said, Shape, P...>>::type;
};

template <class... Names>
struct distinct_names {
    using type = decltype(names_in(set_of<Names...>));
};
template <class Occurrences>
struct names_of;
template <class... O>
struct names_of<occurrence_list<O...>> : distinct_names<typename O::name...> {};

template <class Names, class Name>
inline constexpr bool has_name = Names::template number_of<Name>() < static_cast<int>(Names::count);

/// An operand and its role. Table: whether it is one of integers.
template <matrix_role Role, class Operand>
struct in_role {
    static constexpr matrix_role role = Role;
    using operand = Operand;
    static constexpr bool is_table = std::derived_from<Operand, table_tag>;
    const Operand& value;
};

/// The indices of access 0 but for two, in its order.
inline std::vector<std::int32_t> batch_labels(const lowering::statement& s, std::int32_t row, std::int32_t column) {
    std::vector<std::int32_t> out;
    for (int p = 0; p < s.accesses[0].position_count; ++p) {
        const auto& position = lowering::position_of(s, s.accesses[0], p);
        for (int t = 0; t < position.term_count; ++t) {
            const auto label = s.terms[static_cast<std::size_t>(position.first_term + t)].label;
            if (label == row || label == column || std::find(out.begin(), out.end(), label) != out.end()) continue;
            out.push_back(label);
        }
    }
    return out;
}

/// One more than the largest value of an index of access 0, and how many values it has; 0, 0 where nothing bounds it,
/// which lowering refuses.
struct label_extent {
    std::int64_t end = 0, count = 0;
};
inline label_extent extent_of_label(const lowering::statement& s, std::int32_t label) {
    const auto& l = s.labels[static_cast<std::size_t>(label)];
    if (l.has_range()) return {std::max<std::int64_t>(l.end, 0), std::max<std::int64_t>(l.end - l.begin, 0)};
    for (const auto& a : s.accesses)
        for (int p = 0; p < a.position_count; ++p) {
            const auto& position = lowering::position_of(s, a, p);
            if (position.term_count != 1 || position.offset != 0) continue;
            const auto& term = s.terms[static_cast<std::size_t>(position.first_term)];
            if (term.label == label && term.coefficient == 1) return {position.extent, position.extent};
        }
    return {};
}

/// Appends a dense tensor that is made for the call, whose axes run along `labels`, and gives its number.
template <class T>
std::int32_t append_made(lowering::statement& s, T& made, const std::vector<std::int32_t>& labels) {
    lowering::access a;
    a.data = made.data();
    a.type = T::type;
    a.device = made.device().code();
    a.first_position = static_cast<std::int32_t>(s.positions.size());
    a.position_count = static_cast<std::int32_t>(labels.size());
    for (std::size_t r = 0; r < labels.size(); ++r) {
        s.positions.push_back(
            {made.extents()[r], made.strides()[r], 0, static_cast<std::int32_t>(s.terms.size()), 1});
        s.terms.push_back({labels[r], 1});
    }
    s.accesses.push_back(a);
    return static_cast<std::int32_t>(s.accesses.size()) - 1;
}

template <class T, class Shape>
struct tensor_of_shape;
template <class T, std::int64_t... Extents>
struct tensor_of_shape<T, shape<Extents...>> {
    using type = tensor<T, Extents...>;
};
/// A tensor whose extents are all given at run time.
template <class T, int Rank>
using run_time_tensor = typename tensor_of_shape<T, run_time_shape<Rank>>::type;

/// One call in the making: construct, make results, run.
template <routine What, class Matrix, class Row, class Column, class... Operands>
class matrix_capture {
  public:
    using row_name = typename name_of_index<Row>::type;
    using column_name = typename name_of_index<Column>::type;
    using matrix_occurrences = typename Matrix::occurrences;
    using matrix_names = typename names_of<matrix_occurrences>::type;
    static constexpr bool is_right = (is_access<Matrix> || is_conjugate<Matrix>)&&name_of_index<Row>::valid &&
                                     name_of_index<Column>::valid && has_name<matrix_names, row_name> &&
                                     has_name<matrix_names, column_name> && !std::is_same_v<row_name, column_name>;
    static constexpr int batch_rank = is_right ? static_cast<int>(matrix_names::count) - 2 : 0;
    static constexpr scalar_type type = Matrix::type;

    explicit matrix_capture(const Matrix& matrix, const Operands&... operands) : s_(empty_statement()) {
        check();
        if constexpr (is_right) {
            s_.call.what = What;
            append_labels(s_, indices::names::views.data(), indices::names::count);
            const std::int32_t* label = indices::numbers.data();
            if constexpr (is_conjugate<Matrix>) {
                s_.call.conjugated = true;
                matrix.argument().append_left(s_, label);
            } else {
                matrix.append_left(s_, label);
            }
            s_.call.of(matrix_role::matrix) = 0;
            s_.call.row = indices::names::template number_of<row_name>();
            s_.call.column = indices::names::template number_of<column_name>();
            batch_ = batch_labels(s_, s_.call.row, s_.call.column);
            (append(operands, label), ...);
        }
    }

    lowering::matrix_call& call() { return s_.call; }

    /// A zeroed tensor over the batch, in a role.
    template <class T>
    auto make(matrix_role role) {
        return make_over<T, batch_rank>(role, {});
    }
    /// The same with min(m, n) elements for each matrix.
    template <class T>
    auto make_vector() {
        const auto length =
            std::min(extent_of_label(s_, s_.call.row).count, extent_of_label(s_, s_.call.column).count);
        s_.labels.push_back({"step", 0, length});
        return make_over<T, batch_rank + 1>(matrix_role::vector, {static_cast<std::int32_t>(s_.labels.size()) - 1});
    }
    void solve_into_matrix() { lowering::solve_into_matrix(s_); }
    void run() const { runtime::run(s_); }

  private:
    using indices = statement_indices<
        matrix_occurrences,
        typename joined<occurrence_list<>,
                        typename occurrences_in_operand<typename Operands::operand>::type...>::type>;

    static constexpr void check() {
        if constexpr (!is_access<Matrix> && !is_conjugate<Matrix>) {
            (void)operand_of_a_call_is_an_access<Matrix>{};
        } else if constexpr (!name_of_index<Row>::valid) {
            (void)rows_and_columns_are_indices<Row>{};
        } else if constexpr (!name_of_index<Column>::valid) {
            (void)rows_and_columns_are_indices<Column>{};
        } else if constexpr (std::is_same_v<row_name, column_name>) {
            (void)rows_and_columns_differ<!std::is_same_v<row_name, column_name>>{};
        } else if constexpr (!has_name<matrix_names, row_name>) {
            (void)index_of_the_matrix_stands_in_it<row_name, false>{};
        } else if constexpr (!has_name<matrix_names, column_name>) {
            (void)index_of_the_matrix_stands_in_it<column_name, false>{};
        } else {
            check_operands();
        }
    }
    static constexpr void check_operands() {
        (void)matrix_has_a_type_that_is_factored<type>{};
        constexpr bool inverts_in_place =
            What == routine::inverse && !((Operands::role == matrix_role::solution) || ...);
        if constexpr (lowering::factors_in_place(What) && !is_access<Matrix>)
            (void)operand_of_a_call_is_an_access<Matrix>{};
        else if constexpr (lowering::factors_in_place(What) || inverts_in_place)
            (void)written_operand_is_not_const<is_writable<Matrix>>{};
        (check_operand<Operands>(), ...);
        constexpr conflict extents = differing_extents(indices::occurrences, indices::ranged);
        if constexpr (extents.first >= 0) {
            constexpr auto first = indices::occurrences.data()[extents.first];
            constexpr auto second = indices::occurrences.data()[extents.second];
            (void)extents_of_an_index_agree<typename indices::template name<first.label>, first.extent,
                                            second.extent>{};
        } else if constexpr (indices::unbounded >= 0) {
            (void)index_is_bounded<typename indices::template name<indices::unbounded>, false>{};
        }
    }
    template <class In>
    static constexpr void check_operand() {
        using X = typename In::operand;
        if constexpr (!In::is_table && !is_access<X>) {
            (void)operand_of_a_call_is_an_access<X>{};
        } else {
            constexpr lowering::matrix_call what{What};
            if constexpr (!In::is_table) (void)operands_have_the_matrix_type<X::type, type>{};
            if constexpr (lowering::writes_role(what, In::role)) (void)written_operand_is_not_const<X::writable>{};
        }
    }

    template <class In>
    void append(const In& in, const std::int32_t*& label) {
        const auto number = static_cast<std::int32_t>(s_.accesses.size());
        if constexpr (In::is_table)
            append_access(s_, in.value.parts(), label);
        else if constexpr (is_access<typename In::operand>)
            in.value.append_left(s_, label);
        s_.call.of(In::role) = number;
    }

    template <class T, int Rank>
    auto make_over(matrix_role role, std::vector<std::int32_t> labels) {
        labels.insert(labels.end(), batch_.begin(), batch_.end());
        std::array<std::int64_t, static_cast<std::size_t>(Rank)> extents{};
        for (std::size_t r = 0; r < extents.size() && r < labels.size(); ++r)
            extents[r] = extent_of_label(s_, labels[r]).end;
        run_time_tensor<T, Rank> made(extents, ricci::device(s_.accesses.empty() ? 0 : s_.accesses[0].device));
        if (is_right) s_.call.imply(role, append_made(s_, made, labels));
        return made;
    }

    lowering::statement& s_;
    std::vector<std::int32_t> batch_;
};

} // namespace ricci::dsl
