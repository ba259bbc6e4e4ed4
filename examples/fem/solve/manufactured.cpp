// manufactured: products of functions of one variable, of which each knows two derivatives.
#include "examples/fem/solve/manufactured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace fem {
namespace {

/// A function of one variable: its value and its first two derivatives.
using along = std::function<std::array<double, 3>(double)>;

along sine(double factor, double shift) {
    return [=](double t) -> std::array<double, 3> {
        const double s = std::sin(factor * t + shift), c = std::cos(factor * t + shift);
        return {s, factor * c, -factor * factor * s};
    };
}

along exponential(double factor) {
    return [=](double t) -> std::array<double, 3> {
        const double value = std::exp(factor * t);
        return {value, factor * value, factor * factor * value};
    };
}

manufactured product(std::string formula, const std::vector<along>& factors) {
    const auto evaluate = [factors](const point& at) {
        std::array<std::array<double, 3>, 3> all{{{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}};
        for (std::size_t d = 0; d < factors.size(); ++d) all[d] = factors[d](at[d]);
        return all;
    };
    return {std::move(formula),
            [evaluate](const point& at) {
                const auto all = evaluate(at);
                return all[0][0] * all[1][0] * all[2][0];
            },
            [evaluate](const point& at) {
                const auto all = evaluate(at);
                point result{1, 1, 1};
                for (int row = 0; row < 3; ++row)
                    for (int d = 0; d < 3; ++d) result[row] *= all[d][d == row];
                return result;
            },
            [evaluate](const point& at) {
                const auto all = evaluate(at);
                symmetric_matrix result{};
                for (int row = 0; row < 3; ++row)
                    for (int column = 0; column < 3; ++column) {
                        result[row][column] = 1;
                        for (int d = 0; d < 3; ++d) result[row][column] *= all[d][(d == row) + (d == column)];
                    }
                return result;
            }};
}

} // namespace

double manufactured::source(const point& at, const symmetric_matrix& K) const {
    const symmetric_matrix second = second_derivatives(at);
    double sum = 0;
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 3; ++column) sum -= K[row][column] * second[row][column];
    return sum;
}

manufactured smooth_solution(int dimension) {
    const along cosine = sine(0.9, std::numbers::pi / 2 - 0.2);
    if (dimension == 2) return product("sin(1.1x+.3) cos(.9y-.2)", {sine(1.1, 0.3), cosine});
    return product("sin(1.1x+.3) cos(.9y-.2) exp(.5z)", {sine(1.1, 0.3), cosine, exponential(0.5)});
}

manufactured sine_solution(const mesh& m) {
    std::vector<along> factors;
    std::string formula;
    const std::int64_t n = nodes_per_element(m);
    for (int d = 0; d < m.dimension; ++d) {
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (std::int64_t e = 0; e < m.elements; ++e) {
            const double* x = &m.nodes[(e * m.dimension + d) * n];
            low = std::min(low, *std::min_element(x, x + n));
            high = std::max(high, *std::max_element(x, x + n));
        }
        const double factor = std::numbers::pi / (high - low);
        factors.push_back(sine(factor, -factor * low));
        formula += fmt::format("{}sin(pi ({}{:+.6g})/{:.6g})", d == 0 ? "" : " ", "xyz"[d], -low, high - low);
    }
    return product(formula, factors);
}

std::vector<double> values_at(const std::vector<double>& points, std::int64_t count, int dimension,
                              const std::function<double(const point&)>& f) {
    std::vector<double> values(points.size() / dimension);
    for_each_point(points, count, dimension, [&](std::int64_t n, std::int64_t element, const point& at) {
        values[n + count * element] = f(at);
    });
    return values;
}

} // namespace fem
