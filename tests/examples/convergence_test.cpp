// convergence_test: errors fall as h^(p+1), on straight and on curved meshes, and are the reference's.
#include "examples/fem/mesh/read_mesh.hpp"
#include "examples/fem/mesh/refine.hpp"
#include "examples/fem/solve/poisson.hpp"
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

#include <cmath>
#include <map>

using namespace fem_test;

namespace {

fem::mesh unit_box(int dimension, std::int64_t n) {
    return fem::generate_grid("unit box", dimension, 1, {n, n, n}, [](const fem::point& at) { return at; });
}

struct outcome_of_solve {
    double error = 0;
    int iterations = 0;
    std::int64_t dofs = 0;
};

/// The reference solves to 1e-13 on refined meshes; its errors are those that p+4 points see.
outcome_of_solve solve(const fem::mesh& m, int p, const fem::manufactured& known, int error_points = 0) {
    fem::poisson problem(m, p, known, ricci::default_device(), std::nullopt, 0, error_points);
    const auto solved = problem.solve({.tolerance = 1e-13, .progress = {}});
    CHECK(solved.converged);
    return {problem.error(), solved.iterations, problem.space().dofs()};
}

/// Rows of golden/h_convergence.csv with at most so many unknowns: errors, and rates from one row to the next.
void check_rows(std::int64_t most) {
    const auto path = reference("golden/h_convergence.csv");
    if (path.empty()) return;
    int checked = 0;
    for (const auto& row : read_csv(path)) {
        if (std::stoll(row.at("ndof")) > most) continue;
        const std::string& problem = row.at("problem");
        const int p = std::stoi(row.at("p")), n = std::stoi(row.at("n"));
        INFO(problem << ", p = " << p << ", n = " << n);
        const bool given = problem.starts_with("unit");
        const int times = static_cast<int>(std::lround(std::log2(n)));
        const auto m =
            given ? unit_box(problem.starts_with("unit cube") ? 3 : 2, n)
                  : fem::refined(
                        fem::read_mesh(reference("meshes/" + problem.substr(0, problem.find(' ')) + ".mesh")), times);
        const auto found = solve(m, p, fem::sine_solution(m), p + 4);
        const double golden = std::stod(row.at("L2"));
        CHECK(found.dofs == std::stoll(row.at("ndof")));
        // CG stops at 1e-12 of the start, which leaves that much of the solution.
        CHECK(std::abs(found.error - golden) < 1e-8 * golden + 2e-13);
        // On a regular grid of a box the sines are in the span of a few residuals; then it is rounding that ends it.
        if (!given) CHECK(std::abs(found.iterations - std::stoi(row.at("cg"))) <= 2);
        ++checked;
    }
    CHECK(checked > 20);
}

} // namespace

TEST_CASE("errors are those of the reference on refined meshes, small ones", "[reference]") { check_rows(1500); }

TEST_CASE("errors are those of the reference on all refined meshes", "[.long]") { check_rows(1000000); }

TEST_CASE("rates of convergence on a curved mesh are p+1", "[numerics]") {
    // A quarter of a ring whose circles its elements follow to h^(k+1), k = p: isoparametric.
    for (int p = 1; p <= 8; ++p) {
        INFO("order " << p);
        double before = 0, rate = 0;
        // Sizes at which the rate has settled and rounding is not seen.
        const int sides[8][2]{{16, 32}, {12, 24}, {8, 16}, {6, 12}, {4, 8}, {4, 8}, {4, 8}, {2, 4}};
        for (const int side : sides[p - 1]) {
            const auto m = fem::generate_ring(2, p, std::int64_t{side} * side);
            const double error = solve(m, p, fem::smooth_solution(2)).error;
            rate = std::log2(before / error);
            before = error;
        }
        CHECK(std::abs(rate - (p + 1)) < 0.15);
    }
}

TEST_CASE("rates of convergence on a refined curved mesh in 3-D are p+1", "[numerics]") {
    for (int p = 1; p <= 5; ++p) {
        INFO("order " << p);
        const auto m = fem::refined(fem::generate_ring(3, p < 5 ? 2 : 3, p == 1 ? 64 : 8), 1);
        const double coarse = solve(m, p, fem::smooth_solution(3)).error;
        const double fine = solve(fem::refine(m), p, fem::smooth_solution(3)).error;
        CHECK(std::abs(std::log2(coarse / fine) - (p + 1)) < 0.15);
    }
}
