// apply_test: the matrix-free operators against the reference's numbers, and the identities that they must satisfy.
#include "examples/fem/mesh/read_mesh.hpp"
#include "examples/fem/operators/diffusion_operator.hpp"
#include "examples/fem/operators/mass_operator.hpp"
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

#include <cmath>
#include <cstdlib>
#include <set>

using namespace fem_test;

namespace {

using namespace ricci::indices;

double dot(const fem::vector& u, const fem::vector& v) { return u(i) * v(i); }

double smooth(const fem::point& at) {
    return std::sin(1.1 * at[0] + 0.3) * std::cos(0.9 * at[1] - 0.2) * std::exp(0.5 * at[2]);
}

/// A row of golden/apply_reference.csv.
void check_row(const std::map<std::string, std::string>& row) {
    const int p = std::stoi(row.at("p"));
    const bool gauss = row.at("rule") == "GL";
    INFO(row.at("mesh") << ", p = " << p << ", " << row.at("rule"));
    const auto golden = [&](const char* name) { return std::stod(row.at(name)); };
    const auto mesh = fem::read_mesh(reference("meshes/" + row.at("mesh") + ".mesh"));
    const auto device = ricci::default_device();
    const fem::h1_space space(mesh, p);
    CHECK(space.dofs() == std::stoll(row.at("ndof")));
    CHECK(static_cast<std::int64_t>(space.boundary_dofs().size()) == std::stoll(row.at("nbdrdof")));
    const fem::tables basis(gauss ? fem::quadrature::gauss : fem::quadrature::collocated, p, device);
    CHECK(basis.points() == std::stoi(row.at("q1d")));
    const fem::element_map map(mesh, basis.along, device);
    fem::mass_operator mass(space, basis, map);
    fem::diffusion_operator diffusion(space, basis, map);

    fem::vector Mu(space.dofs(), device), Ku(space.dofs(), device);
    fem::vector one(space.dofs(), device);
    one.fill(1.0);
    const fem::vector u = fem::to_device(nodal(mesh, space, smooth), device);
    const fem::vector x = fem::to_device(nodal(mesh, space, [](const fem::point& at) { return at[0]; }), device);
    mass.apply(u, Mu);
    diffusion.apply(u, Ku);
    CHECK(std::abs(dot(u, Mu) / golden("u_M_u") - 1) < 1e-11);
    CHECK(std::abs(dot(u, Ku) / golden("u_K_u") - 1) < 1e-11);
    CHECK(std::abs(std::sqrt(dot(Mu, Mu)) / golden("norm_Mu") - 1) < 1e-11);
    CHECK(std::abs(std::sqrt(dot(Ku, Ku)) / golden("norm_Ku") - 1) < 1e-11);
    CHECK(std::abs(dot(one, Mu) / golden("one_M_u") - 1) < 1e-11);
    mass.apply(one, Mu);
    CHECK(std::abs(dot(one, Mu) / golden("one_M_one") - 1) < 1e-12);
    diffusion.apply(one, Ku);
    const double scale = golden("norm_Ku");
    for (const double value : Ku.download()) REQUIRE(std::abs(value) < 1e-12 * scale);
    diffusion.apply(x, Ku);
    CHECK(std::abs(dot(x, Ku) / golden("x_K_x") - 1) < 1e-11);
    // The patch test: nothing inside, where the rule and the order allow it; else what the reference found.
    std::vector<double> inside = Ku.download();
    for (const std::int64_t number : space.boundary_dofs()) inside[number] = 0;
    double largest = 0;
    for (const double value : inside) largest = std::max(largest, std::abs(value));
    const double expected = golden("patch_max_interior_Kx"); // nan: nothing is inside
    if (space.boundary_dofs().size() < inside.size())
        CHECK(std::abs(largest - expected) < 1e-10 * scale + 1e-9 * expected);
}

void check_rows(bool all) {
    const auto path = reference("golden/apply_reference.csv");
    if (path.empty()) return;
    int checked = 0;
    for (const auto& row : read_csv(path)) {
        // A few orders on each mesh, and all of those where the operators differ from one mesh to the next.
        static const std::set<std::pair<std::string, std::string>> few{
            {"inline-hex", "2"},   {"fichera", "3"},     {"multidomain-hex", "2"},
            {"box-cylinder", "1"}, {"toroid-hex", "3"},  {"toroid-hex", "6"},
            {"triple-pt-1", "1"},  {"triple-pt-1", "4"}, {"triple-pt-1", "8"}};
        if (all || few.contains({row.at("mesh"), row.at("p")})) check_row(row), ++checked;
    }
    CHECK(checked >= (all ? 60 : 18));
}

} // namespace

TEST_CASE("operators are those of the reference on a spread of meshes and orders", "[reference]") {
    check_rows(false);
}

TEST_CASE("operators are those of the reference on every mesh in every order", "[.long]") { check_rows(true); }
