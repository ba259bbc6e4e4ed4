// closed_form_test: operators on curved meshes that are made here, against integrals in closed form. Needs no files.
#include "examples/fem/operators/diffusion_operator.hpp"
#include "examples/fem/operators/element_matrices.hpp"
#include "examples/fem/operators/mass_operator.hpp"
#include "examples/fem/operators/sparse_matrix.hpp"
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

#include <cmath>
#include <numeric>

using namespace fem_test;

namespace {

using numbers = std::vector<double>;

// Boxes bent by parabolas, which elements of order 2 follow exactly. Of the maps' determinants, which are 2
// everywhere, and of what x and y are, all integrals below are those of polynomials over the unit box.
const fem::mesh& bent_box(int dimension) {
    static const auto plane = fem::generate_grid("bent box", 2, 2, {3, 2, 1}, [](const fem::point& at) -> fem::point {
        return {2 * at[0] + 0.3 * at[1] * at[1], at[1], 0};
    });
    static const auto body = fem::generate_grid("bent box", 3, 2, {2, 3, 2}, [](const fem::point& at) -> fem::point {
        return {at[0] + 0.2 * at[1] * at[1], at[1] + 0.3 * at[2] * at[2], 2 * at[2]};
    });
    return dimension == 2 ? plane : body;
}

struct integrals {
    double volume = 2, x, xx;
};
constexpr integrals of_plane{2, 2 * (1 + 0.1), 2 * (4 / 3.0 + 0.2 + 0.09 / 5)},
    of_body{2, 2 * (0.5 + 0.2 / 3), 2 * (1 / 3.0 + 0.2 / 3 + 0.04 / 5)};

double dot(const numbers& a, const numbers& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

numbers applied(fem::element_operator& A, const numbers& u) {
    const fem::vector from = fem::to_device(u, A.device());
    fem::vector to(static_cast<std::int64_t>(u.size()), A.device());
    A.apply(from, to);
    return to.download();
}

} // namespace

TEST_CASE("mass and diffusion on curved meshes integrate polynomials as they are in closed form", "[numerics]") {
    const auto device = ricci::default_device();
    for (const int dimension : {2, 3}) {
        const auto& m = bent_box(dimension);
        CHECK(distance_from_straight(m) > 0.01);
        const auto& known = dimension == 2 ? of_plane : of_body;
        for (int p = 2; p <= (dimension == 2 ? 7 : 4); ++p) {
            INFO(dimension << "-D, p = " << p);
            const fem::h1_space space(m, p);
            const fem::tables basis(fem::quadrature::gauss, p, device);
            const fem::element_map map(m, basis.along, device);
            fem::mass_operator mass(space, basis, map);
            fem::diffusion_operator diffusion(space, basis, map);
            const numbers one(space.dofs(), 1.0), x = nodal(m, space, [](const fem::point&at) { return at[0]; }),
                                                  y = nodal(m, space, [](const fem::point&at) { return at[1]; });
            const auto Mx = applied(mass, x), Kx = applied(diffusion, x);
            CHECK(dot(one, applied(mass, one)) == Approx(known.volume).epsilon(1e-13));
            CHECK(dot(one, Mx) == Approx(known.x).epsilon(1e-13));
            CHECK(dot(x, Mx) == Approx(known.xx).epsilon(1e-13));
            // Gradients of x and y are constants, at right angles; that of 1 is none.
            CHECK(dot(x, Kx) == Approx(known.volume).epsilon(1e-12));
            CHECK(std::abs(dot(y, Kx)) < 1e-12);
            for (const double value : applied(diffusion, one)) REQUIRE(std::abs(value) < 1e-12);
            // x is harmonic: nothing is left inside.
            auto inside = Kx;
            for (const auto number : space.boundary_dofs()) inside[static_cast<std::size_t>(number)] = 0;
            for (const double value : inside) REQUIRE(std::abs(value) < 1e-12);

            fem::sparse_matrix matrix(space, device);
            matrix.assemble(
                fem::element_mass_matrices(basis, dimension, m.elements, map.weights(), fem::assembly::factored));
            CHECK(dot(x, product(matrix, x)) == Approx(known.xx).epsilon(1e-13));
            matrix.assemble(fem::element_diffusion_matrices(basis, dimension, m.elements, map.diffusion(),
                                                            fem::assembly::factored));
            CHECK(dot(x, product(matrix, x)) == Approx(known.volume).epsilon(1e-12));
            if (dimension == 3) continue;
            const auto yy = nodal(m, space, [](const fem::point& at) { return at[1] * at[1]; });
            const auto Kyy = applied(diffusion, yy);
            CHECK(dot(yy, Kyy) == Approx(8 / 3.0).epsilon(1e-12)); // 4y^2
            CHECK(dot(y, Kyy) == Approx(2).epsilon(1e-12));        // 2y
            CHECK(std::abs(dot(x, Kyy)) < 1e-12);
        }
    }
}
