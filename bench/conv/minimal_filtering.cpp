// minimal_filtering: polynomials are multiplied by their values at points; the transpose of that filters.
#include "bench/conv/minimal_filtering.hpp"

#include <algorithm>
#include <cmath>

namespace ricci::bench::conv {

namespace {

constexpr double points[] = {0, 1, -1, 2, -2, 0.5, -0.5};

small_matrix zeros(std::int64_t rows, std::int64_t columns) {
    return {rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
}

double& at(small_matrix& m, std::int64_t row, std::int64_t column) {
    return m.numbers[static_cast<std::size_t>(row * m.columns + column)];
}

/// The coefficients of the product of x - p over all points but number `without`, the constant one first.
std::vector<double> product_of_roots(std::int64_t count, std::int64_t without) {
    std::vector<double> c{1};
    for (std::int64_t v = 0; v < count; ++v) {
        if (v == without) continue;
        c.insert(c.begin(), 0); // times x
        for (std::size_t n = 0; n + 1 < c.size(); ++n) c[n] -= points[v] * c[n + 1];
    }
    return c;
}

double square_of_row(const small_matrix& m, std::int64_t row) {
    double sum = 0;
    for (std::int64_t c = 0; c < m.columns; ++c) sum += m(row, c) * m(row, c);
    return sum;
}

} // namespace

minimal_filtering make_minimal_filtering(std::int64_t outputs, std::int64_t taps) {
    const std::int64_t size = outputs + taps - 1, finite = size - 1; // the last point is infinity
    minimal_filtering f{zeros(outputs, size), zeros(size, taps), zeros(size, size)};
    for (std::int64_t u = 0; u < finite; ++u) {
        double others = 1;
        for (std::int64_t v = 0; v < finite; ++v)
            if (v != u) others *= points[u] - points[v];
        for (std::int64_t i = 0; i < outputs; ++i) at(f.At, i, u) = std::pow(points[u], i);
        for (std::int64_t j = 0; j < taps; ++j) at(f.G, u, j) = std::pow(points[u], j) / others;
    }
    at(f.At, outputs - 1, finite) = at(f.G, finite, taps - 1) = 1;
    for (std::int64_t u = 0; u < size; ++u) {
        const auto row = product_of_roots(finite, u);
        std::copy(row.begin(), row.end(), f.Bt.numbers.begin() + u * size);
    }
    return f;
}

double minimal_filtering::error_growth() const {
    double worst = 0;
    for (std::int64_t a = 0; a < outputs(); ++a) {
        double sum = 0;
        for (std::int64_t u = 0; u < size(); ++u)
            sum += At(a, u) * At(a, u) * square_of_row(G, u) * square_of_row(Bt, u);
        worst = std::max(worst, sum);
    }
    return std::sqrt(worst / static_cast<double>(taps()));
}

} // namespace ricci::bench::conv
