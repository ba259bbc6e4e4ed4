// index: named indices, their ranges, and affine arithmetic on them: i, m(1, 9), 4*t + u, y + r - 1.
//
// Which indices a position holds is in its type; coefficients, offsets and ranges are run-time values.
#pragma once

#include "lowering/error.hpp"
#include "lowering/statement.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ricci {

/// A string literal as a template argument.
template <std::size_t N>
struct fixed_string {
    char text[N]{};
    consteval fixed_string(const char (&literal)[N]) {
        for (std::size_t n = 0; n < N; ++n) text[n] = literal[n];
    }
};

namespace dsl {

/// 64-bit integers that users give: sizes, positions, coefficients. Beyond 64 bits ricci::error is thrown.
[[noreturn]] inline void refuse_overflow() { throw error("an extent or a position does not fit 64 bits"); }

template <class X>
concept integer = std::integral<X> && !std::same_as<X, bool>;

template <integer I>
constexpr std::int64_t to_int64(I value) {
    if (!std::in_range<std::int64_t>(value)) refuse_overflow();
    return static_cast<std::int64_t>(value);
}
constexpr std::int64_t sum_of(std::int64_t x, std::int64_t y) {
    std::int64_t out = 0;
    if (__builtin_add_overflow(x, y, &out)) refuse_overflow();
    return out;
}
constexpr std::int64_t product_of(std::int64_t x, std::int64_t y) {
    std::int64_t out = 0;
    if (__builtin_mul_overflow(x, y, &out)) refuse_overflow();
    return out;
}

/// An end of a range: an integer, or what stands for one, as Hana's constants do.
template <class X>
concept range_end = !std::floating_point<X> && std::convertible_to<X, std::int64_t>;

template <range_end X>
constexpr std::int64_t to_range_end(const X& end) {
    if constexpr (integer<X>)
        return to_int64(end);
    else
        return end;
}

/// The identity of an index; a pack of char, so that compilers print it readably.
template <char... C>
struct index_name {
    static constexpr char text[] = {C..., '\0'};
    static constexpr std::string_view view{text, sizeof...(C)};
};

// A function, since nvcc's front end does not match a partial specialization on a fixed_string.
template <fixed_string Name>
constexpr auto name_of_literal() {
    return []<std::size_t... N>(std::index_sequence<N...>) { return index_name<Name.text[N]...>{}; }
    (std::make_index_sequence<sizeof(Name.text) - 1>{});
}

/// What the type of a term knows of its coefficient: +1, -1, or nothing (it is a run-time value).
enum class sign : signed char { minus = -1, unknown = 0, plus = 1 };

constexpr sign opposite(sign s) { return static_cast<sign>(-static_cast<int>(s)); }

/// One index in a position, as a type.
template <class Name, sign Coefficient, bool Ranged>
struct term {
    using name = Name;
    static constexpr sign coefficient = Coefficient;
    static constexpr bool ranged = Ranged;
};

/// What is known of it only at run time.
struct term_value {
    std::int64_t coefficient = 1;
    std::int64_t begin = lowering::no_range;
    std::int64_t end = lowering::no_range;
};

/// A position of an access: an integer plus a sum of coefficient*index. Plain: an index standing alone.
template <bool Plain, class... Terms>
struct position {
    static constexpr bool plain = Plain;
    static constexpr int count = sizeof...(Terms);
    std::int64_t offset = 0;
    std::array<term_value, sizeof...(Terms)> terms{};
};

template <int Ends>
struct range_has_two_ends {
    static_assert(Ends == 2, "a range has two ends, i(begin, end); a position is fixed without an index, A(2)");
};
template <class... Ends>
struct range_ends_are_integers {
    static_assert(sizeof...(Ends) == 0, "the ends of a range are integers");
};

/// Puts index arithmetic into the associated namespaces of ricci::index.
struct index_tag {};

} // namespace dsl

/// An index named at compile time: `ricci::index<"el"> el;`. Two indices of one name are the same index.
template <fixed_string Name>
struct index : dsl::index_tag {
    using name = decltype(dsl::name_of_literal<Name>());
    static_assert(sizeof(Name.text) > 1, "an index needs a name");

    /// The index with the half-open range [begin, end), for the whole statement.
    template <dsl::range_end Begin, dsl::range_end End>
    constexpr dsl::position<true, dsl::term<name, dsl::sign::plus, true>> operator()(const Begin& begin,
                                                                                     const End& end) const {
        return {0, {dsl::term_value{1, dsl::to_range_end(begin), dsl::to_range_end(end)}}};
    }
    template <class... Ends>
    requires(sizeof...(Ends) != 2 || !(dsl::range_end<Ends> && ...))
    constexpr dsl::position<true, dsl::term<name, dsl::sign::plus, true>> operator()(const Ends&...) const {
        if constexpr (sizeof...(Ends) != 2)
            (void)dsl::range_has_two_ends<sizeof...(Ends)>{};
        else
            (void)dsl::range_ends_are_integers<Ends...>{};
        return {};
    }
};

/// The same as index; <strings.h> has an ::index.
template <fixed_string Name>
using idx = index<Name>;

