// gmsh_test: Gmsh's node ordering, from meshes that Gmsh makes where it is installed, and from the rule itself.
#include "examples/fem/mesh/gmsh_order.hpp"
#include "examples/fem/mesh/read_mesh.hpp"
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

#include <cstdlib>
#include <set>

using namespace fem_test;

namespace {

// A quadrilateral whose elements are no parallelograms, and the body over it.
constexpr const char* quadrilateral = R"(
Point(1) = {0, 0, 0}; Point(2) = {3, 0, 0}; Point(3) = {2, 1, 0}; Point(4) = {0, 2, 0};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1};
Transfinite Curve {1, 3} = 3; Transfinite Curve {2, 4} = 3; Transfinite Surface {1}; Recombine Surface {1};
)";
constexpr const char* body = "Extrude {0, 0, 2} { Surface{1}; Layers{2}; Recombine; }\n";
constexpr double area = 3.5; // of the quadrilateral, by the shoelace formula: (0 + 3 + 4 + 0) / 2

bool gmsh_is_there() {
    if (std::system("gmsh -version > /dev/null 2>&1") == 0) return true;
    WARN("skipped: Gmsh is not installed");
    return false;
}

} // namespace

TEST_CASE("meshes made by Gmsh, of every order, in text and binary form", "[gmsh]") {
    if (!gmsh_is_there()) return;
    const scratch files;
    const auto plane = files.write("plane.geo", quadrilateral),
               space = files.write("space.geo", std::string(quadrilateral) + body);
    for (int dimension : {2, 3})
        for (int order = 1; order <= (dimension == 2 ? 10 : 9); ++order)
            for (const bool binary : {false, true}) {
                INFO(dimension << "-D, order " << order << (binary ? ", binary" : ""));
                const auto path = files.path("made.msh");
                const auto made = run_program("gmsh -v 2 -format msh41 -" + std::to_string(dimension) + " -order " +
                                              std::to_string(order) + (binary ? " -bin " : " ") +
                                              (dimension == 2 ? plane : space) + " -o " + path);
                INFO(made.output);
                REQUIRE(made.exit_code == 0);
                const auto m = fem::read_mesh(path);
                CHECK(m.order == order);
                CHECK(m.dimension == dimension);
                CHECK(m.elements == (dimension == 2 ? 4 : 8));
                CHECK(m.vertices == (dimension == 2 ? 9 : 27));
                CHECK(distance_from_straight(m) < 1e-10); // Gmsh itself places nodes to about 1e-12
                CHECK(volume(m, order + 1) == Approx(dimension == 2 ? area : 2 * area).epsilon(1e-10));
            }
}

TEST_CASE("a file of an older version says how to convert it, and that way works", "[gmsh]") {
    if (!gmsh_is_there()) return;
    const scratch files;
    const auto geometry = files.write("plane.geo", quadrilateral), old = files.path("old.msh"),
               converted = files.path("new.msh");
    REQUIRE(run_program("gmsh -v 2 -2 -order 2 -format msh22 " + geometry + " -o " + old).exit_code == 0);
    const auto message = complaint(old);
    const std::string command = "gmsh -0 " + old + " -format msh41 -o new.msh";
    CHECK(message.find("old.msh:2: format version '2.2' is not handled") != std::string::npos);
    REQUIRE(message.find(command) != std::string::npos);
    REQUIRE(run_program(replaced(command, "new.msh", converted)).exit_code == 0);
    CHECK(fem::read_mesh(converted).elements == 4);
}

TEST_CASE("the ordering is a permutation that starts with the corners") {
    for (int dimension : {2, 3})
        for (int order = 1; order <= 12; ++order) {
            const auto at = fem::gmsh_node_positions(dimension, order);
            CHECK(static_cast<std::int64_t>(at.size()) == fem::power(order + 1, dimension));
            std::set<std::int64_t> numbers;
            for (const auto& p : at) numbers.insert(fem::lexicographic(p, order));
            CHECK(numbers.size() == at.size());
            CHECK(*numbers.rbegin() == static_cast<std::int64_t>(at.size()) - 1);
            for (int c = 0; c < 1 << dimension; ++c)
                for (int d = 0; d < 3; ++d) CHECK(at[c][d] == order * fem::corner_positions[c][d]);
        }
}

TEST_CASE("the ordering of Gmsh's manual for 9-node quadrilaterals and 27-node hexahedra") {
    using positions = std::vector<std::array<int, 3>>;
    CHECK(
        fem::gmsh_node_positions(2, 2) ==
        positions{{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {1, 0, 0}, {2, 1, 0}, {1, 2, 0}, {0, 1, 0}, {1, 1, 0}});
    CHECK(fem::gmsh_node_positions(3, 2) ==
          positions{{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 2}, {2, 2, 2},
                    {0, 2, 2}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 1, 0}, {2, 0, 1}, {1, 2, 0},
                    {2, 2, 1}, {0, 2, 1}, {1, 0, 2}, {0, 1, 2}, {2, 1, 2}, {1, 2, 2}, {1, 1, 0},
                    {1, 0, 1}, {0, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {1, 1, 1}});
}
