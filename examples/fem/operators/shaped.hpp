// shaped: a vector's memory seen as a tensor of several indices, the first one fastest.
#pragma once

#include "examples/fem/space/tables.hpp"

#include <ricci/ricci.hpp>

#include <array>
#include <cstdint>

namespace fem {

template <int Rank, class T>
ricci::view<T, Rank> shaped(ricci::tensor<T, ricci::dyn>& values, const std::array<std::int64_t, Rank>& extents) {
    return {values.data(), extents, values.device()};
}

template <int Rank, class T>
ricci::view<const T, Rank> shaped(const ricci::tensor<T, ricci::dyn>& values,
                                  const std::array<std::int64_t, Rank>& extents) {
    return {values.data(), extents, values.device()};
}

} // namespace fem
