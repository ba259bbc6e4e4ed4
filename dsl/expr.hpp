// expr: the right side of a statement: sums, products, quotients and pointwise functions of accesses and scalars.
//
// An expression only records. Nothing is computed before it is assigned or converted to a number.
#pragma once

#include "dsl/checks.hpp"
#include "dsl/element.hpp"
#include "dsl/index_set.hpp"

#include "lowering/statement.hpp"

#include <compare>
#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace ricci::dsl {

using lowering::operation;

template <class Result, class Expression>
Result read_sum(const Expression& e); // capture.hpp

template <class X>
concept expression = std::derived_from<X, expression_tag>;

template <class X>
concept operand = expression<X> || scalar<X>;

/// Whether X is an expression with an index in it.
template <class X>
inline constexpr bool has_an_index = false;
template <expression X>
inline constexpr bool has_an_index<X> = !std::same_as<typename X::occurrences, occurrence_list<>>;

/// Whether an expression converts to Result, a number: every index in it is summed, in the promotion of its operands'
/// types and Result. An access to one element converts by itself.
template <class Expression, class Result>
concept sums_to = element<Result> && !Expression::one_element &&
                  (!lowering::is_complex(Expression::type) || lowering::is_complex(element_traits<Result>::type));

/// What nodes with operands share: they convert to numbers, and cannot be assigned to.
template <class Node>
struct node_base : expression_tag {
    static constexpr bool is_literal = false;
    static constexpr bool one_element = false;

    /// Waits for the device.
    template <class Result>
    requires sums_to<Node, Result>
    operator Result() const { return read_sum<Result>(static_cast<const Node&>(*this)); }
    explicit operator bool() const {
        if constexpr (has_an_index<Node>) {
            (void)comparison_is_of_numbers<Node>{};
            return false;
        } else {
            return number_of(static_cast<const Node&>(*this)) != 0.0;
        }
    }

    template <class R>
    void operator=(const R&) const {
        (void)left_side_is_an_access<Node>{};
    }
    template <class R>
    void operator+=(const R&) const {
        (void)left_side_is_an_access<Node>{};
    }
    template <class R>
    void operator-=(const R&) const {
        (void)left_side_is_an_access<Node>{};
    }
};

/// A number in an expression. It has no type of its own but complex or not.
template <bool Complex>
struct literal : expression_tag {
    using occurrences = occurrence_list<>;
    static constexpr bool is_literal = true;
    static constexpr scalar_type type = Complex ? scalar_type::c64 : scalar_type::f32;

    lowering::scalar value;

    std::int32_t append(lowering::statement& s, const std::int32_t*&) const {
        s.scalars.push_back(value);
        return s.add(operation::scalar, static_cast<std::int32_t>(s.scalars.size()) - 1);
    }
};

/// The type that `kind` of a `t` has.
constexpr scalar_type type_of_function(operation kind, scalar_type t) {
    return kind == operation::abs ? lowering::real_of(t) : t;
}

/// The type in which l and r combine: a literal changes nothing but real to complex.
template <class L, class R>
constexpr scalar_type combined_type() {
    if constexpr (R::is_literal)
        return lowering::is_complex(R::type) ? lowering::complex_of(L::type) : L::type;
    else if constexpr (L::is_literal)
        return combined_type<R, L>();
    else
        return lowering::promote(lowering::accumulator(L::type), lowering::accumulator(R::type));
}

template <operation Kind, class X>
class unary : public node_base<unary<Kind, X>> {
  public:
    using occurrences = typename X::occurrences;
    static constexpr scalar_type type = type_of_function(Kind, lowering::accumulator(X::type));

    explicit constexpr unary(const X& x) : x_(x) {}
    unary(const unary&) = default;

    constexpr const X& argument() const { return x_; }

    using node_base<unary>::operator=;
    void operator=(const unary&) const { (void)left_side_is_an_access<unary>{}; }

    std::int32_t device() const { return x_.device(); }
    std::int32_t append(lowering::statement& s, const std::int32_t*& label) const {
        return s.add(Kind, x_.append(s, label));
    }

  private:
    X x_;
};

template <operation Kind, class L, class R>
class binary : public node_base<binary<Kind, L, R>> {
  public:
    using occurrences = typename joined<typename L::occurrences, typename R::occurrences>::type;
    static constexpr scalar_type type = combined_type<L, R>();

    constexpr binary(const L& l, const R& r) : l_(l), r_(r) {}
    binary(const binary&) = default;

    using node_base<binary>::operator=;
    void operator=(const binary&) const { (void)left_side_is_an_access<binary>{}; }

    std::int32_t device() const {
        if constexpr (L::is_literal)
            return r_.device();
        else
            return l_.device();
    }
    std::int32_t append(lowering::statement& s, const std::int32_t*& label) const {
        const std::int32_t l = l_.append(s, label);
        return s.add(Kind, l, r_.append(s, label));
    }

  private:
    L l_;
    R r_;
};

