// neumann_test: normals of faces by the divergence theorem, and problems with fluxes on parts of the boundary.
#include "examples/fem/mesh/boundary.hpp"
#include "examples/fem/mesh/read_mesh.hpp"
#include "examples/fem/mesh/refine.hpp"
#include "examples/fem/mesh/topology.hpp"
#include "examples/fem/operators/face_map.hpp"
#include "examples/fem/solve/poisson.hpp"
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

#include <cmath>
#include <filesystem>

using namespace fem_test;
using Catch::Contains;

namespace {

/// The same mesh with Gauss-Legendre nodes, none of which is on a face.
fem::mesh with_inner_nodes(fem::mesh m) {
    const auto along = fem::positions(fem::node_points::gauss_legendre, m.order);
    m.nodes = fem::mapped_points(m, along, ricci::cpu());
    m.points = fem::node_points::gauss_legendre;
    return m;
}

/// The flux of the constant fields through the whole boundary is 0, that of X is dimension * volume.
void check_normals(const fem::mesh& m) {
    INFO(m.name);
    const auto faces = fem::boundary_faces(m, fem::find_topology(m));
    const fem::rule along = fem::gauss_legendre(m.dimension * m.order);
    const fem::face_map map(m, faces, along, ricci::default_device());
    const auto X = map.points().download(), n = map.normals().download();
    const std::int64_t Q = map.points_per_face(), d = m.dimension;
    REQUIRE(static_cast<std::int64_t>(n.size()) == Q * d * static_cast<std::int64_t>(faces.size()));
    std::array<double, 3> total{};
    double divergence = 0;
    for (std::size_t at = 0; at < n.size(); ++at) {
        total[static_cast<std::int64_t>(at) / Q % d] += n[at];
        divergence += X[at] * n[at];
    }
    const double size = volume(m, m.dimension * m.order);
    for (const double component : total) CHECK(std::abs(component) < 1e-13 * (1 + size));
    CHECK(std::abs(divergence / (m.dimension * size) - 1) < 1e-13);
}

double error_of(const fem::mesh& m, int p, const std::vector<int>& neumann,
                std::optional<fem::symmetric_matrix> K = std::nullopt) {
    fem::poisson problem(m, p, fem::smooth_solution(m.dimension), ricci::default_device(), K, 0, 0, neumann);
    CHECK(problem.solve({.tolerance = 1e-13, .progress = {}}).converged);
    return problem.error();
}

std::string refusal(const fem::mesh& m, const std::vector<int>& neumann) {
    try {
        const fem::poisson problem(m, 2, fem::smooth_solution(m.dimension), ricci::cpu(), std::nullopt, 0, 0,
                                   neumann);
    } catch (const fem::mesh_error& error) {
        return error.what();
    }
    return {};
}

fem::mesh unit_box(int dimension, std::int64_t n) {
    return fem::generate_grid("unit box", dimension, 1, {n, n, n}, [](const fem::point& at) { return at; });
}

const fem::symmetric_matrix full{{{2, 0.3, -0.2}, {0.3, 1, 0.1}, {-0.2, 0.1, 3}}};

} // namespace

TEST_CASE("normals of faces point outwards, and integrate as the divergence theorem says", "[numerics]") {
    for (const std::string name : {"square.mesh", "cube.mesh", "quarter_pipe.msh", "quarter_ring.msh"})
        check_normals(fem::read_mesh(own_mesh(name)));
    for (int dimension = 2; dimension <= 3; ++dimension) {
        check_normals(fem::generate_ring(dimension, 3, 8));
        check_normals(with_inner_nodes(fem::generate_ring(dimension, 3, 8)));
        // Every side of one element by itself: a unit normal out of it times its area.
        const fem::mesh box = unit_box(dimension, 1);
        for (int face = 0; face < fem::faces_of_element(dimension); ++face) {
            const fem::face_map map(box, {{0, face, 1}}, fem::gauss_legendre(1), ricci::default_device());
            const auto [axis, end] = fem::side_of(dimension, face);
            const auto normal = map.normals().download(), at = map.points().download();
            for (int d = 0; d < dimension; ++d) {
                CHECK(std::abs(normal[d] - (d != axis ? 0 : end == 1 ? 1 : -1)) < 1e-15);
                CHECK(std::abs(at[d] - (d != axis ? 0.5 : end)) < 1e-15);
            }
        }
    }
}

TEST_CASE("with fluxes on parts of the boundary rates of convergence are p+1, on straight and curved meshes",
          "[numerics]") {
    // Sides 1 to 4 (in 3-D to 6), each of them once with the flux; a full coefficient matrix.
    const auto check = [](const fem::mesh& coarse, int p, const std::vector<int>& neumann, double within) {
        INFO(coarse.name << ", order " << p << ", Neumann data on " << neumann.front() << " and others");
        const double before = error_of(coarse, p, neumann, full);
        const double rate = std::log2(before / error_of(fem::refine(coarse), p, neumann, full));
        CHECK(std::abs(rate - (p + 1)) < within);
    };
    for (int p = 1; p <= 6; ++p)
        for (const auto& neumann : {std::vector<int>{1, 2}, {3, 4}, {1, 2, 3}}) {
            check(unit_box(2, p < 3 ? 8 : p < 5 ? 4 : 2), p, neumann, 0.15);
            check(fem::generate_ring(2, p + 1, p < 3 ? 64 : 36), p, neumann, 0.15);
        }
    for (int p = 1; p <= 3; ++p)
        for (const auto& neumann : {std::vector<int>{1, 2, 3}, {4, 5, 6}}) {
            check(unit_box(3, 4), p, neumann, 0.15);
            check(fem::generate_ring(3, p + 1, 64), p, neumann, 0.3);
        }
}

