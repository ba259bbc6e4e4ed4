// stratified: random numbers that cover a range evenly, the same on every machine for a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ricci::bench {

/// `count` numbers in [0, 1), one in each of `count` equal parts, in random order. `dimension` tells streams of one
/// seed apart.
std::vector<double> stratified(std::size_t count, std::uint64_t seed, std::uint64_t dimension);

/// The element of `all` at `share` of its length.
template <class T>
const T& at_share(const std::vector<T>& all, double share) {
    return all[static_cast<std::size_t>(share * static_cast<double>(all.size()))];
}

} // namespace ricci::bench
