// access: a tensor with an index expression in each position, A(i, k, m(1, 9), 0): a leaf of the right side, or the
// left side.
#pragma once

#include "dsl/checks.hpp"
#include "dsl/element.hpp"
#include "dsl/expr.hpp"
#include "dsl/index.hpp"
#include "dsl/index_set.hpp"

#include "lowering/statement.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace ricci::dsl {

/// The run-time part of one position.
struct position_value {
    std::int64_t extent = 0;
    std::int64_t stride = 0;
    std::int64_t offset = 0;
    int term_count = 0;
    bool plain = false;
};

// capture.hpp
template <class Left, class Right>
void run_statement(lowering::assignment op, const Left& left, const Right& right);
std::int32_t append_access(lowering::statement& s, const lowering::access& header, const position_value* positions,
                           const term_value* terms, const std::int32_t*& label);
void read_element(void* target, const lowering::access& header, const position_value* positions);

template <class Shape, class Positions, class... Indices>
struct occurrences_of;
template <class Shape, int Number, class Position>
struct occurrences_in;
template <class Shape, int Number, bool Plain, class... Terms>
struct occurrences_in<Shape, Number, position<Plain, Terms...>> {
    // After a wrong number of positions has been reported there may be more of them than extents.
    static constexpr std::int64_t extent =
        Plain && Number < Shape::rank ? Shape::values[static_cast<std::size_t>(Number)] : dyn;
    using type = occurrence_list<
        occurrence<typename Terms::name, extent, Plain, Terms::ranged, Terms::coefficient, Number>...>;
};
template <class Shape, std::size_t... N, class... Positions>
struct occurrences_of<Shape, std::index_sequence<N...>, Positions...> {
    using type = typename joined<typename occurrences_in<Shape, static_cast<int>(N), Positions>::type...>::type;
};

template <scalar_type Type, bool Writable, class Shape, class... Positions>
class access : public expression_tag {
    static constexpr std::size_t rank = sizeof...(Positions);
    static constexpr std::size_t term_count = (std::size_t{Positions::count} + ... + 0);

  public:
    using occurrences =
        typename occurrences_of<Shape, std::make_index_sequence<sizeof...(Positions)>, Positions...>::type;
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
        std::size_t r = 0, t = 0;
        [[maybe_unused]] const auto put = [&](std::int64_t offset, const term_value* terms, int count, bool plain) {
            positions_[r] = {extents[r], strides[r], offset, count, plain};
            ++r;
            for (int n = 0; n < count; ++n) terms_[t++] = terms[n];
        };
        (put(p.offset, p.terms.data(), Positions::count, Positions::plain), ...);
    }
    access(const access&) = default;

    template <class R>
    void operator=(const R& r) const {
        run(lowering::assignment::assign, r);
    }
    template <class R>
    void operator+=(const R& r) const {
        run(lowering::assignment::add, r);
    }
    template <class R>
    void operator-=(const R& r) const {
        run(lowering::assignment::subtract, r);
    }
    void operator=(const access& r) const { run(lowering::assignment::assign, r); }

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
        const auto number = append_access(s, header_, positions_.data(), terms_.data(), label);
        return s.add(operation::access, number);
    }
    /// The same without a node: access 0 of a statement is its left side.
    void append_left(lowering::statement& s, const std::int32_t*& label) const {
        append_access(s, header_, positions_.data(), terms_.data(), label);
    }

  private:
    template <class R>
    void run(lowering::assignment op, const R& r) const {
        if constexpr (operand<R>)
            run_statement(op, *this, as_expression(r));
        else
            (void)right_side_is_an_expression<R>{};
    }

    value_type element() const {
        value_type value{};
        read_element(&value, header_, positions_.data());
        return value;
    }

    lowering::access header_;
    std::array<position_value, rank> positions_;
    std::array<term_value, term_count> terms_;
};

/// Any number of positions; the wrong number is refused here.
template <scalar_type Type, bool Writable, class Shape, class... P>
auto make_access(const lowering::access& header, const std::int64_t* extents, const std::int64_t* strides,
                 const P&... p) {
    (void)rank_of_the_tensor_is<sizeof...(P), Shape::rank>{};
    return access<Type, Writable, Shape, decltype(as_position(p))...>(header, extents, strides, as_position(p)...);
}

} // namespace ricci::dsl
