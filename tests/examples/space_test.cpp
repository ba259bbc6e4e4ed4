// space_test: numbers of nodes that neighbours share whatever way they lie, boundaries, and refinement.
#include "examples/fem/mesh/boundary.hpp"
#include "examples/fem/mesh/read_mesh.hpp"
#include "examples/fem/mesh/refine.hpp"
#include "examples/fem/operators/geometry.hpp"
#include "examples/fem/space/h1_space.hpp"
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

using namespace fem_test;

namespace {

/// The order of an element's corners after turning it: a rotation of the cube (square), as a permutation of
/// corner_positions.
std::vector<std::vector<int>> rotations(int dimension) {
    std::vector<std::vector<int>> all;
    std::vector<int> axes(dimension);
    std::iota(axes.begin(), axes.end(), 0);
    do {
        for (int flips = 0; flips < 1 << dimension; ++flips) {
            int sign = 1;
            for (int a = 0; a < dimension; ++a) {
                if (flips >> a & 1) sign = -sign;
                for (int b = 0; b < a; ++b)
                    if (axes[b] > axes[a]) sign = -sign;
            }
            if (sign < 0) continue; // a reflection: it would invert the element
            std::vector<int> corners;
            for (int c = 0; c < 1 << dimension; ++c) {
                std::array<int, 3> at{};
                for (int a = 0; a < dimension; ++a) at[axes[a]] = fem::corner_positions[c][a] ^ (flips >> a & 1);
                corners.push_back(
                    static_cast<int>(std::find(fem::corner_positions.begin(), fem::corner_positions.end(), at) -
                                     fem::corner_positions.begin()));
            }
            all.push_back(corners);
        }
    } while (std::next_permutation(axes.begin(), axes.end()));
    return all;
}

/// A straight-sided mesh in which each element lists its corners from another one, at random.
fem::mesh turned(fem::mesh m, unsigned seed) {
    std::mt19937 random(seed);
    const auto turns = rotations(m.dimension);
    const int corners = 1 << m.dimension;
    m.boundary.clear(); // its faces have other numbers now
    for (std::int64_t e = 0; e < m.elements; ++e) {
        const auto& turn = turns[random() % turns.size()];
        const std::vector<std::int64_t> v(&m.corners[e * corners], &m.corners[e * corners] + corners);
        const std::vector<double> x(&m.nodes[e * m.dimension * corners],
                                    &m.nodes[e * m.dimension * corners] + m.dimension * corners);
        for (int c = 0; c < corners; ++c) {
            m.corners[e * corners + c] = v[turn[c]];
            for (int d = 0; d < m.dimension; ++d)
                m.nodes[(e * m.dimension + d) * corners + fem::lexicographic(fem::corner_positions[c], 1)] =
                    x[d * corners + fem::lexicographic(fem::corner_positions[turn[c]], 1)];
        }
    }
    return m;
}

/// Whether nodes have one number where, and only where, they lie in one place.
void check_places(const fem::mesh& m, const fem::h1_space& space) {
    const auto at = fem::mapped_points(m, fem::positions(fem::node_points::gauss_lobatto, space.order()),
                                       ricci::default_device());
    std::map<std::array<std::int64_t, 3>, std::int64_t> number_at;
    std::vector<int> seen(space.dofs());
    for (std::int64_t e = 0; e < space.elements(); ++e)
        for (std::int64_t i = 0; i < space.nodes(); ++i) {
            std::array<std::int64_t, 3> place{};
            for (int d = 0; d < m.dimension; ++d)
                place[d] = std::llround(at[i + space.nodes() * (d + m.dimension * e)] * 1e9);
            const std::int64_t number = space.numbers()[i + space.nodes() * e];
            REQUIRE(number >= 0);
            REQUIRE(number < space.dofs());
            seen[number] = 1;
            const auto [known, is_new] = number_at.emplace(place, number);
            REQUIRE(known->second == number);
        }
    CHECK(static_cast<std::int64_t>(number_at.size()) == space.dofs());
    CHECK(std::accumulate(seen.begin(), seen.end(), std::int64_t{0}) == space.dofs());
}

} // namespace

