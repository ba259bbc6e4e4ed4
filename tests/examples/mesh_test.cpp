// mesh_test: meshes that can be read are read right: nodes, connectivity, volumes, element matrices.
#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/mesh/read_mesh.hpp"
#include "examples/fem/mesh/topology.hpp"
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

#include <cmath>
#include <numbers>
#include <set>

using namespace fem_test;
using std::numbers::pi;

namespace {

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

/// Points enough for the determinant of the mapping, of degree dimension*order - 1 in each direction.
int exact_points(const fem::mesh& m) { return (m.dimension * m.order + 1) / 2; }

/// A bent box as an MFEM file in the collection L2_Tb, element by element.
std::string discontinuous(const fem::mesh& m, int b, int ordering) {
    std::ostringstream text;
    text.precision(17);
    text << "MFEM mesh v1.0\ndimension\n" << m.dimension << "\nelements\n" << m.elements << "\n";
    for (std::int64_t e = 0; e < m.elements; ++e) {
        text << m.attributes[e] << (m.dimension == 2 ? " 3" : " 5");
        for (int c = 0; c < 1 << m.dimension; ++c) text << ' ' << m.corners[(e << m.dimension) + c];
        text << '\n';
    }
    text << "boundary\n0\nvertices\n"
         << m.vertices << "\nnodes\nFiniteElementSpace\nFiniteElementCollection: L2_T" << b << '_' << m.dimension
         << "D_P" << m.order << "\nVDim: " << m.dimension << "\nOrdering: " << ordering << "\n\n";
    const std::int64_t n = fem::nodes_per_element(m), count = m.elements * n;
    for (std::int64_t k = 0; k < count * m.dimension; ++k) {
        const std::int64_t node = ordering ? k / m.dimension : k % count, d = ordering ? k % m.dimension : k / count;
        text << m.nodes[(node / n * m.dimension + d) * n + node % n] << '\n';
    }
    return text.str();
}

} // namespace

TEST_CASE("nodes of curved MFEM meshes", "[reference]") {
    for (const std::string name : {"box-cylinder", "multidomain-hex", "toroid-hex", "triple-pt-1"}) {
        INFO(name);
        const auto mesh = reference("meshes/" + name + ".mesh"),
                   nodes = reference("golden/nodes_lex/" + name + ".npy");
        if (mesh.empty() || nodes.empty()) return;
        CHECK(largest_difference(fem::read_mesh(mesh).nodes, read_npy(nodes)) == 0);
    }
}

TEST_CASE("volumes of the reference meshes", "[reference]") {
    const struct {
        const char* name;
        double volume;
        int elements;
    } cases[] = {{"inline-hex", 1, 64},
                 {"fichera", 7, 7},
                 {"multidomain-hex", 1, 60},
                 {"box-cylinder", 0.417032385582409, 68},
                 {"toroid-hex", 2.01036529819038, 6},
                 {"triple-pt-1", 21, 84}};
    for (const auto& c : cases) {
        INFO(c.name);
        const auto path = reference(std::string("meshes/") + c.name + ".mesh");
        if (path.empty()) return;
        const auto m = fem::read_mesh(path);
        CHECK(m.elements == c.elements);
        CHECK(std::abs(volume(m, exact_points(m)) - c.volume) < 1e-12 * c.volume);
    }
}

TEST_CASE("attributes are read", "[reference]") {
    const auto path = reference("meshes/multidomain-hex.mesh");
    if (path.empty()) return;
    const auto m = fem::read_mesh(path);
    CHECK(std::count(m.attributes.begin(), m.attributes.end(), 1) == 36);
    CHECK(std::count(m.attributes.begin(), m.attributes.end(), 2) == 24);
}

TEST_CASE("element mass matrices", "[reference]") {
    const auto toroid = reference("meshes/toroid-hex.mesh"), triple = reference("meshes/triple-pt-1.mesh");
    if (toroid.empty() || triple.empty()) return;
    CHECK(largest_difference(element_masses(fem::read_mesh(toroid), 3, 5),
                             read_npy(reference("golden/toroid-hex_p3_Me.npy"))) < 1e-16);
    CHECK(largest_difference(element_masses(fem::read_mesh(triple), 2, 4),
                             read_npy(reference("golden/triple-pt-1_p2_Me.npy"))) < 1e-15);
}

