// table: p(e), an index tensor with an index expression in each position, which is a position itself: A(i, k, p(e)).
#pragma once

#include "dsl/checks.hpp"
#include "dsl/element.hpp"
#include "dsl/index.hpp"

#include "lowering/statement.hpp"

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace ricci::dsl {

/// The run-time part of one position.
struct position_value {
    std::int64_t extent = 0;
    std::int64_t stride = 0;
    std::int64_t offset = 0;
    int term_count = 0;
    bool plain = false;
    int table = -1; ///< gathered: the number of its table among the access's
};

/// What the user says of a table's entries where it stands on the left: nothing; that all differ; that what equal
/// ones add may be added by atomics.
enum class entries : std::uint8_t { any, distinct, atomic };

/// The run-time part of a table of an access; its positions stand behind the access's own.
struct table_value {
    lowering::access header;
    int first_position = 0;
    entries said = entries::any;
};

/// An access as a statement takes it: its own positions, then its tables'; the terms of all in the same order.
struct access_parts {
    const lowering::access& header;
    const position_value* positions;
    const table_value* tables = nullptr;
    int table_count = 0;
    const term_value* terms = nullptr;
};

void read_element(void* target, const access_parts& parts); // capture.hpp

template <class... Operands>
struct tables_stand_alone_in_positions {
    static_assert(sizeof...(Operands) == 0,
                  "an index table stands alone in a position, as in A(i, p(e)): nothing computes with its entries");
};

/// What calls of factorizations and solves return: info.
template <class X>
concept is_tensor_of_integers = !std::derived_from<X, table_tag> && requires { requires lowering::is_index(X::type); };

template <class Result>
struct call_is_not_assigned {
    static_assert(sizeof(Result) == 0,
                  "a tensor of integers is no right side; what a factorization or a solve writes stands among its "
                  "arguments: solve(A(i, j, e), i, j, X(j, e), info(e))");
};

template <class Table>
struct entries_are_compared_one_by_one {
    static_assert(sizeof(Table) == 0, "an index table's entry is compared where every position is an integer, as in "
                                      "info(3) == 0; info.download() has all of them");
};

/// An entry whose positions are integers, read, or an integer itself.
template <class X>
std::int64_t entry_of(const X& x) {
    if constexpr (std::integral<X>) {
        return static_cast<std::int64_t>(x);
    } else if constexpr (X::one_element && lowering::is_index(X::type)) {
        const element_t<X::type> entry = x;
        return entry;
    } else {
        (void)entries_are_compared_one_by_one<X>{};
        return 0;
    }
}

/// Type: that of the entries; an address is what a pointer_view has. Writable: by a call, as pivots or info.
template <scalar_type Type, bool Writable, entries Said, class Shape, class... Positions>
class table_access : public table_tag {
    static constexpr std::size_t rank = sizeof...(Positions);
    static constexpr std::size_t term_count = (std::size_t{Positions::count} + ... + 0);

  public:
    static constexpr scalar_type type = Type;
    static constexpr bool writable = Writable;
    static constexpr bool one_element = term_count == 0;
    /// Whether no element is gathered twice, as a left side wants it.
    static constexpr bool differs = Said == entries::distinct || Type == scalar_type::address;

    table_access(const lowering::access& header, const std::int64_t* extents, const std::int64_t* strides,
                 const Positions&... p)
        : header_(header) {
        header_.position_count = static_cast<std::int32_t>(rank);
        std::size_t r = 0, t = 0;
        [[maybe_unused]] const auto put = [&](const auto& position, int count, bool plain) {
            positions_[r] = {extents[r], strides[r], position.offset, count, plain, -1};
            ++r;
            for (const auto& term : position.terms) terms_[t++] = term;
        };
        (put(p, Positions::count, Positions::plain), ...);
    }
    table_access(const table_access&) = default;

    /// An entry, where every position is an integer. Waits for the device.
    template <class Entry>
    requires(one_element&& std::is_same_v<Entry, element_t<Type>>) operator Entry() const {
        Entry value{};
        read_element(&value, {header_, positions_.data()});
        return value;
    }
    /// `if (info(3))`.
    explicit operator bool() const requires(one_element && lowering::is_index(Type)) { return entry_of(*this) != 0; }

    template <class R>
    void operator=(const R&) const {
        if constexpr (is_tensor_of_integers<R>)
            (void)call_is_not_assigned<R>{};
        else
            (void)tables_stand_alone_in_positions<R>{};
    }
    void operator=(const table_access& r) const { (void)tables_stand_alone_in_positions<decltype(r)>{}; }

    std::int32_t device() const { return header_.device; }
    access_parts parts() const { return {header_, positions_.data(), nullptr, 0, terms_.data()}; }
    table_value value(int first_position) const { return {header_, first_position, Said}; }
    const std::array<position_value, rank>& positions() const { return positions_; }
    const std::array<term_value, term_count>& terms() const { return terms_; }

  private:
    lowering::access header_;
    std::array<position_value, rank> positions_;
    std::array<term_value, term_count> terms_;
};

template <scalar_type Type, bool Writable, entries Said, class Shape, class... Positions>
constexpr const auto& as_position(const table_access<Type, Writable, Said, Shape, Positions...>& p) {
    return p;
}

template <class... P>
struct positions_of_tables_are_affine {
    static_assert(((!std::derived_from<P, table_tag>)&&...),
                  "the positions of an index table, and the last of a pointer_view, cannot be gathered themselves");
};

/// After a table in a table's position was refused it counts as fixed.
template <class P>
constexpr auto as_affine(const P& p) {
    if constexpr (std::derived_from<P, table_tag>)
        return position<false>{};
    else
        return as_position(p);
}

template <scalar_type Type, bool Writable, entries Said, class Shape, class... P>
auto make_table(const lowering::access& header, const std::int64_t* extents, const std::int64_t* strides,
                const P&... p) {
    (void)rank_of_the_tensor_is<sizeof...(P), Shape::rank>{};
    (void)positions_of_tables_are_affine<P...>{};
    return table_access<Type, Writable, Said, Shape, std::remove_cvref_t<decltype(as_affine(p))>...>(
        header, extents, strides, as_affine(p)...);
}

template <class L, class R>
concept with_table = std::derived_from<L, table_tag> || std::derived_from<R, table_tag>;
template <class X>
concept entry_or_integer = std::derived_from<X, table_tag> || std::integral<X>;

/// `info(3) == 0`, `p(2) < p(3)`: entries are read, and compared as integers.
template <class L, class R>
requires(with_table<L, R>&& entry_or_integer<L>&& entry_or_integer<R>) bool operator==(const L& l, const R& r) {
    return entry_of(l) == entry_of(r);
}
template <class L, class R>
requires(with_table<L, R>&& entry_or_integer<L>&& entry_or_integer<R>) auto operator<=>(const L& l, const R& r) {
    return entry_of(l) <=> entry_of(r);
}

/// `p(e) + 1`, `p(e) * A(i)`.
template <class L, class R>
requires with_table<L, R>
int operator+(const L&, const R&) { return (void)tables_stand_alone_in_positions<L, R>{}, 0; }
template <class L, class R>
requires with_table<L, R>
int operator-(const L&, const R&) { return (void)tables_stand_alone_in_positions<L, R>{}, 0; }
template <class L, class R>
requires with_table<L, R>
int operator*(const L&, const R&) { return (void)tables_stand_alone_in_positions<L, R>{}, 0; }
template <class L, class R>
requires with_table<L, R>
int operator/(const L&, const R&) { return (void)tables_stand_alone_in_positions<L, R>{}, 0; }

} // namespace ricci::dsl