TEST_CASE("nodes are shared whatever way neighbours lie") {
    const auto box = [](int dimension) {
        return fem::generate_grid("box", dimension, 1, {3, 2, 2}, [](const fem::point& at) -> fem::point {
            return {3 * at[0], 2 * at[1], at[2]};
        });
    };
    CHECK(rotations(2).size() == 4);
    CHECK(rotations(3).size() == 24);
    for (const int dimension : {2, 3})
        for (unsigned seed = 0; seed < 6; ++seed) {
            const auto m = turned(box(dimension), seed);
            INFO(dimension << "-D, seed " << seed);
            CHECK(volume(m, 2) == Approx(dimension == 2 ? 6 : 6).epsilon(1e-14));
            for (int p = 1; p <= (dimension == 2 ? 8 : 5); ++p) {
                const fem::h1_space space(m, p);
                CHECK(space.dofs() == (3 * p + 1) * (2 * p + 1) * (dimension == 2 ? 1 : 2 * p + 1));
                const std::int64_t inner = (3 * p - 1) * (2 * p - 1) * (dimension == 2 ? 1 : 2 * p - 1);
                CHECK(static_cast<std::int64_t>(space.boundary_dofs().size()) == space.dofs() - inner);
                check_places(m, space);
            }
        }
}

TEST_CASE("nodes of the reference meshes are shared where they lie in one place", "[reference]") {
    for (const std::string name : {"fichera", "box-cylinder", "toroid-hex", "multidomain-hex", "triple-pt-1"}) {
        const auto path = reference("meshes/" + name + ".mesh");
        if (path.empty()) return;
        INFO(name);
        const auto m = fem::read_mesh(path);
        check_places(m, fem::h1_space(m, 3));
        const auto fine = fem::refine(m);
        check_places(fine, fem::h1_space(fine, 2));
    }
}

TEST_CASE("a periodic mesh has no boundary, and its nodes are shared across") {
    // A strip of 4 x 3 squares whose ends are joined: the last column's vertices are the first one's.
    auto strip = fem::generate_grid("strip", 2, 1, {4, 3, 1}, [](const fem::point& at) { return at; });
    for (std::int64_t& v : strip.corners) v = v % 5 % 4 + 4 * (v / 5);
    strip.vertices = 16;
    strip.boundary.clear();
    for (int p = 1; p <= 4; ++p) {
        const fem::h1_space space(strip, p);
        CHECK(space.dofs() == 4 * p * (3 * p + 1));
        CHECK(static_cast<std::int64_t>(space.boundary_dofs().size()) == 2 * 4 * p);
    }
    for (std::int64_t& v : strip.corners) v %= 12; // and top and bottom
    strip.vertices = 12;
    const fem::h1_space torus(strip, 3);
    CHECK(torus.dofs() == 12 * 9);
    CHECK(torus.boundary_dofs().empty());
    CHECK(torus.boundary().empty());
    const auto fine = fem::refine(strip);
    CHECK(fem::h1_space(fine, 3).dofs() == 4 * 12 * 9);
}

TEST_CASE("vertices that no element has are no unknowns") {
    auto m = fem::generate_grid("square", 2, 1, {2, 2, 1}, [](const fem::point& at) { return at; });
    for (std::int64_t& v : m.corners) v = 2 * v + 5;
    m.vertices = 30;
    const fem::h1_space space(m, 3);
    CHECK(space.dofs() == 49);
    CHECK(*std::max_element(space.numbers().begin(), space.numbers().end()) == 48);
    CHECK(space.boundary_dofs().size() == 24);
}

TEST_CASE("boundaries have their attributes") {
    const auto box = fem::generate_grid("box", 3, 1, {2, 3, 4}, [](const fem::point& at) { return at; });
    const fem::h1_space space(box, 2);
    std::map<int, int> counts;
    for (const auto& part : space.boundary()) ++counts[part.attribute];
    CHECK(counts == std::map<int, int>{{1, 6}, {2, 8}, {3, 12}, {4, 8}, {5, 12}, {6, 6}});
    CHECK(space.boundary_dofs({1}).size() == 5 * 7);         // z = 0
    CHECK(space.boundary_dofs({1, 2}).size() == 35 + 5 * 8); // with y = 0, less the edge
    CHECK(space.boundary_dofs({7}).empty());

    const auto square = fem::read_mesh(own_mesh("square.mesh"));
    CHECK(!square.boundary.empty());
}

TEST_CASE("a boundary inside a reference mesh is none of its space", "[reference]") {
    const auto path = reference("meshes/multidomain-hex.mesh");
    if (path.empty()) return;
    const auto cube = fem::read_mesh(path);
    CHECK(cube.boundary.size() == 88); // an interface inside among them
    CHECK(fem::h1_space(cube, 1).boundary().size() == 64);
    const auto fine = fem::refine(cube);
    CHECK(fine.boundary.size() == 4 * 88);
    const fem::h1_space on_fine(fine, 1);
    CHECK(on_fine.boundary().size() == 4 * 64);
    for (const auto& part : on_fine.boundary()) REQUIRE(part.attribute != 0);
}

