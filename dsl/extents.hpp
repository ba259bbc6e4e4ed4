// extents: sizes and strides of tensors; what of them is known at compile time lives in Boost.Hana.
#pragma once

#include "lowering/error.hpp"

#include <boost/hana/integral_constant.hpp>
#include <boost/hana/tuple.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace ricci {

/// An extent that is given at run time.
inline constexpr std::int64_t dyn = std::numeric_limits<std::int64_t>::min();

namespace literals {
using boost::hana::literals::operator""_c;
}

namespace dsl {

namespace hana = boost::hana;

/// The extents in a tensor's type; dyn where there is none. Short, because it is part of every access's type.
template <std::int64_t... Extents>
struct shape {
    static constexpr int rank = sizeof...(Extents);
    static constexpr int run_time_count = ((Extents == dyn ? 1 : 0) + ... + 0);
    static constexpr std::array<std::int64_t, sizeof...(Extents)> values{Extents...};
    static constexpr auto constants = hana::tuple_c<std::int64_t, Extents...>;
};

template <class>
struct run_time_shape_of;
template <std::size_t... N>
struct run_time_shape_of<std::index_sequence<N...>> {
    using type = shape<(static_cast<void>(N), dyn)...>;
};
/// The shape of a view: every extent dyn.
template <int Rank>
using run_time_shape = typename run_time_shape_of<std::make_index_sequence<static_cast<std::size_t>(Rank)>>::type;

/// One number for each axis.
template <int Rank>
using per_axis = std::array<std::int64_t, static_cast<std::size_t>(Rank)>;

/// "4 x 5 x 6"
inline std::string to_text(const std::int64_t* extents, int rank) {
    std::string text;
    for (int r = 0; r < rank; ++r) text += (r ? " x " : "") + std::to_string(extents[r]);
    return text;
}
/// "a tensor with extents 4 x 5 x 6"
inline std::string described(const std::int64_t* extents, int rank) {
    return rank == 0 ? "a tensor of rank 0" : "a tensor with extents " + to_text(extents, rank);
}

/// The number of elements. Throws ricci::error for a negative extent, and where the size in bytes exceeds 63 bits
/// (of any part of the extents, so that strides are safe even where another extent is zero).
inline std::int64_t checked_size(const std::int64_t* extents, int rank, std::int64_t bytes_each) {
    std::int64_t product = 1, bytes = bytes_each;
    bool empty = false;
    for (int r = 0; r < rank; ++r) {
        if (extents[r] < 0)
            throw error("extent " + std::to_string(r + 1) + " of " + described(extents, rank) +
                        " is negative: " + std::to_string(extents[r]));
        if (extents[r] == 0) {
            empty = true;
            continue;
        }
        if (__builtin_mul_overflow(bytes, extents[r], &bytes))
            throw error("a tensor of " + to_text(extents, rank) + " elements of " + std::to_string(bytes_each) +
                        " bytes: its size does not fit 64 bits");
        product *= extents[r];
    }
    return empty ? 0 : product;
}

/// Strides of a dense tensor, first index fastest. Throws as checked_size does.
template <std::size_t Rank>
std::array<std::int64_t, Rank> dense_strides(const std::array<std::int64_t, Rank>& extents, std::int64_t bytes_each) {
    checked_size(extents.data(), static_cast<int>(Rank), bytes_each);
    std::array<std::int64_t, Rank> strides{};
    std::int64_t next = 1;
    for (std::size_t r = 0; r < Rank; ++r) {
        strides[r] = next;
        if (extents[r] != 0) next *= extents[r];
    }
    return strides;
}
/// The same, last index fastest.
template <std::size_t Rank>
std::array<std::int64_t, Rank> row_major_strides(std::array<std::int64_t, Rank> extents, std::int64_t bytes_each) {
    checked_size(extents.data(), static_cast<int>(Rank), bytes_each); // names the axis before the order turns
    std::ranges::reverse(extents);
    auto strides = dense_strides(extents, bytes_each);
    std::ranges::reverse(strides);
    return strides;
}

} // namespace dsl
} // namespace ricci
