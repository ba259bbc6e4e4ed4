// index_set: the indices of a statement as compile-time sets: which there are, in order of appearance with the left
// side's first, how far each runs, and which nothing bounds.
#pragma once

#include "dsl/extents.hpp"
#include "dsl/index.hpp"

#include <boost/hana/set.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <boost/hana/unpack.hpp>

#include <tuple>
#include <type_traits>

namespace ricci::dsl {

/// One index in one position of an access, as a type. Extent: the static extent of a plain position, else dyn.
template <class Name, std::int64_t Extent, bool Plain, bool Ranged, sign Coefficient, int Position>
struct occurrence {
    using name = Name;
};

template <class... Occurrences>
struct occurrence_list {};

template <class...>
struct joined;
template <>
struct joined<> {
    using type = occurrence_list<>;
};
template <class... A>
struct joined<occurrence_list<A...>> {
    using type = occurrence_list<A...>;
};
template <class... A, class... B>
struct joined<occurrence_list<A...>, occurrence_list<B...>> {
    using type = occurrence_list<A..., B...>;
};
template <class A, class B, class... More>
struct joined<A, B, More...> {
    using type = typename joined<typename joined<A, B>::type, More...>::type;
};

/// An occurrence as a value; label is its number in the statement.
struct occurrence_value {
    int label = 0;
    std::int64_t extent = dyn;
    sign coefficient = sign::unknown;
    int position = 0; ///< of its access
};

/// A set of index names; Hana keeps the order of insertion.
template <class... Names>
inline constexpr auto set_of = hana::to_set(hana::tuple_t<Names...>);

template <class... Names>
struct name_list {
    static constexpr std::size_t count = sizeof...(Names);
    static constexpr std::array<std::string_view, count> views{Names::view...};
    template <int Number>
    using name = std::tuple_element_t<static_cast<std::size_t>(Number), std::tuple<Names...>>;
    /// The number of a name in the list. Types are compared, not texts' addresses, which g++ 12 takes for no
    /// constants under a sanitizer.
    template <class Name>
    static constexpr int number_of() {
        constexpr bool same[] = {std::is_same_v<Names, Name>..., true};
        int n = 0;
        while (!same[n]) ++n;
        return n;
    }
};
template <class Set>
constexpr auto names_in(Set set) {
    return hana::unpack(set, [](auto... t) { return name_list<typename decltype(t)::type...>{}; });
}

template <class Left, class Right>
struct statement_indices;

template <class... LN, std::int64_t... LE, bool... LP, bool... LR, sign... LC, int... LQ, class... RN,
          std::int64_t... RE, bool... RP, bool... RR, sign... RC, int... RQ>
struct statement_indices<occurrence_list<occurrence<LN, LE, LP, LR, LC, LQ>...>,
                         occurrence_list<occurrence<RN, RE, RP, RR, RC, RQ>...>> {
    static constexpr int left_count = sizeof...(LN);
    static constexpr std::size_t count = sizeof...(LN) + sizeof...(RN);
    // nvcc warns of a loop up to an unsigned 0. Arrays are read through data(), which an int indexes without a
    // warning.
    static constexpr int size = count;

    using names = decltype(names_in(set_of<LN..., RN...>));

    /// The number of each occurrence's index, left side first.
    static constexpr std::array<std::int32_t, count> numbers{names::template number_of<LN>()...,
                                                             names::template number_of<RN>()...};
    static constexpr std::array<occurrence_value, count> occurrences{
        occurrence_value{names::template number_of<LN>(), LE, LC, LQ}...,
        occurrence_value{names::template number_of<RN>(), RE, RC, RQ}...};
    /// The name of the index with this number.
    template <int Label>
    using name = typename names::template name<Label>;

    static constexpr auto ranged = [] {
        std::array<bool, names::count> out{};
        constexpr std::array<bool, count> flags{LR..., RR...};
        for (int o = 0; o < size; ++o) out.data()[numbers.data()[o]] |= flags.data()[o];
        return out;
    }();
    /// The static extent over which an index without a range runs; dyn where the types do not show it.
    static constexpr auto extents = [] {
        std::array<std::int64_t, names::count> out{};
        for (auto& e : out) e = dyn;
        for (const auto& o : occurrences)
            if (!ranged.data()[o.label] && o.extent != dyn) out.data()[o.label] = o.extent;
        return out;
    }();
    /// The first index that neither a plain position nor a range bounds; -1: there is none.
    static constexpr int unbounded = [] {
        std::array<bool, names::count> bounded = ranged;
        constexpr std::array<bool, count> plain{LP..., RP...};
        for (int o = 0; o < size; ++o) bounded.data()[numbers.data()[o]] |= plain.data()[o];
        for (int n = 0; n < static_cast<int>(names::count); ++n)
            if (!bounded.data()[n]) return n;
        return -1;
    }();
};

} // namespace ricci::dsl