TEST_CASE("the project's own meshes") {
    const auto square = fem::read_mesh(own_mesh("square.mesh"));
    CHECK(square.attributes == std::vector<int>{1, 2, 1, 2});
    CHECK(volume(square, exact_points(square)) == Approx(1).epsilon(1e-14));
    const auto cube = fem::read_mesh(own_mesh("cube.mesh"));
    CHECK(volume(cube, exact_points(cube)) == Approx(1).epsilon(1e-14));
    CHECK(fem::find_topology(cube).edges == 54);
    CHECK(fem::find_topology(cube).faces.size() == 36);

    // Polynomials of order 3 and 4 follow two arcs of an eighth of a circle to about 1e-4 and 1e-6.
    const auto pipe = fem::read_mesh(own_mesh("quarter_pipe.msh"));
    CHECK(pipe.order == 3);
    CHECK(pipe.attributes == std::vector<int>{7, 7});
    CHECK(pipe.vertices == 12);
    CHECK(volume(pipe, exact_points(pipe)) == Approx(3 * pi / 4).epsilon(3e-4));
    const auto ring = fem::read_mesh(own_mesh("quarter_ring.msh")); // in the binary form
    CHECK(ring.order == 4);
    CHECK(ring.dimension == 2);
    CHECK(ring.attributes == std::vector<int>{5, 5});
    CHECK(volume(ring, exact_points(ring)) == Approx(3 * pi / 4).epsilon(1e-5));

    // Every node of a quarter pipe lies where it should: radius and angle go evenly with the reference coordinates.
    // Gmsh places the inner nodes by transfinite interpolation, which does the same here.
    for (const auto* m : {&pipe, &ring}) {
        const std::int64_t n = fem::nodes_per_element(*m), side = m->order + 1;
        for (std::int64_t e = 0; e < m->elements; ++e)
            for (std::int64_t i = 0; i < n; ++i) {
                const double* x = &m->nodes[e * m->dimension * n + i];
                const double radius = std::hypot(x[0], x[n]), angle = std::atan2(x[n], x[0]) / (pi / 4);
                // the first element that Gmsh makes starts at angle 0, the second at pi/4
                const auto first = &m->nodes[e * m->dimension * n];
                const double start = std::round(std::atan2(first[n], first[0]) / (pi / 4));
                CHECK(std::abs(radius - (1 + double(i % side) / m->order)) < 1e-6);
                CHECK(std::abs(angle - (start + double(i / side % side) / m->order)) < 1e-6);
            }
    }
}

TEST_CASE("generated rings: volume, and neighbours that share their nodes") {
    for (int dimension : {2, 3})
        for (int order = 1; order <= 5; ++order) {
            INFO(dimension << "-D, order " << order);
            const auto m = fem::generate_ring(dimension, order, 4096);
            const std::int64_t side = dimension == 2 ? 64 : 16;
            CHECK(m.elements == fem::power(side, dimension));
            // The error in following a circle by pieces of angle h and order k is of order h^(k+1) or better.
            CHECK(std::abs(volume(m, exact_points(m)) / (3 * pi / 4) - 1) < 0.2 * std::pow(pi / 2 / side, order + 1));
            std::vector<double> at(m.vertices * dimension, NAN);
            const std::int64_t n = fem::nodes_per_element(m);
            bool shared = true;
            for (std::int64_t e = 0; e < m.elements; ++e)
                for (int c = 0; c < 1 << dimension; ++c)
                    for (int d = 0; d < dimension; ++d) {
                        const auto& [i, j, k] = fem::corner_positions[c];
                        const double x = m.nodes[(e * dimension + d) * n +
                                                 fem::lexicographic({i * order, j * order, k * order}, order)];
                        double& known = at[m.corners[(e << dimension) + c] * dimension + d];
                        if (std::isnan(known)) known = x;
                        shared = shared && std::abs(known - x) < 1e-15 * 8;
                    }
            CHECK(shared);
        }
}

TEST_CASE("MFEM's inline meshes") {
    const scratch files;
    const auto m =
        fem::read_mesh(files.write("quad.mesh", "MFEM INLINE mesh v1.0\n# a strip\ntype = quad\nnx = 3 # long\n"
                                                "ny = 2\nsx = 1.5\nsy = 0.5\n"));
    CHECK(m.elements == 6);
    CHECK(m.dimension == 2);
    CHECK(m.vertices == 12);
    CHECK(volume(m, 1) == Approx(0.75).epsilon(1e-14));
}

