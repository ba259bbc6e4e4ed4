// geometry_test: weights and metric by statements against plain loops; coefficients; what is inverted is named.
#include "examples/fem/mesh/read_mesh.hpp"
#include "examples/fem/mesh/refine.hpp"
#include "examples/fem/operators/geometry.hpp"
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

#include <cmath>

using namespace fem_test;

TEST_CASE("weighted determinants by statements are those of plain loops") {
    for (const std::string name : {"square.mesh", "cube.mesh", "quarter_pipe.msh", "quarter_ring.msh"}) {
        INFO(name);
        const auto m = fem::read_mesh(own_mesh(name));
        for (const int points : {1, 3, 6}) {
            const auto along = fem::gauss_legendre(points);
            const auto w = weighted_determinants(m, along, ricci::default_device());
            const auto plain = plain_weights(m, along);
            REQUIRE(w.size() == plain.size());
            for (std::size_t n = 0; n < w.size(); ++n)
                REQUIRE(std::abs(w[n] - plain[n]) < 1e-13 * std::abs(plain[n]));
        }
    }
}

TEST_CASE("the metric of an affine map is weight * det * (J^-1 K J^-T)") {
    // x = A r + b: J is A everywhere.
    const double A[3][3]{{2, 0.5, 0.1}, {0.2, 1.5, -0.3}, {-0.1, 0.4, 1}};
    const double K[3][3]{{2, 0.3, -0.2}, {0.3, 1, 0.1}, {-0.2, 0.1, 3}};
    for (const int dimension : {2, 3}) {
        const auto m = fem::generate_grid("box", dimension, 1, {1, 1, 1}, [&](const fem::point& r) {
            fem::point x{};
            for (int a = 0; a < dimension; ++a)
                for (int b = 0; b < dimension; ++b) x[a] += A[a][b] * r[b];
            return x;
        });
        // The inverse by Cramer's rule, 2-D as a block of 3-D.
        double J[3][3];
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) J[a][b] = a < dimension && b < dimension ? A[a][b] : a == b;
        const auto minor = [&](int a, int b) {
            const int r1 = (a + 1) % 3, r2 = (a + 2) % 3, c1 = (b + 1) % 3, c2 = (b + 2) % 3;
            return J[r1][c1] * J[r2][c2] - J[r1][c2] * J[r2][c1];
        };
        const double det = J[0][0] * minor(0, 0) + J[0][1] * minor(0, 1) + J[0][2] * minor(0, 2);
        const auto device = ricci::default_device();
        const auto along = fem::gauss_legendre(2);
        const fem::element_map map(m, along, device);
        const std::int64_t points = map.points_per_element(), d = dimension;
        std::vector<double> entries;
        for (int y = 0; y < dimension; ++y)
            for (int x = 0; x < dimension; ++x) entries.push_back(K[x][y]);
        const auto on_device = fem::to_device(entries, device);
        const ricci::view<const double, 4> everywhere(on_device.data(), {points, d, d, 1}, {0, 1, d, 0}, device);
        const auto plain = map.diffusion().download(), with = map.diffusion(everywhere).download();
        const auto weights = fem::tensor_product({along.size(), 1, along.weights}, dimension).values;
        const auto pairs = fem::symmetric_pairs(dimension);
        CHECK(pairs.size() == (dimension == 2 ? 3 : 6));
        for (std::size_t s = 0; s < pairs.size(); ++s) {
            double identity = 0, general = 0;
            for (int x = 0; x < dimension; ++x)
                for (int y = 0; y < dimension; ++y) {
                    const double product = minor(x, pairs[s].first) * minor(y, pairs[s].second) / det;
                    identity += product * (x == y);
                    general += product * K[x][y];
                }
            for (std::int64_t q = 0; q < points; ++q) {
                CHECK(plain[q + points * s] == Approx(weights[q] * identity).epsilon(1e-13).margin(1e-15));
                CHECK(with[q + points * s] == Approx(weights[q] * general).epsilon(1e-13).margin(1e-15));
            }
        }
        CHECK(fem::symmetric_table(dimension)[dimension - 1] == dimension - 1); // (x, y) = (last, 0)
    }
}

TEST_CASE("the element that is inverted is named, also among many and at one point only") {
    auto m = fem::generate_ring(3, 2, 64);
    const std::int64_t n = fem::nodes_per_element(m);
    // The middle node of element 37 far out: the mapping folds near it.
    m.nodes[(37 * 3 + 0) * n + n / 2] += 3;
    CHECK_THROWS_WITH(fem::element_map(m, fem::gauss_legendre(4), ricci::default_device()),
                      Catch::Contains("element 37 (counted from 0) is inverted or degenerate"));
    // In a part of a refined mesh it is the element that was cut.
    CHECK_THROWS_WITH(fem::element_map(fem::refined(m, 2), fem::gauss_legendre(4), ricci::default_device()),
                      Catch::Contains("element 37 (counted from 0), refined 2 times, is inverted or degenerate"));
    const auto huge = fem::generate_grid("huge", 2, 1, {3, 1, 1}, [](const fem::point& at) -> fem::point {
        return {at[0] > 0.5 ? 1e200 * at[0] : at[0], 1e200 * at[1], 0};
    });
    CHECK_THROWS_WITH(fem::element_map(huge, fem::gauss_legendre(3), ricci::default_device()),
                      Catch::Contains("element 1 (counted from 0) is too large"));
    auto flat = fem::generate_grid("flat", 2, 1, {3, 1, 1}, [](const fem::point& at) -> fem::point {
        return {at[0] > 0.5 ? 0.5 : at[0], at[1], 0};
    });
    CHECK_THROWS_WITH(fem::element_map(flat, fem::gauss_legendre(3), ricci::default_device()),
                      Catch::Contains("element 2 (counted from 0) is inverted or degenerate"));
}
