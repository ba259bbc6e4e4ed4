// cook_toom: products of polynomials by evaluation and interpolation, transposed.
//
// The product s(x) of polynomials y(x) with m and g(x) with r coefficients has degree a - 1, so a values determine
// it: at a - 1 points p_i, and "at infinity", which is the coefficient of x^(a-1). Evaluate both, multiply,
// interpolate: s = C ((A y) .* (G g)), with Vandermonde matrices A and G and C the inverse of one. Multiplying by g
// is a linear map of y, a Toeplitz matrix; its transpose is filtering by g. So transposing gives the filter y = At
// ((G g) .* (Ct d)), and Bt is Ct (S. Winograd, Arithmetic complexity of computations, 1980, "transposition").
//
// Column i of C has the coefficients of Lagrange's polynomial prod_(j != i) (x - p_j) / f_i, f_i = prod (p_i - p_j),
// and the last one those of prod_j (x - p_j). As A. Lavin and S. Gray do (Fast algorithms for convolutional neural
// networks, CVPR 2016; github.com/andravin/wincnn), 1/f_i goes to the rows of G, which leaves Bt with integers where
// the points are integers, and f_0 is made positive: a row of G and the same row of Bt may both change their signs.
#include "examples/cnn/winograd/cook_toom.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace cnn {
namespace {

/// The coefficients of prod (x - root), of x^0 first, without the root of that number.
std::vector<rational> product_without(const std::vector<rational>& roots, std::size_t left_out) {
    std::vector<rational> c{1};
    for (std::size_t n = 0; n < roots.size(); ++n) {
        if (n == left_out) continue;
        c.insert(c.begin(), 0); // times x
        for (std::size_t k = 0; k + 1 < c.size(); ++k) c[k] -= roots[n] * c[k + 1];
    }
    return c;
}

void check(int m, int r, const std::vector<rational>& points) {
    if (m < 1 || r < 1) throw std::invalid_argument(fmt::format("F({}, {}): m and r must be at least 1", m, r));
    const auto wanted = static_cast<std::size_t>(m) + r - 2;
    if (points.size() != wanted)
        throw std::invalid_argument(fmt::format("F({}, {}) takes m + r - 2 = {} points beside infinity, not {}", m, r,
                                                wanted, points.size()));
    for (std::size_t n = 0; n < points.size(); ++n)
        for (std::size_t k = 0; k < n; ++k)
            if (points[n] == points[k])
                throw std::invalid_argument(fmt::format("F({}, {}): points {} and {} (counted from 0) are both {}", m,
                                                        r, k, n, points[n].str()));
}

/// Powers 0 to columns - 1 of each point; at infinity the highest power alone counts.
exact_matrix evaluation(const std::vector<rational>& points, int columns) {
    const int finite = static_cast<int>(points.size());
    exact_matrix v(finite + 1, columns);
    for (int i = 0; i < finite; ++i) {
        rational power = 1;
        for (int j = 0; j < columns; ++j, power *= points[i]) v(i, j) = power;
    }
    v(finite, columns - 1) = 1;
    return v;
}

exact_matrix transposed(const exact_matrix& x) {
    exact_matrix t(x.columns, x.rows);
    for (int i = 0; i < x.rows; ++i)
        for (int j = 0; j < x.columns; ++j) t(j, i) = x(i, j);
    return t;
}

} // namespace

std::vector<float> exact_matrix::to_floats() const {
    std::vector<float> result;
    for (const rational& value : values) result.push_back(value.convert_to<float>());
    return result;
}

std::vector<rational> default_points(int count) {
    // Small numbers and their reciprocals, in pairs: large powers and close points both cost digits. The last pair is
    // the best one of quotients of 1 to 4, measured for F(6, 5) in float.
    static const std::vector<rational> points{
        0, 1, -1, 2, -2, {1, 2}, {-1, 2}, {4, 3}, {-4, 3},
    };
    if (count < 0 || static_cast<std::size_t>(count) > points.size())
        throw std::invalid_argument(
            fmt::format("there are {} default points, not {}: give your own", points.size(), count));
    return {points.begin(), points.begin() + count};
}

transforms cook_toom(int m, int r, const std::vector<rational>& points) {
    check(m, r, points);
    const int a = m + r - 1, finite = a - 1;
    transforms t{m, r, transposed(evaluation(points, m)), evaluation(points, r), exact_matrix(a, a)};
    for (int i = 0; i < a; ++i) {
        const auto coefficients = product_without(points, i);
        for (std::size_t j = 0; j < coefficients.size(); ++j) t.Bt(i, static_cast<int>(j)) = coefficients[j];
    }
    for (int i = 0; i < finite; ++i) {
        rational f = 1;
        for (int j = 0; j < finite; ++j)
            if (j != i) f *= points[i] - points[j];
        if (i == 0 && f < 0) {
            f = -f;
            for (int j = 0; j < a; ++j) t.Bt(i, j) = -t.Bt(i, j);
        }
        for (int j = 0; j < r; ++j) t.G(i, j) /= f;
    }
    return t;
}

transforms cook_toom(int m, int r) {
    if (m < 1 || r < 1) check(m, r, {});
    return cook_toom(m, r, default_points(m + r - 2));
}

} // namespace cnn
