// poisson_test: assembled matrices, solutions, iterations and rates of convergence against the reference's.
#include "examples/fem/mesh/read_mesh.hpp"
#include "examples/fem/mesh/refine.hpp"
#include "examples/fem/operators/element_matrices.hpp"
#include "examples/fem/operators/sparse_matrix.hpp"
#include "examples/fem/solve/poisson.hpp"
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

#include <cmath>
#include <set>

using namespace fem_test;

namespace {

/// A row of golden/poisson_reference.csv.
void check_row(const std::map<std::string, std::string>& row) {
    const int p = std::stoi(row.at("p"));
    INFO(row.at("mesh") << ", p = " << p);
    const auto golden = [&](const char* name) { return std::stod(row.at(name)); };
    const auto mesh = fem::read_mesh(reference("meshes/" + row.at("mesh") + ".mesh"));
    const auto device = ricci::default_device();
    fem::poisson problem(mesh, p, fem::smooth_solution(mesh.dimension), device);
    CHECK(problem.space().dofs() == std::stoll(row.at("ndof")));
    CHECK(problem.boundary_dofs() == std::stoll(row.at("nbdof")));
    CHECK(static_cast<std::int64_t>(problem.space().boundary().size()) == std::stoll(row.at("nbfaces")));

    const auto solved = problem.solve({});
    CHECK(solved.converged);
    const int iterations = row.at("cg_it_jacobi_1e-12").empty() ? 0 : std::stoi(row.at("cg_it_jacobi_1e-12"));
    CHECK(std::abs(solved.iterations - iterations) <= 2);
    CHECK(std::abs(l2_norm(mesh, fem::smooth_solution(mesh.dimension), p + 5) / golden("L2norm") - 1) < 1e-11);
    CHECK(std::abs(problem.error() - golden("L2err")) < 1e-7 * golden("L2err") + 3e-13 * golden("L2norm"));

    const fem::tables basis(fem::quadrature::gauss, p, device);
    const fem::element_map map(mesh, basis.along, device);
    fem::sparse_matrix matrix(problem.space(), device);
    CHECK(matrix.entries() == std::stoll(row.at("nnz")));
    matrix.assemble(
        fem::element_mass_matrices(basis, mesh.dimension, mesh.elements, map.weights(), fem::assembly::factored));
    CHECK(std::abs(matrix.trace() / golden("trM") - 1) < 1e-12);
    const auto Ke = fem::element_diffusion_matrices(basis, mesh.dimension, mesh.elements, map.diffusion(),
                                                    fem::assembly::factored);
    matrix.assemble(Ke);
    CHECK(std::abs(matrix.trace() / golden("trK") - 1) < 1e-12);
    CHECK(std::abs(matrix.frobenius_norm() / golden("froA") - 1) < 1e-12);
    using namespace ricci::indices;
    const double squares = Ke(n) * Ke(n);
    CHECK(std::abs(std::sqrt(squares) / golden("froKe") - 1) < 1e-12);
}

void check_rows(bool all) {
    const auto path = reference("golden/poisson_reference.csv");
    if (path.empty()) return;
    int checked = 0;
    for (const auto& row : read_csv(path)) {
        static const std::set<std::pair<std::string, std::string>> few{
            {"inline-hex", "2"},      {"fichera", "1"},      {"fichera", "3"},
            {"multidomain-hex", "2"}, {"box-cylinder", "1"}, {"toroid-hex", "3"},
            {"toroid-hex", "4"},      {"triple-pt-1", "1"},  {"triple-pt-1", "4"}};
        if (all || few.contains({row.at("mesh"), row.at("p")})) check_row(row), ++checked;
    }
    CHECK(checked >= (all ? 36 : 9));
}

} // namespace

TEST_CASE("Poisson's problem is that of the reference on a spread of meshes and orders", "[reference]") {
    check_rows(false);
}

TEST_CASE("Poisson's problem is that of the reference on every mesh in every order", "[.long]") { check_rows(true); }
