// minimal_filtering: F(m, r), m sums over r of a stream of numbers by m + r - 1 multiplications (Winograd, 1980).
#pragma once

#include <cstdint>
#include <vector>

namespace ricci::bench::conv {

/// A small matrix, its rows one behind the other.
struct small_matrix {
    std::int64_t rows = 0, columns = 0;
    std::vector<double> numbers;

    double operator()(std::int64_t row, std::int64_t column) const {
        return numbers[static_cast<std::size_t>(row * columns + column)];
    }
};

/// y = At ((G g) . (Bt d)): y(i) = sum over j of d(i+j) g(j), i below m and j below r.
struct minimal_filtering {
    small_matrix At, G, Bt;

    std::int64_t outputs() const { return At.rows; }
    std::int64_t taps() const { return G.columns; }
    /// Of a tile that goes in, and of multiplications.
    std::int64_t size() const { return At.columns; }
    /// How much larger an error is than that of the sum itself, if the roundings of all factors are alike and random:
    /// the root of the squares that are added, over r, of the worst of the m.
    double error_growth() const;
};

/// By Cook and Toom from the points 0, 1, -1, 2, -2, 1/2, -1/2 and infinity; m + r - 1 is 2 to 8.
minimal_filtering make_minimal_filtering(std::int64_t outputs, std::int64_t taps);

} // namespace ricci::bench::conv
