// mdspan: what counts as shaped like std::mdspan: the standard's, the reference implementation's, Kokkos', CUDA's.
#pragma once

#include "dsl/extents.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ricci::dsl {

template <class M>
concept gives_strides = requires(const M& m, std::size_t r) {
    { m.stride(r) } -> std::convertible_to<std::int64_t>;
};

template <class M>
concept maps_by_strides = requires(const M& m, std::size_t r) {
    { m.mapping().stride(r) } -> std::convertible_to<std::int64_t>;
};

/// False for an accessor that conjugates or scales: what it gives is not what lies in memory.
template <class M>
inline constexpr bool gives_plain_elements = true;
template <class M>
requires requires { typename M::reference; }
inline constexpr bool gives_plain_elements<M> = std::same_as<typename M::reference, typename M::element_type&>;

template <class M>
concept strided = gives_strides<M> || maps_by_strides<M>;

/// A strided mdspan of plain elements.
template <class M>
concept mdspan_like = strided<M> && gives_plain_elements<M> && requires(const M& m, std::size_t r) {
    typename M::element_type;
    { M::rank() } -> std::convertible_to<std::size_t>;
    { m.data_handle() } -> std::convertible_to<typename M::element_type*>;
    { m.extents().extent(r) } -> std::convertible_to<std::int64_t>;
};

/// One that a view<T, Rank> can be made of.
template <class M, class T, int Rank>
concept mdspan_of = mdspan_like<M> && M::rank()
== static_cast<std::size_t>(Rank) && std::is_convertible_v<typename M::element_type (*)[], T (*)[]>;

template <int Rank, class M>
per_axis<Rank> extents_of(const M& m) {
    per_axis<Rank> out{};
    for (std::size_t r = 0; r < out.size(); ++r) out[r] = static_cast<std::int64_t>(m.extents().extent(r));
    return out;
}

template <int Rank, class M>
per_axis<Rank> strides_of(const M& m) {
    per_axis<Rank> out{};
    for (std::size_t r = 0; r < out.size(); ++r) {
        if constexpr (gives_strides<M>)
            out[r] = static_cast<std::int64_t>(m.stride(r));
        else
            out[r] = static_cast<std::int64_t>(m.mapping().stride(r));
    }
    return out;
}

} // namespace ricci::dsl
