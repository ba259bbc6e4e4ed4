// load_test: the right side's integrals against plain loops, and those of f and of fluxes against each other.
#include "examples/fem/mesh/read_mesh.hpp"
#include "examples/fem/solve/neumann.hpp"
#include "examples/fem/solve/source.hpp"
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

#include <cmath>
#include <numeric>
#include <set>

using namespace fem_test;

namespace {

const fem::symmetric_matrix full{{{2, 0.3, -0.2}, {0.3, 1, 0.1}, {-0.2, 0.1, 3}}};

/// The load of the smooth solution's f at the points of `basis`.
fem::vector source_load(const fem::mesh& m, const fem::h1_space& space, const fem::tables& basis) {
    const auto device = ricci::default_device();
    const fem::element_map map(m, basis.along, device);
    const fem::gather_scatter sharing(space, device);
    fem::vector load(space.dofs(), device);
    fem::find_source_load(space, basis, map, sharing, fem::smooth_solution(m.dimension), full, load);
    return load;
}

std::vector<fem::mesh> some_meshes() {
    std::vector<fem::mesh> meshes;
    for (const std::string name : {"square.mesh", "cube.mesh", "quarter_ring.msh", "quarter_pipe.msh"})
        meshes.push_back(fem::read_mesh(own_mesh(name)));
    return meshes;
}

} // namespace

TEST_CASE("the load vector of f is that of plain loops") {
    for (const fem::mesh& m : some_meshes())
        for (const int p : {1, 3}) {
            INFO(m.name << ", order " << p);
            const fem::h1_space space(m, p);
            const fem::tables basis(fem::quadrature::gauss, p, ricci::default_device());
            const auto load = source_load(m, space, basis).download();

            const auto W = plain_weights(m, basis.along);
            const auto X = fem::mapped_points(m, basis.along.points, ricci::cpu());
            const auto nodes = fem::positions(fem::node_points::gauss_lobatto, p);
            const auto B = fem::tensor_product(fem::lagrange(nodes).values(basis.along.points), m.dimension);
            const auto known = fem::smooth_solution(m.dimension);
            std::vector<double> expected(space.dofs());
            for (std::int64_t e = 0; e < m.elements; ++e)
                for (int q = 0; q < B.rows; ++q) {
                    fem::point at{};
                    for (int d = 0; d < m.dimension; ++d) at[d] = X[q + B.rows * (d + m.dimension * e)];
                    const double f = W[q + B.rows * e] * known.source(at, full);
                    for (int i = 0; i < B.columns; ++i) expected[space.numbers()[i + B.columns * e]] += B(q, i) * f;
                }
            double largest = 0, difference = 0;
            for (std::size_t g = 0; g < load.size(); ++g) {
                largest = std::max(largest, std::abs(expected[g]));
                difference = std::max(difference, std::abs(load[g] - expected[g]));
            }
            CHECK(difference < 1e-13 * largest);
        }
}

TEST_CASE("the loads of f and of the flux through the whole boundary balance", "[numerics]") {
    // Basis functions sum to 1, so the loads to the integrals of -div(K grad u) and of K grad u . n: 0 together.
    for (const fem::mesh& m : some_meshes()) {
        INFO(m.name);
        const fem::h1_space space(m, 2);
        const fem::tables basis(fem::quadrature::gauss, 2, ricci::default_device(), 12);
        fem::vector load = source_load(m, space, basis);
        const auto sum = [&] {
            const auto values = load.download();
            return std::accumulate(values.begin(), values.end(), 0.0);
        };
        const double of_source = sum();
        std::set<int> all;
        for (const fem::boundary_part& part : space.boundary()) all.insert(part.attribute);
        fem::add_neumann_load(m, space, basis, {all.begin(), all.end()}, fem::smooth_solution(m.dimension), full,
                              load);
        CHECK(std::abs(of_source) > 0.1);
        CHECK(std::abs(sum()) < 1e-12 * std::abs(of_source));
    }
}