TEST_CASE("nodes by element, in both orderings and at three kinds of points") {
    const scratch files;
    for (int dimension : {2, 3})
        for (int ordering : {0, 1}) {
            auto ring = fem::generate_ring(dimension, 3, 8);
            const auto read = fem::read_mesh(files.write("l2.mesh", discontinuous(ring, 1, ordering)));
            CHECK(read.nodes == ring.nodes);
            CHECK(read.corners == ring.corners);
            CHECK(read.points == fem::node_points::gauss_lobatto);

            // The same shape through other nodes: evaluate the ring's polynomials there.
            const auto shape = fem::lagrange(fem::positions(ring.points, ring.order));
            for (const auto& [b, kind] :
                 {std::pair{0, fem::node_points::gauss_legendre}, {4, fem::node_points::uniform}}) {
                const auto table = shape.values(fem::positions(kind, ring.order));
                auto other = ring;
                const std::int64_t n = fem::nodes_per_element(ring);
                for (std::int64_t k = 0; k < ring.elements * dimension; ++k) {
                    const auto x =
                        fem::apply_along(std::vector<const fem::table*>(dimension, &table), &ring.nodes[k * n]);
                    std::copy(x.begin(), x.end(), other.nodes.begin() + k * n);
                }
                const auto same = fem::read_mesh(files.write("l2.mesh", discontinuous(other, b, ordering)));
                CHECK(same.points == kind);
                CHECK(volume(same, 5) == Approx(volume(ring, 5)).epsilon(1e-14));
            }
        }
}

TEST_CASE("straight, Linear, Quadratic and H1 meshes of the same square agree") {
    const scratch files;
    const std::string head = "MFEM mesh v1.0\ndimension\n2\nelements\n1\n1 3 0 1 2 3\nboundary\n0\nvertices\n4\n";
    const std::string nodes = "nodes\nFiniteElementSpace\nFiniteElementCollection: ";
    const auto straight = fem::read_mesh(files.write("a", head + "2\n0 0\n2 0\n2 1\n0 1\n"));
    CHECK(straight.nodes == std::vector<double>{0, 2, 0, 2, 0, 0, 1, 1});
    for (const std::string name : {"Linear", "H1_2D_P1"})
        CHECK(
            fem::read_mesh(files.write("a", head + nodes + name + "\nVDim: 2\nOrdering: 0\n0 2 2 0 0 0 1 1")).nodes ==
            straight.nodes);
    for (const std::string name : {"Quadratic", "H1_2D_P2"}) {
        const auto m = fem::read_mesh(files.write("a", head + nodes + name +
                                                           "\nVDim: 2\nOrdering: 1\n0 0 2 0 2 1 0 1\n"
                                                           "1 0 2 .5 1 1 0 .5 1 .5"));
        CHECK(m.nodes == std::vector<double>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 0, 0, .5, .5, .5, 1, 1, 1});
    }
    // A comment that ends with the file instead of its line
    CHECK(fem::read_mesh(files.write("a", head + "2\n0 0\n2 0\n2 1\n0 1 # the end")).nodes == straight.nodes);
    // Windows' line ends, signs and exponents
    CHECK(fem::read_mesh(
              files.write("a", "MFEM mesh v1.0\r\ndimension\r\n2\r\nelements\r\n1\r\n1 3 0 1 2 3\r\nboundary\r\n0\r\n"
                               "vertices\r\n4\r\n2\r\n+0 -0e5\r\n2E0 1e-400\r\n2 1\r\n0 1.0\r\n"))
              .nodes == straight.nodes);
}

TEST_CASE("an edge of a twisted neighbour runs from its vertex of lower number") {
    // Two squares of order 3; the second lists its vertices from another corner, so that the common edge is turned.
    const scratch files;
    const std::string text =
        "MFEM mesh v1.0\ndimension\n2\nelements\n2\n1 3 0 1 2 3\n1 3 5 2 1 4\nboundary\n0\nvertices\n6\n"
        "nodes\nFiniteElementSpace\nFiniteElementCollection: H1_2D_P3\nVDim: 2\nOrdering: 1\n"
        "0 0 1 0 1 1 0 1 2 0 2 1\n";
    const double a = fem::gauss_lobatto(4).points[1], b = 1 - a;
    std::ostringstream nodes;
    nodes.precision(17);
    // edges 01 12 32 03 of the first element as (low, high): 0-1, 1-2, 2-3, 0-3; of the second: 2-5, 1-4, 4-5
    nodes << a << " 0 " << b << " 0  1 " << a << " 1 " << b << "  " << b << " 1 " << a << " 1  0 " << a << " 0 " << b
          << "  " << 1 + a << " 1 " << 1 + b << " 1  " << 1 + a << " 0 " << 1 + b << " 0  2 " << a << " 2 " << b
          << "\n";
    for (const double y : {a, b})
        for (const double x : {a, b}) nodes << x << ' ' << y << '\n';
    for (const double y : {b, a}) // the second element's first direction runs from 5 to 2, its second from 5 to 4
        for (const double x : {1 + b, 1 + a}) nodes << x << ' ' << y << '\n';
    const auto m = fem::read_mesh(files.write("turned.mesh", text + nodes.str()));
    CHECK(distance_from_straight(m) < 1e-15);
    CHECK(volume(m, 3) == Approx(2).epsilon(1e-14));
}
