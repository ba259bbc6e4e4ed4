// basis_test: rules are exact to their degree and bases interpolate, up to rounding, for every size.
#include "examples/fem/space/basis.hpp"
#include "tests/catch.hpp"

#include <cmath>
#include <limits>

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// The largest error of the rule over x^d, d = 0..degree, whose integral is 1/(d+1).
double error_up_to(const fem::rule& r, int degree) {
    double largest = 0;
    for (int d = 0; d <= degree; ++d) {
        double sum = 0;
        for (int i = 0; i < r.size(); ++i) sum += r.weights[i] * std::pow(r.points[i], d);
        largest = std::max(largest, std::abs(sum - 1.0 / (d + 1)));
    }
    return largest;
}

void check_symmetric_and_increasing(const fem::rule& r) {
    for (int i = 0; i < r.size(); ++i) {
        CHECK(r.weights[i] > 0);
        CHECK(std::abs(r.points[i] + r.points[r.size() - 1 - i] - 1) <= epsilon);
        if (i > 0) CHECK(r.points[i] > r.points[i - 1]);
    }
}

} // namespace

TEST_CASE("Gauss-Legendre rules are exact to degree 2n-1") {
    for (int n = 1; n <= 32; ++n) {
        INFO("n = " << n);
        const auto r = fem::gauss_legendre(n);
        check_symmetric_and_increasing(r);
        CHECK(error_up_to(r, 2 * n - 1) < 8 * epsilon);
        // and no further: the rule's error in x^2n is (n!)^4 / ((2n+1) ((2n)!)^2)
        if (n <= 5) {
            const double error =
                std::pow(std::tgamma(n + 1), 4) / ((2 * n + 1) * std::pow(std::tgamma(2 * n + 1), 2));
            CHECK(error_up_to(r, 2 * n) == Approx(error).epsilon(1e-6));
        }
    }
}

TEST_CASE("Gauss-Lobatto rules hold the ends and are exact to degree 2n-3") {
    for (int n = 2; n <= 32; ++n) {
        INFO("n = " << n);
        const auto r = fem::gauss_lobatto(n);
        check_symmetric_and_increasing(r);
        CHECK(r.points.front() == 0);
        CHECK(r.points.back() == 1);
        CHECK(error_up_to(r, 2 * n - 3) < 8 * epsilon);
        if (n <= 5) CHECK(error_up_to(r, 2 * n - 2) > 1e-7);
    }
}

TEST_CASE("points and weights known in closed form") {
    const auto two = fem::gauss_legendre(2), three = fem::gauss_legendre(3);
    CHECK(std::abs(two.points[0] - (0.5 - std::sqrt(3.0) / 6)) <= epsilon);
    CHECK(std::abs(three.points[2] - (0.5 + std::sqrt(15.0) / 10)) <= epsilon);
    CHECK(std::abs(three.weights[1] - 4.0 / 9) <= epsilon);
    const auto lobatto = fem::gauss_lobatto(4);
    CHECK(std::abs(lobatto.points[1] - (0.5 - std::sqrt(5.0) / 10)) <= epsilon);
    CHECK(std::abs(lobatto.weights[0] - 1.0 / 12) <= epsilon);
}

TEST_CASE("a Lagrange basis sums to 1, is 1 at its own node, and reproduces polynomials and their derivatives") {
    for (int order = 1; order <= 16; ++order) {
        INFO("order " << order);
        const auto nodes = fem::positions(fem::node_points::gauss_lobatto, order);
        const auto points = fem::gauss_legendre(order + 2).points;
        const fem::lagrange basis(nodes);
        const auto b = basis.values(points), g = basis.derivatives(points), at_nodes = basis.values(nodes);
        double sum_error = 0, slope_error = 0, value_error = 0, derivative_error = 0, node_error = 0;
        for (int q = 0; q < b.rows; ++q) {
            double sum = 0, slope = 0, value = 0, derivative = 0;
            for (int i = 0; i <= order; ++i) {
                sum += b(q, i), slope += g(q, i);
                value += b(q, i) * std::pow(nodes[i], order), derivative += g(q, i) * std::pow(nodes[i], order);
            }
            sum_error = std::max(sum_error, std::abs(sum - 1));
            slope_error = std::max(slope_error, std::abs(slope));
            value_error = std::max(value_error, std::abs(value - std::pow(points[q], order)));
            derivative_error =
                std::max(derivative_error, std::abs(derivative - order * std::pow(points[q], order - 1)));
        }
        for (int i = 0; i <= order; ++i)
            for (int j = 0; j <= order; ++j) node_error = std::max(node_error, std::abs(at_nodes(i, j) - (i == j)));
        CHECK(sum_error < 20 * epsilon);
        CHECK(value_error < 20 * epsilon);
        // A derivative's entries grow as order^2, and so do their rounding errors.
        CHECK(slope_error < 40 * order * order * epsilon);
        CHECK(derivative_error < 40 * order * order * epsilon);
        CHECK(node_error == 0);
    }
}

TEST_CASE("the tensor product runs over the first direction fastest") {
    const fem::table along{2, 3, {1, 2, 3, 5, 7, 11}}; // columns (1 2) (3 5) (7 11)
    const auto b = fem::tensor_product(along, 3);
    REQUIRE(b.rows == 8);
    REQUIRE(b.columns == 27);
    CHECK(b(1 + 2 * 0 + 4 * 1, 2 + 3 * 0 + 9 * 1) == along(1, 2) * along(0, 0) * along(1, 1));

    // Applying the directions one by one is applying the product.
    std::vector<double> u(27);
    for (int i = 0; i < 27; ++i) u[i] = std::sin(i + 1.0);
    const auto applied = fem::apply_along({&along, &along, &along}, u.data());
    for (int q = 0; q < 8; ++q) {
        double sum = 0;
        for (int i = 0; i < 27; ++i) sum += b(q, i) * u[i];
        CHECK(applied[q] == Approx(sum).epsilon(1e-13));
    }
}
