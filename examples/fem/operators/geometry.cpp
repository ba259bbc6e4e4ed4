// geometry: Jacobians are contractions of the nodes; determinants and inverses follow point by point.
#include "examples/fem/operators/geometry.hpp"

#include "examples/fem/mesh/jacobians.hpp"
#include "examples/fem/operators/interpolation.hpp"
#include "examples/fem/operators/shaped.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace fem {

using namespace ricci::indices;

std::vector<std::pair<int, int>> symmetric_pairs(int dimension) {
    std::vector<std::pair<int, int>> pairs;
    for (int row = 0; row < dimension; ++row)
        for (int column = row; column < dimension; ++column) pairs.emplace_back(row, column);
    return pairs;
}

std::vector<std::int64_t> symmetric_table(int dimension) {
    std::vector<std::int64_t> numbers(dimension * dimension);
    const auto pairs = symmetric_pairs(dimension);
    for (std::size_t s = 0; s < pairs.size(); ++s) {
        const auto& [row, column] = pairs[s];
        numbers[row + dimension * column] = numbers[column + dimension * row] = static_cast<std::int64_t>(s);
    }
    return numbers;
}

element_map::element_map(const mesh& from, const rule& along, ricci::device device)
    : dimension_(from.dimension), points_(power(along.size(), from.dimension)), elements_(from.elements),
      nodes_along_(from.order + 1), points_along_(along.size()), device_(device), B_(0, 0, device), G_(0, 0, device),
      nodes_(0, device), weight_(0, device), adjugate_(0, device), det_(0, device) {
    check_memory(from.name, "its quadrature points",
                 8.0 * static_cast<double>(points_) * static_cast<double>(elements_) *
                     (2 * dimension_ * dimension_ + 2));
    const lagrange shape(positions(from.points, from.order));
    B_ = to_device(shape.values(along.points), device);
    G_ = to_device(shape.derivatives(along.points), device);
    nodes_ = to_device(from.nodes, device);
    weight_ = to_device(tensor_product({along.size(), 1, along.weights}, dimension_).values, device);
    find_jacobians();
    check(from);
}

void element_map::find_jacobians() {
    const std::int64_t Q = points_along_, N = nodes_along_, E = elements_, d = dimension_;
    vector jacobian(ricci::uninitialized, points_ * d * d * E, device_);
    if (d == 2) {
        const auto X = shaped<4>(nodes_, {N, N, 2, E});
        const auto J = shaped<5>(jacobian, {Q, Q, 2, 2, E}); // derivatives of coordinate x in direction 0, 1
        J(a, b, x, 0, e) = G_(a, i) * B_(b, j) * X(i, j, x, e);
        J(a, b, x, 1, e) = B_(a, i) * G_(b, j) * X(i, j, x, e);
    } else {
        const auto X = shaped<5>(nodes_, {N, N, N, 3, E});
        const auto J = shaped<6>(jacobian, {Q, Q, Q, 3, 3, E});
        J(a, b, c, x, 0, e) = G_(a, i) * B_(b, j) * B_(c, k) * X(i, j, k, x, e);
        J(a, b, c, x, 1, e) = B_(a, i) * G_(b, j) * B_(c, k) * X(i, j, k, x, e);
        J(a, b, c, x, 2, e) = B_(a, i) * B_(b, j) * G_(c, k) * X(i, j, k, x, e);
    }
    adjugate_ = vector(ricci::uninitialized, jacobian.size(), device_);
    det_ = vector(ricci::uninitialized, points_ * E, device_);
    const auto J = shaped<4>(jacobian, {points_, d, d, E});
    const auto adj = shaped<4>(adjugate_, {points_, d, d, E});
    const auto det = shaped<2>(det_, {points_, E});
    for (int row = 0; row < d; ++row)
        for (int column = 0; column < d; ++column) {
            // Cofactors: the indices that follow cyclically give the sign by themselves in 3-D.
            const int x1 = (column + 1) % 3, x2 = (column + 2) % 3, r1 = (row + 1) % 3, r2 = (row + 2) % 3;
            if (d == 3)
                adj(q, row, column, e) = J(q, x1, r1, e) * J(q, x2, r2, e) - J(q, x1, r2, e) * J(q, x2, r1, e);
            else
                adj(q, row, column, e) = (row == column ? 1 : -1) * J(q, 1 - column, 1 - row, e);
        }
    det(q, e) = adj(q, 0, x, e) * J(q, x, 0, e);
}

