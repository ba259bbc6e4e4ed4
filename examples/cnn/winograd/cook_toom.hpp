// cook_toom: the transforms of Winograd's minimal filtering F(m, r), exact, from interpolation points.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>

#include <cstddef>
#include <vector>

namespace cnn {

using rational = boost::multiprecision::cpp_rational;

/// Rationals in rows and columns.
struct exact_matrix {
    exact_matrix(int row_count, int column_count)
        : rows(row_count), columns(column_count), values(static_cast<std::size_t>(rows) * columns) {}

    int rows, columns;
    std::vector<rational> values; ///< first index fastest

    rational& operator()(int i, int j) { return values[static_cast<std::size_t>(j) * rows + i]; }
    const rational& operator()(int i, int j) const { return values[static_cast<std::size_t>(j) * rows + i]; }
    /// Each rounded once, in the order of a ricci::tensor.
    std::vector<float> to_floats() const;
};

/// F(m, r): m outputs of a filter with r taps, y_i = sum_j d_(i+j) g_j, from a = m + r - 1 inputs by a products,
///
///     y = At ((G g) .* (Bt d)),     At is m x a, G is a x r, Bt is a x a.
struct transforms {
    int m, r;
    exact_matrix At, G, Bt;

    int a() const { return m + r - 1; }
};

/// 0, 1, -1, 2, -2, 1/2, -1/2, ..., the first `count` of them. Throws std::invalid_argument for more than there are.
std::vector<rational> default_points(int count);

/// F(m, r) by Cook and Toom's algorithm with these m + r - 2 different points, and infinity as the last one. Throws
/// std::invalid_argument for points that repeat, for too few or too many, and where m or r is below 1.
transforms cook_toom(int m, int r, const std::vector<rational>& points);
/// With the default points.
transforms cook_toom(int m, int r);

} // namespace cnn
