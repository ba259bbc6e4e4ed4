// mass_test: the statement's element matrices against plain loops and against reference matrices.
#include "examples/fem/mesh/read_mesh.hpp"
#include "examples/fem/operators/mass_matrices.hpp"
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

#include <cmath>

using namespace fem_test;

namespace {

/// The largest difference of two sets of matrices, relative to the largest entry.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0, scale = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, std::abs(a[i] - b[i]));
        scale = std::max(scale, std::abs(b[i]));
    }
    return largest / scale;
}

/// The rounding of two sums over `points` terms whose factors carry a few roundings themselves.
double bound(std::int64_t points) { return 2 * (static_cast<double>(points) + 10) * 2.2e-16; }

} // namespace

TEST_CASE("mass matrices by the statement are those of plain loops") {
    for (const std::string name : {"square.mesh", "cube.mesh", "quarter_pipe.msh", "quarter_ring.msh"}) {
        const auto m = fem::read_mesh(own_mesh(name));
        for (const auto& [p, q] : {std::pair{1, 3}, {2, 4}, {3, 4}, {4, 6}}) {
            INFO(name << ", p = " << p << ", q = " << q);
            fem::mass_matrices mass(m, p, q, ricci::default_device());
            mass.assemble();
            CHECK(mass.nodes() == fem::power(p + 1, m.dimension));
            CHECK(difference(mass.matrices().download(), element_masses(m, p, q)) < bound(mass.points()));
            CHECK(mass.volume_by_matrices() == Approx(mass.volume()).epsilon(mass.rounding()));
        }
    }
}

TEST_CASE("mass matrices by the statement are the reference's", "[reference]") {
    const struct {
        const char* mesh;
        int p;
        const char* golden;
    } cases[] = {{"meshes/toroid-hex.mesh", 3, "golden/toroid-hex_p3_Me.npy"},
                 {"meshes/triple-pt-1.mesh", 2, "golden/triple-pt-1_p2_Me.npy"}};
    for (const auto& c : cases) {
        INFO(c.mesh);
        const auto path = reference(c.mesh), golden = reference(c.golden);
        if (path.empty() || golden.empty()) return;
        fem::mass_matrices mass(fem::read_mesh(path), c.p, c.p + 2, ricci::default_device());
        mass.assemble();
        CHECK(difference(mass.matrices().download(), read_npy(golden)) < bound(mass.points()));
    }
}

TEST_CASE("1'M1 is the volume, on every reference mesh", "[reference]") {
    for (const std::string name :
         {"inline-hex", "fichera", "multidomain-hex", "box-cylinder", "toroid-hex", "triple-pt-1"}) {
        const auto path = reference("meshes/" + name + ".mesh");
        if (path.empty()) return;
        INFO(name);
        fem::mass_matrices mass(fem::read_mesh(path), 2, 5, ricci::default_device());
        mass.assemble();
        CHECK(mass.volume_by_matrices() == Approx(mass.volume()).epsilon(mass.rounding()));
    }
}

TEST_CASE("matrices larger than memory are refused before anything is taken") {
    const auto m = fem::generate_ring(3, 1, 1000000);
    CHECK_THROWS_WITH(fem::mass_matrices(m, 15, 17, ricci::cpu()),
                      Catch::Contains("mass matrices of order 15 with 17 points in each direction would take") &&
                          Catch::Contains("GB free"));
}
