// basis: rules by Newton's iteration, Lagrange polynomials by the barycentric formula.
#include "examples/fem/space/basis.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace fem {
namespace {

/// The Legendre polynomials P_n and P_(n-1) at x, by the three-term recurrence.
std::pair<long double, long double> legendre(int n, long double x) {
    long double previous = 1, current = x;
    if (n == 0) return {1, 0};
    for (int k = 2; k <= n; ++k)
        previous = std::exchange(current, ((2 * k - 1) * x * current - (k - 1) * previous) / k);
    return {current, previous};
}

/// Runs x -= step(x) until x stands still; converges quadratically, so 20 steps are plenty.
template <class Step>
long double newton(long double x, Step step) {
    for (int i = 0; i < 20; ++i) {
        const long double change = step(x);
        x -= change;
        if (std::abs(change) <= 1e-19L) break;
    }
    return x;
}

/// Stores a point x >= 0 of [-1, 1] and its mirror image as numbers i and n-1-i of a rule on [0, 1].
void store(rule& r, int i, long double x, long double weight) {
    const int mirrored = r.size() - 1 - i;
    r.points[mirrored] = static_cast<double>((1 + x) / 2);
    r.points[i] = static_cast<double>((1 - x) / 2);
    r.weights[i] = r.weights[mirrored] = static_cast<double>(weight / 2);
}

} // namespace

// long double, so that the rounding of the recurrence stays below that of the result.

rule gauss_legendre(int n) {
    rule r{std::vector<double>(n), std::vector<double>(n)};
    for (int i = 0; i < (n + 1) / 2; ++i) {
        const auto derivative = [n](long double x) {
            const auto [p, before] = legendre(n, x);
            return n * (before - x * p) / ((1 - x) * (1 + x));
        };
        long double x = 0;
        if (2 * i + 1 != n)
            x = newton(std::cos(std::numbers::pi_v<long double> * (i + 0.75L) / (n + 0.5L)),
                       [&](long double t) { return legendre(n, t).first / derivative(t); });
        const long double slope = derivative(x);
        store(r, i, x, 2 / ((1 - x) * (1 + x) * slope * slope));
    }
    return r;
}

rule gauss_lobatto(int n) {
    rule r{std::vector<double>(n), std::vector<double>(n)};
    const int degree = n - 1; // the inner points are the zeros of the derivative of P_degree
    for (int i = 0; i < (n + 1) / 2; ++i) {
        long double x = i == 0 ? 1 : 0;
        if (i > 0 && 2 * i + 1 != n)
            x = newton(std::cos(std::numbers::pi_v<long double> * i / degree), [degree](long double t) {
                // (1-t^2) P' = N (P_(N-1) - t P) has derivative -N (N+1) P
                const auto [p, before] = legendre(degree, t);
                return (t * p - before) / ((degree + 1) * p);
            });
        const long double p = legendre(degree, x).first;
        store(r, i, x, 2 / (degree * (degree + 1) * p * p));
    }
    return r;
}

std::vector<double> positions(node_points kind, int order) {
    if (kind == node_points::gauss_legendre) return gauss_legendre(order + 1).points;
    if (kind == node_points::gauss_lobatto) return gauss_lobatto(order + 1).points;
    std::vector<double> uniform(order + 1);
    for (int i = 0; i <= order; ++i) uniform[i] = static_cast<double>(i) / order;
    return uniform;
}

lagrange::lagrange(std::vector<double> nodes) : nodes_(std::move(nodes)), weights_(nodes_.size(), 1.0) {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        for (std::size_t j = 0; j < nodes_.size(); ++j)
            if (j != i)
                weights_[i] /= 4 * (nodes_[i] - nodes_[j]); // 4: an interval of length 1 neither over- nor underflows
}

table lagrange::values(const std::vector<double>& points) const {
    const int n = static_cast<int>(nodes_.size());
    table b{static_cast<int>(points.size()), n, std::vector<double>(points.size() * n)};
    for (int q = 0; q < b.rows; ++q) {
        double sum = 0;
        int hit = -1;
        for (int i = 0; i < n && hit < 0; ++i) {
            const double distance = points[q] - nodes_[i];
            if (distance == 0)
                hit = i;
            else
                sum += b(q, i) = weights_[i] / distance;
        }
        for (int i = 0; i < n; ++i) b(q, i) = hit < 0 ? b(q, i) / sum : i == hit;
    }
    return b;
}

table lagrange::derivatives(const std::vector<double>& points) const {
    const int n = static_cast<int>(nodes_.size());
    table at_nodes{n, n, std::vector<double>(std::size_t(n) * n)};
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            if (i == j) continue;
            at_nodes(j, i) = weights_[i] / weights_[j] / (nodes_[j] - nodes_[i]);
            at_nodes(j, j) -= at_nodes(j, i); // so that constants have no derivative, to rounding
        }
    // A derivative is a polynomial of lower degree, hence interpolated exactly from its values at the nodes.
    const table b = values(points);
    table g{b.rows, n, std::vector<double>(b.values.size())};
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            for (int q = 0; q < b.rows; ++q) g(q, i) += b(q, j) * at_nodes(j, i);
    return g;
}

table tensor_product(const table& along, int dimension) {
    return tensor_product(std::vector<const table*>(dimension, &along));
}

table tensor_product(const std::vector<const table*>& directions) {
    table result{1, 1, {1.0}};
    for (const table* direction : directions) {
        const table& along = *direction;
        const table inner = std::move(result);
        result = {inner.rows * along.rows, inner.columns * along.columns, {}};
        result.values.reserve(std::size_t(result.rows) * result.columns);
        for (int i = 0; i < along.columns; ++i)
            for (int j = 0; j < inner.columns; ++j)
                for (int a = 0; a < along.rows; ++a)
                    for (int b = 0; b < inner.rows; ++b) result.values.push_back(along(a, i) * inner(b, j));
    }
    return result;
}

std::vector<double> apply_along(const std::vector<const table*>& along, const double* u) {
    std::int64_t size = 1;
    for (const table* t : along) size *= t->columns;
    std::vector<double> current(u, u + size), next;
    // Each pass contracts the fastest index and makes the new one the slowest: after all, they stand in order again.
    for (const table* t : along) {
        const std::int64_t rest = static_cast<std::int64_t>(current.size()) / t->columns;
        next.assign(rest * t->rows, 0.0);
        for (int a = 0; a < t->rows; ++a)
            for (std::int64_t r = 0; r < rest; ++r)
                for (int i = 0; i < t->columns; ++i) next[r + rest * a] += (*t)(a, i) * current[i + t->columns * r];
        current.swap(next);
    }
    return current;
}

} // namespace fem
