// schwarz_test: the additive Schwarz preconditioner against plain loops, its symmetry, and what it spares iterations.
#include "examples/fem/mesh/read_mesh.hpp"
#include "examples/fem/operators/element_matrices.hpp"
#include "examples/fem/operators/geometry.hpp"
#include "examples/fem/operators/sparse_matrix.hpp"
#include "examples/fem/solve/poisson.hpp"
#include "examples/fem/solve/schwarz.hpp"
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

using namespace fem_test;
using Catch::Contains;
using fem::preconditioning;

namespace {

std::vector<double> random_numbers(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> between(-1, 1);
    std::vector<double> values(count);
    for (double& value : values) value = between(random);
    return values;
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
    double sum = 0;
    for (std::size_t n = 0; n < x.size(); ++n) sum += x[n] * y[n];
    return sum;
}

/// The largest difference relative to the largest number.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0, scale = 0;
    for (std::size_t n = 0; n < a.size(); ++n) {
        largest = std::max(largest, std::abs(a[n] - b[n]));
        scale = std::max(scale, std::abs(b[n]));
    }
    return largest / scale;
}

std::vector<double> applied(const fem::linear_map& F, const std::vector<double>& r) {
    const auto device = ricci::default_device();
    fem::vector z(static_cast<std::int64_t>(r.size()), device);
    F(fem::to_device(r, device), z);
    return z.download();
}

fem::poisson problem_on(const fem::mesh& m, int p, std::optional<fem::symmetric_matrix> K = std::nullopt,
                        const std::vector<int>& neumann = {}) {
    return {m, p, fem::smooth_solution(m.dimension), ricci::default_device(), K, 0, 0, neumann};
}

/// x = A^-1 b, A dense and symmetric positive definite, by elimination.
std::vector<double> solved(std::vector<double> a, std::vector<double> b) {
    const std::size_t n = b.size();
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = k + 1; i < n; ++i) {
            const double factor = a[i + n * k] / a[k + n * k];
            for (std::size_t j = k; j < n; ++j) a[i + n * j] -= factor * a[k + n * j];
            b[i] -= factor * b[k];
        }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k + n * j] * b[j];
        b[k] /= a[k + n * k];
    }
    return b;
}

/// sum_e R_e' W_e A_e^-1 W_e R_e r by plain loops over the rows of the assembled matrix.
std::vector<double> plain_schwarz(const fem::h1_space& space, const fem::sparse_matrix& A,
                                  const std::vector<double>& free, const std::vector<double>& r) {
    const std::vector<double> values = A.values().download();
    const std::int64_t nodes = space.nodes();
    std::vector<double> count(space.dofs()), z(space.dofs());
    for (const std::int64_t number : space.numbers()) ++count[number];
    for (std::int64_t e = 0; e < space.elements(); ++e) {
        const std::int64_t* own = &space.numbers()[e * nodes];
        std::vector<double> block(nodes * nodes), x(nodes);
        for (std::int64_t i = 0; i < nodes; ++i) {
            x[i] = r[own[i]] / std::sqrt(count[own[i]]);
            for (std::int64_t j = 0; j < nodes; ++j) {
                const auto begin = A.columns().begin() + A.row_starts()[own[i]];
                const auto end = A.columns().begin() + A.row_starts()[own[i] + 1];
                const auto at = std::lower_bound(begin, end, own[j]) - A.columns().begin();
                block[i + nodes * j] = free[own[i]] * free[own[j]] * values[at];
            }
            if (free[own[i]] == 0) block[i + nodes * i] = 1;
        }
        x = solved(std::move(block), std::move(x));
        for (std::int64_t i = 0; i < nodes; ++i) z[own[i]] += x[i] / std::sqrt(count[own[i]]);
    }
    return z;
}

} // namespace

TEST_CASE("additive Schwarz is the sum of the elements' blocks' inverses", "[numerics]") {
    const auto device = ricci::default_device();
    for (const int dimension : {2, 3})
        for (int p = 1; p <= (dimension == 2 ? 8 : 4); ++p) {
            INFO(dimension << "-D, order " << p);
            const auto m = fem::generate_ring(dimension, 3, 8);
            auto problem = problem_on(m, p);
            const auto& space = problem.space();
            std::vector<double> free(space.dofs(), 1);
            for (const std::int64_t number : space.boundary_dofs()) free[number] = 0;

            const fem::tables basis(fem::quadrature::gauss, p, device);
            const fem::element_map map(m, basis.along, device);
            fem::sparse_matrix A(space, device);
            A.assemble(fem::element_diffusion_matrices(basis, dimension, m.elements, map.diffusion(),
                                                       fem::assembly::factored));
            const auto r = random_numbers(space.dofs(), 7 + p);
            const auto z = applied(problem.preconditioner(preconditioning::schwarz), r);
            CHECK(difference(z, plain_schwarz(space, A, free, r)) < 1e-11);
            for (const std::int64_t number : space.boundary_dofs()) // the identity where u is given
                CHECK(std::abs(z[number] - r[number]) < 1e-13);
        }
}