TEST_CASE("a polynomial solution's fluxes are met exactly, as the space has it", "[numerics]") {
    // x + 2y - z, whose flux K grad u . n is constant on a flat side.
    fem::manufactured plane{"x + 2y - z", [](const fem::point& at) { return at[0] + 2 * at[1] - at[2]; },
                            [](const fem::point&) {
                                return fem::point{1, 2, -1};
                            },
                            [](const fem::point&) { return fem::symmetric_matrix{}; }};
    for (int dimension = 2; dimension <= 3; ++dimension)
        for (const bool inner : {false, true}) {
            fem::mesh m = fem::generate_ring(dimension, 2, 8);
            if (inner) m = with_inner_nodes(m);
            // p = 4: the cofactors of a map of order 2 are of degree 4, and the operator's points integrate them.
            fem::poisson problem(m, 4, plane, ricci::default_device(), full, 7, 0, {2, 3, 4});
            CHECK(problem.solve({.tolerance = 1e-14, .progress = {}}).iterations > 0);
            CHECK(problem.error() < 1e-11 * l2_norm(m, plane, 10));
        }
}

TEST_CASE("Neumann data is refused where it cannot be") {
    const fem::mesh box = unit_box(2, 2);
    CHECK(refusal(box, {1, 3}).empty());
    CHECK(refusal(box, {5}) == "unit box: no part of its boundary has attribute 5, only 1, 2, 3, 4");
    CHECK(refusal(box, {0}) == "unit box: no part of its boundary has attribute 0, only 1, 2, 3, 4");
    CHECK(refusal(box, {2, 3, 2}) == "unit box: attribute 2 is named twice for Neumann data");
    CHECK_THAT(refusal(box, {1, 2, 3, 4}), Contains("nothing determines the solution's constant; leave one"));
    fem::mesh unnamed = box;
    unnamed.boundary.clear();
    CHECK(refusal(unnamed, {}).empty());
    CHECK(refusal(unnamed, {1}) == "unit box: its boundary has no attributes to choose for Neumann data");
    // Where only some of it is named, the rest keeps given values.
    fem::mesh partly = box;
    std::erase_if(partly.boundary, [](const fem::boundary_part& part) { return part.attribute != 2; });
    CHECK(refusal(partly, {2}).empty());
    CHECK(error_of(partly, 3, {2}) < 1e-3);
    // Two squares apart, of which the second has no side with given values.
    const scratch files;
    const auto apart = fem::read_mesh(
        files.write("apart.mesh", "MFEM mesh v1.0\ndimension\n2\nelements\n2\n1 3 0 1 2 3\n1 3 4 5 6 7\nboundary\n5\n"
                                  "1 1 0 1\n2 1 4 5\n2 1 5 6\n2 1 6 7\n2 1 7 4\nvertices\n8\n2\n"
                                  "0 0\n1 0\n1 1\n0 1\n2 0\n3 0\n3 1\n2 1\n"));
    CHECK(refusal(apart, {1}).empty());
    CHECK_THAT(refusal(apart, {2}), Contains("where element 1 (counted from 0) is: u is given nowhere in this part"));
    CHECK_THAT(refusal(fem::read_mesh(own_mesh("torus.mesh")), {1}),
               Contains("the mesh has no boundary, so there is no part of it for Neumann data"));
}

TEST_CASE("fem poisson --neumann") {
    const auto poisson = [](const std::string& arguments) {
        return run_program(RICCI_FEM_PROGRAM " poisson " + arguments);
    };
    const auto ran = poisson("--neumann 2,3 --dimension 2 --order 3 --elements 16 --coefficient 2,.5,1 --refine 1");
    INFO(ran.output);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("u given on the rest of the boundary") &&
                               Contains("K grad u . n given on the boundary with attribute 2, 3\n"));

    const scratch files;
    const std::string outputs = " --vtu " + files.path("u.vtu") + " --png " + files.path("u.png");
    const auto refused = [&](const std::string& arguments, const std::string& message) {
        const auto outcome = poisson(arguments + outputs);
        INFO(arguments << "\n" << outcome.output);
        CHECK(outcome.exit_code == 1);
        CHECK_THAT(outcome.output, Contains("fem: ") && Contains(message));
        CHECK(std::filesystem::is_empty(std::filesystem::path(files.path("u.vtu")).parent_path()));
    };
    refused("--neumann 7 " + own_mesh("square.mesh"), "no part of its boundary has attribute 7, only 1\n");
    refused("--neumann 1 " + own_mesh("square.mesh"), "nothing determines the solution's constant\n");
    refused("--neumann 1,2,1", "attribute 1 is named twice");
    refused("--neumann 1 " + own_mesh("quarter_ring.msh"), "no attributes to choose");
    refused("--neumann 1 " + own_mesh("torus.mesh"), "the mesh has no boundary");
    for (const std::string wrong : {"1,", "a", "1,,2", "0", "-1", "1;2", "99999999999"})
        refused("--neumann '" + wrong + "'", "--neumann " + wrong + ": attributes, 1 and up");
}