template <expression X>
constexpr const X& as_expression(const X& x) {
    return x;
}
template <scalar X>
constexpr auto as_expression(const X& x) {
    return literal<is_complex_scalar<X>>{{}, as_scalar(x)};
}
template <class X>
using expression_of = std::remove_cvref_t<decltype(as_expression(std::declval<const X&>()))>;

template <class L, class R>
concept operands = operand<L> && operand<R> &&(expression<L> || expression<R>);

template <operation Kind, class L, class R>
constexpr auto combine(const L& l, const R& r) {
    return binary<Kind, expression_of<L>, expression_of<R>>(as_expression(l), as_expression(r));
}

template <class L, class R>
requires operands<L, R>
constexpr auto operator+(const L& l, const R& r) { return combine<operation::add>(l, r); }
template <class L, class R>
requires operands<L, R>
constexpr auto operator-(const L& l, const R& r) { return combine<operation::subtract>(l, r); }
template <class L, class R>
requires operands<L, R>
constexpr auto operator*(const L& l, const R& r) { return combine<operation::multiply>(l, r); }
template <class L, class R>
requires operands<L, R>
constexpr auto operator/(const L& l, const R& r) { return combine<operation::divide>(l, r); }
template <expression X>
constexpr X operator+(const X& x) {
    return x;
}
template <expression X>
constexpr auto operator-(const X& x) {
    return unary<operation::negate, X>(x);
}

/// Elementwise: the complex conjugate, max(x, 0), e to the x, the square root, the absolute value (real).
template <expression X>
constexpr auto conj(const X& x) {
    return unary<operation::conjugate, X>(x);
}
template <expression X>
constexpr auto relu(const X& x) {
    (void)argument_has_an_order<operation::relu, X::type>{};
    return unary<operation::relu, X>(x);
}
template <expression X>
constexpr auto exp(const X& x) {
    return unary<operation::exp, X>(x);
}
template <expression X>
constexpr auto sqrt(const X& x) {
    return unary<operation::sqrt, X>(x);
}
template <expression X>
constexpr auto abs(const X& x) {
    return unary<operation::abs, X>(x);
}

template <operation Kind, class L, class R>
constexpr auto extremum(const L& l, const R& r) {
    auto result = combine<Kind>(l, r);
    (void)argument_has_an_order<Kind, decltype(result)::type>{};
    return result;
}

/// The smaller, the larger of two, elementwise; each an expression or a number.
template <class L, class R>
requires operands<L, R>
constexpr auto min(const L& l, const R& r) { return extremum<operation::min>(l, r); }
template <class L, class R>
requires operands<L, R>
constexpr auto max(const L& l, const R& r) { return extremum<operation::max>(l, r); }
// For two of one type std::min<T>, where it is visible, is more specialized than the above; not than these.
template <expression X>
constexpr auto min(const X& l, const X& r) {
    return extremum<operation::min>(l, r);
}
template <expression X>
constexpr auto max(const X& l, const X& r) {
    return extremum<operation::max>(l, r);
}

/// The number that an operand converts to, as double or std::complex<double>.
template <operand X>
auto number_of(const X& x) {
    if constexpr (expression<X>) {
        const element_t<lowering::accumulator(X::type)> value = x;
        return number_of(value);
    } else if constexpr (is_complex_scalar<X>) {
        return std::complex<double>(x);
    } else {
        return static_cast<double>(x);
    }
}

/// Comparisons read elements: `if (x(1)*x(1) < 3)`. Where an index stands, `B(i) > 0` would quietly be a test of the
/// sum.
template <class L, class R>
requires operands<L, R>
bool operator==(const L& l, const R& r) {
    if constexpr (has_an_index<L> || has_an_index<R>) {
        (void)comparison_is_of_numbers<L, R>{};
        return false;
    } else {
        return number_of(l) == number_of(r);
    }
}
template <class L, class R>
requires operands<L, R>
auto operator<=>(const L& l, const R& r) {
    if constexpr (has_an_index<L> || has_an_index<R>) {
        (void)comparison_is_of_numbers<L, R>{};
        return std::partial_ordering::unordered;
    } else {
        return number_of(l) <=> number_of(r);
    }
}

/// What the language lacks, refused by name.
template <class L, class R>
requires operands<L, R>
double operator^(const L&, const R&) {
    (void)operator_is_in_the_language<L, R>{};
    return 0;
}
template <class L, class R>
requires operands<L, R>
double operator%(const L&, const R&) {
    (void)operator_is_in_the_language<L, R>{};
    return 0;
}
template <expression L, class R>
void operator*=(const L&, const R&) {
    (void)assignment_is_in_the_language<L>{};
}
template <expression L, class R>
void operator/=(const L&, const R&) {
    (void)assignment_is_in_the_language<L>{};
}

} // namespace ricci::dsl

namespace ricci {
using dsl::abs;
using dsl::conj;
using dsl::exp;
using dsl::max;
using dsl::min;
using dsl::relu;
using dsl::sqrt;
} // namespace ricci