TEST_CASE("additive Schwarz is symmetric and positive definite") {
    const fem::symmetric_matrix K{{{2, .5, 0}, {.5, 1, .1}, {0, .1, 3}}};
    for (const int dimension : {2, 3})
        for (const int p : {2, 4}) {
            INFO(dimension << "-D, order " << p);
            const auto m = fem::generate_ring(dimension, 3, dimension == 2 ? 64 : 27);
            auto problem = problem_on(m, p, K, {2});
            const auto F = problem.preconditioner(preconditioning::schwarz);
            for (unsigned seed = 1; seed <= 5; ++seed) {
                const auto x = random_numbers(problem.space().dofs(), seed);
                const auto y = random_numbers(problem.space().dofs(), 100 + seed);
                const auto Fx = applied(F, x), Fy = applied(F, y);
                const double largest = std::sqrt(dot(x, Fx) * dot(y, Fy));
                CHECK(dot(x, Fx) > 0);
                CHECK(std::abs(dot(y, Fx) - dot(x, Fy)) < 1e-13 * largest);
                CHECK(applied(F, x) == Fx); // the same bits each time
            }
        }
}

TEST_CASE("additive Schwarz gives Jacobi's solution in fewer iterations") {
    struct row {
        int dimension, p, jacobi, schwarz;
    };
    for (const auto& [dimension, p, by_jacobi, by_schwarz] :
         {row{2, 2, 87, 48}, {2, 4, 212, 85}, {3, 2, 46, 26}, {3, 4, 124, 53}}) {
        INFO(dimension << "-D, order " << p);
        const auto m = fem::generate_ring(dimension, 3, 64);
        auto problem = problem_on(m, p), other = problem_on(m, p), third = problem_on(m, p);
        const auto jacobi = problem.solve({}, problem.preconditioner(preconditioning::jacobi));
        const auto schwarz = other.solve({}, other.preconditioner(preconditioning::schwarz));
        const auto none = third.solve({}, third.preconditioner(preconditioning::none));
        CHECK((jacobi.converged && schwarz.converged && none.converged));
        CHECK(std::abs(jacobi.iterations - by_jacobi) <= 2);
        CHECK(std::abs(schwarz.iterations - by_schwarz) <= 2);
        CHECK(none.iterations > jacobi.iterations);
        const auto expected = problem.solution().download();
        CHECK(difference(other.solution().download(), expected) < 1e-11);
        CHECK(difference(third.solution().download(), expected) < 1e-11);
        CHECK(other.error() == Approx(problem.error()).epsilon(1e-6));
    }
}

TEST_CASE("additive Schwarz is exact on a mesh of one element, and small parts of a mesh are no trouble") {
    for (const int dimension : {2, 3}) {
        const auto m = fem::generate_ring(dimension, 3, 1);
        REQUIRE(m.elements == 1);
        auto problem = problem_on(m, 4);
        const auto solved = problem.solve({}, problem.preconditioner(preconditioning::schwarz));
        CHECK(solved.converged);
        CHECK(solved.iterations <= 2); // the second where rounding leaves more than 1e-12
    }
    for (const std::string name : {"square.mesh", "cube.mesh", "quarter_ring.msh", "quarter_pipe.msh"}) {
        INFO(name);
        const auto m = fem::read_mesh(own_mesh(name));
        auto problem = problem_on(m, 1); // with elements all of whose nodes lie on the boundary
        CHECK(problem.solve({}, problem.preconditioner(preconditioning::schwarz)).converged);
    }
}

TEST_CASE("additive Schwarz refuses what is too large, and blocks that are not positive definite") {
    const fem::h1_space large(fem::generate_ring(3, 1, 4096), 16);
    try {
        fem::check_schwarz_memory(large);
        FAIL("terabytes were not refused");
    } catch (const fem::not_enough_memory& error) {
        CHECK_THAT(error.what(), Contains("blocks of 4913 x 4913 for its 4096 elements") && Contains("free"));
    }
    const auto m = fem::generate_ring(2, 1, 4);
    const fem::h1_space space(m, 1);
    const auto device = ricci::default_device();
    std::vector<double> matrices(16 * 4), free(space.dofs(), 1);
    for (std::size_t n = 0; n < matrices.size(); ++n) matrices[n] = n % 16 % 5 == 0 ? (n / 16 == 3 ? -4 : 1) : 0;
    try {
        fem::additive_schwarz(space, fem::to_device(matrices, device), fem::to_device(free, device));
        FAIL("a matrix that is not positive definite was not refused");
    } catch (const fem::mesh_error& error) {
        CHECK_THAT(error.what(), Contains("element ") && Contains("is not positive definite"));
    }
}

TEST_CASE("fem poisson takes a preconditioner") {
    const auto run = [](const std::string& arguments) {
        return run_program(RICCI_FEM_PROGRAM " poisson " + arguments);
    };
    const auto schwarz = run("--dimension 2 --order 4 --refine 1 --preconditioner schwarz");
    INFO(schwarz.output);
    CHECK(schwarz.exit_code == 0);
    CHECK_THAT(schwarz.output, Contains("Preconditioner   additive Schwarz") && !Contains("NOT CONVERGED"));
    const auto plain = run("--dimension 2 --order 4");
    CHECK_THAT(plain.output, Contains("Preconditioner   Jacobi"));
    CHECK_THAT(run("--dimension 2 --order 4 --preconditioner none").output, Contains("Preconditioner   none"));
    const auto wrong = run("--preconditioner ilu");
    CHECK(wrong.exit_code == 1);
    CHECK_THAT(wrong.output, Contains("--preconditioner") && Contains("schwarz"));
}