TEST_CASE(
    "boundary attributes of Gmsh's files: physical groups, else entities; lines that bound nothing are left out") {
    const scratch files;
    const auto m = fem::read_mesh(files.write(
        "square.msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 3 1 0\n"
                      "1 0 0 0 1 0 0 1 9 0\n2 1 0 0 1 1 0 0 0\n3 0 0 0 1 1 0 0 0\n1 0 0 0 1 1 0 0 0\n$EndEntities\n"
                      "$Nodes\n1 4 1 4\n2 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n$EndNodes\n"
                      "$Elements\n4 4 1 4\n1 1 1 1\n1 2 1\n1 2 1 1\n2 2 3\n1 3 1 1\n3 1 3\n2 1 3 1\n4 1 2 3 4\n"
                      "$EndElements\n"));
    CHECK(m.boundary.size() == 2); // the diagonal, of entity 3, is none
    std::map<int, int> attribute_of;
    const fem::h1_space space(m, 3);
    for (const auto& part : space.boundary()) attribute_of[part.face] = part.attribute;
    CHECK(attribute_of == std::map<int, int>{{0, 9}, {1, 2}, {2, 0}, {3, 0}});
    CHECK(space.boundary_dofs({9, 2}).size() == 7);
}

TEST_CASE("a committed mesh of a torus: periodic and curved") {
    const auto torus = fem::read_mesh(own_mesh("torus.mesh"));
    CHECK(distance_from_straight(torus) > 0.01);
    // Opposite sides have the same shape, so what is added on one side is missing on the other.
    CHECK(volume(torus, 3) == Approx(1).epsilon(1e-14));
    CHECK(volume(fem::refine(torus), 3) == Approx(1).epsilon(1e-14));
    for (int p = 1; p <= 4; ++p) {
        const fem::h1_space space(torus, p);
        CHECK(space.dofs() == 9 * p * p);
        CHECK(space.boundary_dofs().empty());
    }
}

TEST_CASE("refining keeps the shape: volumes of elements") {
    for (const int dimension : {2, 3})
        for (const int order : {1, 3, 4}) {
            const auto coarse = fem::generate_ring(dimension, order, 8);
            const auto fine = fem::refine(coarse);
            const int points = (dimension * order + 1) / 2;
            CHECK(fine.elements == coarse.elements << dimension);
            CHECK(std::abs(volume(fine, points) / volume(coarse, points) - 1) < 1e-14);
            // Each element's own volume, not only the sum.
            const auto of = [&](const fem::mesh& m, std::int64_t from, std::int64_t count) {
                const auto w = weighted_determinants(m, fem::gauss_legendre(points));
                const std::int64_t each = static_cast<std::int64_t>(w.size()) / m.elements;
                return std::accumulate(w.begin() + from * each, w.begin() + (from + count) * each, 0.0);
            };
            const std::int64_t children = 1 << dimension;
            for (std::int64_t e = 0; e < coarse.elements; ++e)
                CHECK(of(fine, e * children, children) == Approx(of(coarse, e, 1)).epsilon(1e-13));
        }
}

TEST_CASE("refining keeps the volume of every reference mesh", "[reference]") {
    for (const auto& [name, expected] : {std::pair{"box-cylinder", 0.417032385582409},
                                         {"toroid-hex", 2.01036529819038},
                                         {"triple-pt-1", 21.0},
                                         {"multidomain-hex", 1.0}}) {
        const auto path = reference(std::string("meshes/") + name + ".mesh");
        if (path.empty()) return;
        INFO(name);
        const auto fine = fem::refine(fem::read_mesh(path));
        CHECK(std::abs(volume(fine, (fine.dimension * fine.order + 1) / 2) / expected - 1) < 1e-12);
    }
}

TEST_CASE("first moments of the reference meshes", "[reference]") {
    for (const auto& [name, moments] :
         {std::pair{"multidomain-hex", std::vector<double>{0, 0, 0}}, {"triple-pt-1", {73.5, 31.5}}}) {
        const auto path = reference(std::string("meshes/") + name + ".mesh");
        if (path.empty()) return;
        const auto m = fem::read_mesh(path);
        const fem::element_map map(m, fem::gauss_legendre(5), ricci::default_device());
        const auto W = map.weights().download(), X = map.points().download();
        const std::int64_t points = map.points_per_element();
        for (int d = 0; d < m.dimension; ++d) {
            double sum = 0;
            for (std::int64_t e = 0; e < m.elements; ++e)
                for (std::int64_t q = 0; q < points; ++q)
                    sum += W[q + points * e] * X[q + points * (d + m.dimension * e)];
            CHECK(std::abs(sum - moments[d]) < 1e-12 * std::max(1.0, moments[d]));
        }
    }
}