void element_map::check(const mesh& from) const {
    // The language has no smallest element, but relu(tiny - x) is 0 unless x is below tiny (or no number), and
    // relu(x - huge) unless x is infinite.
    vector bad(ricci::uninitialized, elements_, device_);
    const auto det = shaped<2>(det_, {points_, elements_});
    constexpr double tiny = std::numeric_limits<double>::min(), huge = std::numeric_limits<double>::max();
    bad(e) = relu(tiny - det(q, e)) + relu(det(q, e) - huge);
    const std::vector<double> found = bad.download();
    for (std::int64_t number = 0; number < elements_; ++number) {
        if (found[number] == 0) continue;
        vector one(ricci::uninitialized, points_, device_);
        one(q) = det(q, number);
        const std::vector<double> values = one.download();
        std::size_t worst = 0;
        for (std::size_t point = 1; point < values.size() && std::isfinite(values[worst]); ++point)
            if (!(values[point] >= values[worst]) || !std::isfinite(values[point])) worst = point;
        throw mesh_error(bad_determinant(from, number, values[worst], fmt::format("at quadrature point {}", worst)));
    }
}

vector element_map::weights() const {
    vector result(ricci::uninitialized, points_ * elements_, device_);
    const auto det = shaped<2>(det_, {points_, elements_});
    shaped<2>(result, {points_, elements_})(q, e) = weight_(q) * det(q, e);
    return result;
}

vector element_map::diffusion() const {
    const auto pairs = symmetric_pairs(dimension_);
    const auto count = static_cast<std::int64_t>(pairs.size());
    vector result(ricci::uninitialized, points_ * count * elements_, device_);
    const auto D = shaped<3>(result, {points_, count, elements_});
    const auto adj = shaped<4>(adjugate_, {points_, dimension_, dimension_, elements_});
    const auto det = shaped<2>(det_, {points_, elements_});
    for (std::int64_t number = 0; number < count; ++number) {
        const auto [row, column] = pairs[number];
        D(q, number, e) = weight_(q) * adj(q, row, x, e) * adj(q, column, x, e) / det(q, e);
    }
    return result;
}

vector element_map::diffusion(const ricci::view<const double, 4>& K) const {
    const auto pairs = symmetric_pairs(dimension_);
    const auto count = static_cast<std::int64_t>(pairs.size());
    vector result(ricci::uninitialized, points_ * count * elements_, device_);
    const auto D = shaped<3>(result, {points_, count, elements_});
    const auto adj = shaped<4>(adjugate_, {points_, dimension_, dimension_, elements_});
    const auto det = shaped<2>(det_, {points_, elements_});
    for (std::int64_t number = 0; number < count; ++number) {
        const auto [row, column] = pairs[number];
        D(q, number, e) = weight_(q) * adj(q, row, x, e) * K(q, x, y, e) * adj(q, column, y, e) / det(q, e);
    }
    return result;
}

vector element_map::points() const {
    vector result(ricci::uninitialized, points_ * dimension_ * elements_, device_);
    interpolate(B_, dimension_, dimension_ * elements_, nodes_, result);
    return result;
}

std::vector<double> mapped_points(const mesh& from, const std::vector<double>& along, ricci::device device) {
    const auto count = static_cast<std::int64_t>(along.size());
    check_memory(from.name, "the places of its points",
                 8.0 * static_cast<double>(power(count, from.dimension)) * from.dimension *
                     static_cast<double>(from.elements));
    const matrix B = to_device(lagrange(positions(from.points, from.order)).values(along), device);
    const vector nodes = to_device(from.nodes, device);
    vector result(ricci::uninitialized, power(count, from.dimension) * from.dimension * from.elements, device);
    interpolate(B, from.dimension, from.dimension * from.elements, nodes, result);
    return result.download();
}

double careful_sum(const std::vector<double>& values) {
    double total = 0, lost = 0;
    for (const double value : values) {
        const double next = total + value;
        lost += std::abs(total) >= std::abs(value) ? (total - next) + value : (value - next) + total;
        total = next;
    }
    return total + lost;
}

} // namespace fem
