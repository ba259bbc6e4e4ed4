// locals: ricci::local with a number of indices that a template chooses.
#pragma once

#include <ricci/ricci.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace fem {

/// An intermediate of a program with `Rank` indices, all extents known at run time only.
template <std::size_t Rank>
auto make_local(const std::array<std::int64_t, Rank>& extents, const ricci::device& device) {
    return [&]<std::size_t... N>(std::index_sequence<N...>) {
        return ricci::local<double, (static_cast<void>(N), ricci::dyn)...>(extents[N]..., device);
    }
    (std::make_index_sequence<Rank>());
}

} // namespace fem