namespace dsl {

template <class>
inline constexpr bool is_position = false;
template <bool Plain, class... Terms>
inline constexpr bool is_position<position<Plain, Terms...>> = true;

/// An index, with or without range, or a sum over such.
template <class X>
concept linear = std::derived_from<X, index_tag> || is_position<X>;

template <std::derived_from<index_tag> Index>
constexpr auto as_position(const Index&) {
    return position<true, term<typename Index::name, sign::plus, false>>{0, {term_value{}}};
}
template <bool Plain, class... Terms>
constexpr auto as_position(const position<Plain, Terms...>& p) {
    return p;
}
template <integer I>
constexpr position<false> as_position(I value) {
    return {to_int64(value), {}};
}

template <bool Plain, class... Terms>
constexpr position<false, Terms...> shifted(const position<Plain, Terms...>& p, std::int64_t by) {
    return {sum_of(p.offset, by), p.terms};
}

template <bool Plain, class... Terms>
constexpr position<false, term<typename Terms::name, opposite(Terms::coefficient), Terms::ranged>...>
negated(const position<Plain, Terms...>& p) {
    position<false, term<typename Terms::name, opposite(Terms::coefficient), Terms::ranged>...> out{
        product_of(p.offset, -1), p.terms};
    for (auto& t : out.terms) t.coefficient = product_of(t.coefficient, -1);
    return out;
}

template <bool Plain, class... Terms>
constexpr position<false, term<typename Terms::name, sign::unknown, Terms::ranged>...>
scaled(const position<Plain, Terms...>& p, std::int64_t by) {
    position<false, term<typename Terms::name, sign::unknown, Terms::ranged>...> out{product_of(p.offset, by),
                                                                                     p.terms};
    for (auto& t : out.terms) t.coefficient = product_of(t.coefficient, by);
    return out;
}

/// i + i stays two terms: lowering adds the coefficients of an index up.
template <bool P, class... S, bool Q, class... T>
constexpr position<false, S..., T...> added(const position<P, S...>& x, const position<Q, T...>& y) {
    position<false, S..., T...> out{sum_of(x.offset, y.offset), {}};
    std::size_t n = 0;
    for (const auto& t : x.terms) out.terms[n++] = t;
    for (const auto& t : y.terms) out.terms[n++] = t;
    return out;
}

template <linear X, integer I>
constexpr auto operator+(const X& x, I offset) {
    return shifted(as_position(x), to_int64(offset));
}
template <integer I, linear X>
constexpr auto operator+(I offset, const X& x) {
    return shifted(as_position(x), to_int64(offset));
}
template <linear X, integer I>
constexpr auto operator-(const X& x, I offset) {
    return shifted(as_position(x), product_of(to_int64(offset), -1));
}
template <integer I, linear X>
constexpr auto operator-(I offset, const X& x) {
    return shifted(negated(as_position(x)), to_int64(offset));
}
template <linear X, integer I>
constexpr auto operator*(const X& x, I coefficient) {
    return scaled(as_position(x), to_int64(coefficient));
}
template <integer I, linear X>
constexpr auto operator*(I coefficient, const X& x) {
    return scaled(as_position(x), to_int64(coefficient));
}
template <linear X>
constexpr auto operator-(const X& x) {
    return negated(as_position(x));
}
template <linear X, linear Y>
constexpr auto operator+(const X& x, const Y& y) {
    return added(as_position(x), as_position(y));
}
template <linear X, linear Y>
constexpr auto operator-(const X& x, const Y& y) {
    return added(as_position(x), negated(as_position(y)));
}

/// Derives index tables in a position, p(e): see table.hpp.
struct table_tag {};
/// Derives every node of an expression, so that concepts know them: see expr.hpp.
struct expression_tag {};

template <class X>
struct entries_of_tables_are_integers {
    static_assert(!std::derived_from<X, expression_tag>,
                  "an index table's entries are integers of 4 or 8 bytes: an expression of numbers, as in "
                  "A(i, x(e)), is no position");
};
/// After it was refused it counts as fixed.
template <std::derived_from<expression_tag> X>
constexpr position<false> as_position(const X&) {
    (void)entries_of_tables_are_integers<X>{};
    return {0, {}};
}

/// What may stand in a position; an expression is refused there.
template <class X>
concept position_argument = linear<X> || integer<X> || std::derived_from<X, table_tag> ||
                            std::derived_from<X, expression_tag>;

} // namespace dsl

/// The indices a to z, ready for use: `using namespace ricci::indices;`.
namespace indices {
inline constexpr index<"a"> a;
inline constexpr index<"b"> b;
inline constexpr index<"c"> c;
inline constexpr index<"d"> d;
inline constexpr index<"e"> e;
inline constexpr index<"f"> f;
inline constexpr index<"g"> g;
inline constexpr index<"h"> h;
inline constexpr index<"i"> i;
inline constexpr index<"j"> j;
inline constexpr index<"k"> k;
inline constexpr index<"l"> l;
inline constexpr index<"m"> m;
inline constexpr index<"n"> n;
inline constexpr index<"o"> o;
inline constexpr index<"p"> p;
inline constexpr index<"q"> q;
inline constexpr index<"r"> r;
inline constexpr index<"s"> s;
inline constexpr index<"t"> t;
inline constexpr index<"u"> u;
inline constexpr index<"v"> v;
inline constexpr index<"w"> w;
inline constexpr index<"x"> x;
inline constexpr index<"y"> y;
inline constexpr index<"z"> z;
} // namespace indices

} // namespace ricci
