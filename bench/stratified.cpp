// stratified: random numbers that cover a range evenly.
#include "bench/stratified.hpp"

#include "bench/kernels/random_value.hpp"

#include <algorithm>
#include <utility>

namespace ricci::bench {

std::vector<double> stratified(std::size_t count, std::uint64_t seed, std::uint64_t dimension) {
    std::uint64_t place = 0;
    // In [0, 1): std::uniform_real_distribution and std::shuffle differ from library to library.
    const auto next = [&] {
        constexpr int digits = 40;
        return (random_value(seed * 1000 + dimension, place++, digits, 1.0 / (std::uint64_t{1} << digits)) + 1) / 2;
    };
    std::vector<double> all;
    for (std::size_t n = 0; n < count; ++n)
        all.push_back((static_cast<double>(n) + next()) / static_cast<double>(count));
    for (std::size_t n = count; n > 1; --n)
        std::swap(all[n - 1], all[static_cast<std::size_t>(next() * static_cast<double>(n))]);
    for (double& x : all) x = std::min(x, 1 - 1e-12);
    return all;
}

} // namespace ricci::bench
