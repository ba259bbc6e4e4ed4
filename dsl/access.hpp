// access: a tensor with an index expression in each position, A(i, k, m(1, 9), 0): a leaf of the right side, or the
// left side.
#pragma once

#include "dsl/checks.hpp"
#include "dsl/element.hpp"
#include "dsl/expr.hpp"
#include "dsl/index.hpp"
#include "dsl/index_set.hpp"
#include "dsl/table.hpp"

#include "lowering/statement.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace ricci::dsl {

// capture.hpp
template <class Left, class Right>
void run_statement(lowering::assignment op, const Left& left, const Right& right);
std::int32_t append_access(lowering::statement& s, const access_parts& parts, const std::int32_t*& label);

/// The occurrences in the positions of an access, or of a table: then positions are numbered from First on.
template <class Shape, int First, class Numbers, class... Positions>
struct occurrences_of;
template <class Shape, int First, int Number, class Position>
struct occurrences_in {
    using type = occurrence_list<>; // of a table: below
};
template <class Shape, int First, int Number, bool Plain, class... Terms>
struct occurrences_in<Shape, First, Number, position<Plain, Terms...>> {
    // After a wrong number of positions has been reported there may be more of them than extents.
    static constexpr std::int64_t extent =
        Plain && Number < Shape::rank ? Shape::values[static_cast<std::size_t>(Number)] : dyn;
    using type = occurrence_list<
        occurrence<typename Terms::name, extent, Plain, Terms::ranged, Terms::coefficient, First + Number>...>;
};
template <class Shape, int First, std::size_t... N, class... Positions>
struct occurrences_of<Shape, First, std::index_sequence<N...>, Positions...> {
    using type =
        typename joined<typename occurrences_in<Shape, First, static_cast<int>(N), Positions>::type...>::type;
};

/// The occurrences in the table that stands in position Number.
template <int Number, class Position>
struct occurrences_in_table {
    using type = occurrence_list<>;
    static constexpr int tables = 0, positions = 0, terms = Position::count;
    static constexpr bool differs = true;
};
template <int Number, scalar_type Type, bool Writable, entries Said, class Shape, class... Positions>
struct occurrences_in_table<Number, table_access<Type, Writable, Said, Shape, Positions...>> {
    using type = typename occurrences_of<Shape, (Number + 1) * lowering::max_axes,
                                         std::make_index_sequence<sizeof...(Positions)>, Positions...>::type;
    static constexpr int tables = 1, positions = sizeof...(Positions), terms = (Positions::count + ... + 0);
    static constexpr bool differs = table_access<Type, Writable, Said, Shape, Positions...>::differs;
};
template <class Numbers, class... Positions>
struct tables_of;
template <std::size_t... N, class... Positions>
struct tables_of<std::index_sequence<N...>, Positions...> {
    using type = typename joined<typename occurrences_in_table<static_cast<int>(N), Positions>::type...>::type;
    static constexpr std::size_t tables = (occurrences_in_table<static_cast<int>(N), Positions>::tables + ... + 0);
    static constexpr std::size_t positions =
        (occurrences_in_table<static_cast<int>(N), Positions>::positions + ... + 0);
    static constexpr std::size_t terms = (occurrences_in_table<static_cast<int>(N), Positions>::terms + ... + 0);
    static constexpr bool differ = (occurrences_in_table<static_cast<int>(N), Positions>::differs && ...);
};

template <scalar_type Type, bool Writable, class Shape, class... Positions>
class access : public expression_tag {
    static constexpr std::size_t rank = sizeof...(Positions);
    using numbers = std::make_index_sequence<rank>;
    using tables = tables_of<numbers, Positions...>;
    static constexpr std::size_t term_count = tables::terms;

  public:
    using occurrences =
        typename joined<typename occurrences_of<Shape, 0, numbers, Positions...>::type, typename tables::type>::type;
    /// Whether the entries of its tables are known to differ.
    static constexpr bool gathers_distinct = tables::differ;
    using value_type = element_t<Type>;
    static constexpr bool is_literal = false;
    static constexpr bool one_element = term_count == 0;
    static constexpr bool one_short_element = one_element && lowering::size_of(Type) == 2;
    static constexpr bool writable = Writable;
    static constexpr scalar_type type = Type;

