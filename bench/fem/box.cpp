// box: a box of hexahedra, numbered line by line.
#include "bench/fem/box.hpp"

#include <algorithm>
#include <cmath>

namespace ricci::bench::fem {

box box_of(std::int64_t elements) {
    const auto rounded = [](double x) { return std::max<std::int64_t>(1, std::llround(x)); };
    const auto all = static_cast<double>(std::max<std::int64_t>(1, elements));
    box b;
    b.x = rounded(std::cbrt(all));
    b.y = rounded(std::sqrt(all / static_cast<double>(b.x)));
    b.z = rounded(all / static_cast<double>(b.x * b.y));
    return b;
}

std::int64_t neighbor(const box& b, std::int64_t e, std::array<int, 3> offset) {
    const std::int64_t x = e % b.x + offset[0], y = e / b.x % b.y + offset[1], z = e / (b.x * b.y) + offset[2];
    const bool inside = x >= 0 && x < b.x && y >= 0 && y < b.y && z >= 0 && z < b.z;
    return inside ? x + b.x * (y + b.y * z) : -1;
}

std::vector<std::int32_t> numbers_of_nodes(const box& b, std::int64_t order) {
    const std::int64_t nodes_x = b.x * order + 1, nodes_y = b.y * order + 1;
    std::vector<std::int32_t> numbers;
    numbers.reserve(static_cast<std::size_t>(b.elements() * (order + 1) * (order + 1) * (order + 1)));
    for (std::int64_t z = 0; z < b.z; ++z)
        for (std::int64_t y = 0; y < b.y; ++y)
            for (std::int64_t x = 0; x < b.x; ++x)
                for (std::int64_t k = 0; k <= order; ++k)
                    for (std::int64_t j = 0; j <= order; ++j)
                        for (std::int64_t i = 0; i <= order; ++i)
                            numbers.push_back(static_cast<std::int32_t>(
                                x * order + i + nodes_x * (y * order + j + nodes_y * (z * order + k))));
    return numbers;
}

} // namespace ricci::bench::fem