    access(const lowering::access& header, const std::int64_t* extents, const std::int64_t* strides,
           const Positions&... p)
        : header_(header) {
        header_.position_count = static_cast<std::int32_t>(rank);
        std::size_t r = 0, t = 0, table = 0, behind = rank;
        [[maybe_unused]] const auto put = [&](const auto& position) {
            positions_[r] = {extents[r], strides[r], 0, 0, false, -1};
            if constexpr (std::derived_from<std::remove_cvref_t<decltype(position)>, table_tag>) {
                positions_[r].table = static_cast<int>(table++);
            } else {
                positions_[r].offset = position.offset;
                positions_[r].term_count = static_cast<int>(position.terms.size());
                positions_[r].plain = std::remove_cvref_t<decltype(position)>::plain;
                for (const auto& term : position.terms) terms_[t++] = term;
            }
            ++r;
        };
        (put(p), ...);
        table = 0;
        [[maybe_unused]] const auto put_table = [&](const auto& position) {
            if constexpr (std::derived_from<std::remove_cvref_t<decltype(position)>, table_tag>) {
                tables_[table++] = position.value(static_cast<int>(behind));
                for (const auto& q : position.positions()) positions_[behind++] = q;
                for (const auto& term : position.terms()) terms_[t++] = term;
            }
        };
        (put_table(p), ...);
    }
    access(const access&) = default;

    template <class R>
    void operator=(const R& r) const {
        assign(r);
    }
    template <class R>
    void operator+=(const R& r) const {
        run(lowering::assignment::add, r);
    }
    template <class R>
    void operator-=(const R& r) const {
        run(lowering::assignment::subtract, r);
    }
    void operator=(const access& r) const { assign(r); }

    /// The element, where every position is an integer. Waits for the device. Throws ricci::error where a position
    /// lies outside.
    operator value_type() const requires one_element { return element(); }
    operator float() const requires one_short_element { return element(); }
    /// Otherwise the sum over every index.
    template <class Result>
    requires sums_to<access, Result>
    operator Result() const { return read_sum<Result>(*this); }
    explicit operator bool() const requires(!one_element) {
        (void)comparison_is_of_numbers<access>{};
        return false;
    }

    std::int32_t device() const { return header_.device; }
    std::int32_t append(lowering::statement& s, const std::int32_t*& label) const {
        const auto number = append_access(s, parts(), label);
        return s.add(operation::access, number);
    }
    /// The same without a node: access 0 of a statement is its left side.
    void append_left(lowering::statement& s, const std::int32_t*& label) const { append_access(s, parts(), label); }

  private:
    access_parts parts() const {
        return {header_, positions_.data(), tables_.data(), static_cast<int>(tables::tables), terms_.data()};
    }

    template <class R>
    void assign(const R& r) const {
        if constexpr (Writable) (void)gathered_left_is_distinct<gathers_distinct>{};
        run(lowering::assignment::assign, r);
    }
    template <class R>
    void run(lowering::assignment op, const R& r) const {
        if constexpr (operand<R>)
            run_statement(op, *this, as_expression(r));
        else if constexpr (std::derived_from<R, table_tag>)
            (void)tables_stand_alone_in_positions<R>{};
        else if constexpr (is_tensor_of_integers<R>)
            (void)call_is_not_assigned<R>{};
        else
            (void)right_side_is_an_expression<R>{};
    }

    value_type element() const {
        value_type value{};
        read_element(&value, parts());
        return value;
    }

    lowering::access header_;
    std::array<position_value, rank + tables::positions> positions_;
    std::array<table_value, tables::tables> tables_;
    std::array<term_value, term_count> terms_;
};

/// Any number of positions; the wrong number is refused here.
template <scalar_type Type, bool Writable, class Shape, class... P>
auto make_access(const lowering::access& header, const std::int64_t* extents, const std::int64_t* strides,
                 const P&... p) {
    (void)rank_of_the_tensor_is<sizeof...(P), Shape::rank>{};
    return access<Type, Writable, Shape, std::remove_cvref_t<decltype(as_position(p))>...>(header, extents, strides,
                                                                                           as_position(p)...);
}

} // namespace ricci::dsl
