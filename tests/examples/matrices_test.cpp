// matrices_test: element matrices in both forms, the sparse matrix, the diagonal; what must hold of them.
#include "examples/fem/mesh/read_mesh.hpp"
#include "examples/fem/operators/diffusion_operator.hpp"
#include "examples/fem/operators/element_matrices.hpp"
#include "examples/fem/operators/mass_operator.hpp"
#include "examples/fem/operators/sparse_matrix.hpp"
#include "examples/fem/solve/conjugate_gradient.hpp"
#include "tests/catch.hpp"
#include "tests/examples/support.hpp"

#include <cmath>
#include <memory>
#include <random>

using namespace fem_test;

namespace {

using fem::assembly;

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

std::vector<double> random_numbers(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> between(-1, 1);
    std::vector<double> values(count);
    for (double& value : values) value = between(random);
    return values;
}

/// Whether Cholesky's factorization of the dense symmetric matrix exists.
bool positive_definite(std::vector<double> a, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) {
        for (std::int64_t j = 0; j < k; ++j) a[k + n * k] -= a[k + n * j] * a[k + n * j];
        if (!(a[k + n * k] > 0)) return false;
        a[k + n * k] = std::sqrt(a[k + n * k]);
        for (std::int64_t i = k + 1; i < n; ++i) {
            for (std::int64_t j = 0; j < k; ++j) a[i + n * k] -= a[i + n * j] * a[k + n * j];
            a[i + n * k] /= a[k + n * k];
        }
    }
    return true;
}

/// Everything about one mesh and order: operators, coefficient (three or six numbers, or none) and matrices.
struct discrete {
    discrete(const fem::mesh& m, int p, const std::vector<double>& coefficient = {}, int components = 1)
        : space(m, p), basis(fem::quadrature::gauss, p, ricci::default_device()),
          map(m, basis.along, ricci::default_device()), mass(space, basis, map, components),
          kept(fem::to_device(full(coefficient, m.dimension), ricci::default_device())) {
        const std::int64_t d = m.dimension;
        if (coefficient.empty()) {
            diffusion = std::make_unique<fem::diffusion_operator>(space, basis, map, components);
            metric = map.diffusion().download();
        } else {
            const ricci::view<const double, 4> everywhere(kept.data(), {map.points_per_element(), d, d, m.elements},
                                                          {0, 1, d, 0}, kept.device());
            diffusion = std::make_unique<fem::diffusion_operator>(space, basis, map, everywhere, components);
            metric = map.diffusion(everywhere).download();
        }
    }
    static std::vector<double> full(const std::vector<double>& half, int dimension) {
        const auto numbers = fem::symmetric_table(dimension);
        std::vector<double> all;
        for (const std::int64_t number : numbers) all.push_back(half.empty() ? 0 : half[number]);
        return all;
    }
    fem::vector matrices(bool is_mass, assembly how) {
        if (is_mass)
            return fem::element_mass_matrices(basis, space.dimension(), space.elements(), map.weights(), how);
        return fem::element_diffusion_matrices(basis, space.dimension(), space.elements(),
                                               fem::to_device(metric, basis.device()), how);
    }

    fem::h1_space space;
    fem::tables basis;
    fem::element_map map;
    fem::mass_operator mass;
    fem::vector kept;
    std::unique_ptr<fem::diffusion_operator> diffusion;
    std::vector<double> metric;
};

std::vector<double> applied(fem::element_operator& A, const std::vector<double>& x) {
    fem::vector from = fem::to_device(x, A.device()), to(A.global_size(), A.device());
    A.apply(from, to);
    return to.download();
}

} // namespace

TEST_CASE("element matrices are the reference's, dense and factored", "[reference]") {
    const struct {
        const char* name;
        int p;
    } cases[] = {{"toroid-hex", 3}, {"triple-pt-1", 2}};
    for (const auto& c : cases) {
        const auto path = reference(std::string("meshes/") + c.name + ".mesh");
        if (path.empty()) return;
        discrete all(fem::read_mesh(path), c.p);
        for (const bool is_mass : {true, false})
            for (const auto how : {assembly::dense, assembly::factored}) {
                INFO(c.name << (is_mass ? " mass" : " diffusion")
                            << (how == assembly::dense ? " dense" : " factored"));
                const auto golden = reference(std::string("golden/") + c.name + "_p" + std::to_string(c.p) +
                                              (is_mass ? "_Me.npy" : "_Ke.npy"));
                CHECK(difference(all.matrices(is_mass, how).download(), read_npy(golden)) < 1e-13);
            }
    }
}

TEST_CASE("operators, element matrices, sparse matrix and diagonal are one operator in different forms", "[numerics]") {
    const struct {
        fem::mesh mesh;
        int p;
        std::vector<double> coefficient;
    } cases[] = {{fem::read_mesh(own_mesh("square.mesh")), 4, {2, 0.5, 1}},
                 {fem::read_mesh(own_mesh("quarter_ring.msh")), 3, {}},
                 {fem::read_mesh(own_mesh("torus.mesh")), 2, {}},
                 {fem::read_mesh(own_mesh("cube.mesh")), 2, {2, 0.3, -0.2, 1, 0.1, 3}},
                 {fem::read_mesh(own_mesh("quarter_pipe.msh")), 3, {}}};
    for (const auto& c : cases) {
        INFO(c.mesh.name << ", p = " << c.p);
        discrete all(c.mesh, c.p, c.coefficient);
        fem::sparse_matrix sparse(all.space, all.basis.device());
        const auto u = random_numbers(all.space.dofs(), 1), w = random_numbers(all.space.dofs(), 2);
        for (const bool is_mass : {true, false}) {
            fem::element_operator& A = is_mass ? static_cast<fem::element_operator&>(all.mass) : *all.diffusion;
            const auto dense = all.matrices(is_mass, assembly::dense),
                       factored = all.matrices(is_mass, assembly::factored);
            CHECK(difference(dense.download(), factored.download()) < 1e-13);
            sparse.assemble(factored);
            const auto Au = applied(A, u);
            CHECK(difference(product(sparse, u), Au) < 1e-13);

            // Symmetry: w'Au = u'Aw
            const auto Aw = applied(A, w);
            double wAu = 0, uAw = 0, uAu = 0, size = 0;
            for (std::size_t n = 0; n < u.size(); ++n) {
                wAu += w[n] * Au[n], uAw += u[n] * Aw[n], uAu += u[n] * Au[n];
                size += std::abs(w[n] * Au[n]);
            }
            CHECK(std::abs(wAu - uAw) < 1e-13 * size);
            CHECK(uAu > 0);

            // The same bits each time
            CHECK(applied(A, u) == Au);

            // Element vectors: v(i,e) = A(i,j,e) u(j,e)
            const std::int64_t n = all.space.nodes(), E = all.space.elements();
            const auto ue = random_numbers(n * E, 3);
            fem::vector v(n * E, A.device());
            const fem::vector from = fem::to_device(ue, A.device());
            A.apply_to_elements(from, v);
            const auto M = factored.download();
            std::vector<double> plain(n * E);
            for (std::int64_t e = 0; e < E; ++e)
                for (std::int64_t j = 0; j < n; ++j)
                    for (std::int64_t i = 0; i < n; ++i) plain[i + n * e] += M[i + n * (j + n * e)] * ue[j + n * e];
            CHECK(difference(v.download(), plain) < 1e-13);

            // The diagonal, and the dense matrix
            const auto diagonal = A.diagonal().download();
            const std::int64_t N = all.space.dofs();
            std::vector<double> full(N * N), own(N);
            const auto values = sparse.values().download();
            for (std::int64_t r = 0; r < N; ++r)
                for (std::int64_t k = sparse.row_starts()[r]; k < sparse.row_starts()[r + 1]; ++k) {
                    full[r + N * sparse.columns()[k]] = values[k];
                    if (sparse.columns()[k] == r) own[r] = values[k];
                }
            CHECK(difference(diagonal, own) < 1e-13);
            double asymmetry = 0, largest = 0;
            for (std::int64_t r = 0; r < N; ++r)
                for (std::int64_t k = 0; k < N; ++k) {
                    asymmetry = std::max(asymmetry, std::abs(full[r + N * k] - full[k + N * r]));
                    largest = std::max(largest, std::abs(full[r + N * k]));
                }
            CHECK(asymmetry < 1e-14 * largest);
            // Constants are in the null space of diffusion, so a multiple of the mass matrix is added there.
            if (!is_mass) {
                std::vector<double> one(N, 1.0);
                const auto K1 = applied(A, one);
                for (const double value : K1) CHECK(std::abs(value) < 1e-13 * largest);
                for (std::int64_t r = 0; r < N; ++r) full[r + N * r] += 1e-3 * largest;
            }
            CHECK(positive_definite(full, N));
        }
    }
}

TEST_CASE("operators on vectors are the scalar ones on each component, with either rule", "[numerics]") {
    for (const std::string name : {"square.mesh", "cube.mesh"})
        for (const auto kind : {fem::quadrature::gauss, fem::quadrature::collocated}) {
            const auto m = fem::read_mesh(own_mesh(name));
            const auto device = ricci::default_device();
            const fem::h1_space space(m, 3);
            const fem::tables basis(kind, 3, device);
            const fem::element_map map(m, basis.along, device);
            fem::mass_operator one_mass(space, basis, map), mass(space, basis, map, 3);
            fem::diffusion_operator one_diffusion(space, basis, map), diffusion(space, basis, map, 3);
            const auto x = random_numbers(3 * space.dofs(), 4);
            const auto check = [&](fem::element_operator& one, fem::element_operator& all) {
                const auto together = applied(all, x);
                const auto diagonal = all.diagonal().download(), of_one = one.diagonal().download();
                for (int component = 0; component < 3; ++component) {
                    const auto part = [&](const std::vector<double>& v) {
                        return std::vector<double>(v.begin() + component * space.dofs(),
                                                   v.begin() + (component + 1) * space.dofs());
                    };
                    CHECK(difference(part(together), applied(one, part(x))) < 1e-14);
                    CHECK(part(diagonal) == of_one);
                }
            };
            check(one_mass, mass);
            check(one_diffusion, diffusion);
        }
}

TEST_CASE("conjugate gradients solve to 1e-10, with and without a preconditioner, and say when they do not") {
    discrete all(fem::read_mesh(own_mesh("cube.mesh")), 3);
    const auto& device = all.basis.device();
    const auto x = random_numbers(all.space.dofs(), 5);
    const fem::vector b = fem::to_device(applied(all.mass, x), device);
    const fem::linear_map A = [&](const fem::vector& from, fem::vector& to) { all.mass.apply(from, to); };
    using namespace ricci::indices;
    const fem::linear_map nothing = [](const fem::vector& from, fem::vector& to) { to(i) = from(i); };
    int reported = 0;
    fem::solver_options options{1e-13, 1000, [&](int iteration, double) { CHECK(iteration == ++reported); }};
    fem::vector solution(b.size(), device);
    const auto with = fem::conjugate_gradient(A, fem::jacobi(all.mass.diagonal()), b, solution, options);
    CHECK(with.converged);
    CHECK(reported == with.iterations);
    CHECK(difference(solution.download(), x) < 1e-10);
    options.progress = {};
    fem::vector again(b.size(), device);
    const auto without = fem::conjugate_gradient(A, nothing, b, again, options);
    CHECK(without.converged);
    CHECK(difference(again.download(), x) < 1e-10);
    CHECK(with.iterations < without.iterations);

    options.most_iterations = 2;
    fem::vector early(b.size(), device);
    const auto stopped = fem::conjugate_gradient(A, nothing, b, early, options);
    CHECK(!stopped.converged);
    CHECK(stopped.iterations == 2);
    // For b = 0 there is nothing to do.
    const fem::vector zero(b.size(), device);
    fem::vector none(b.size(), device);
    const auto trivial = fem::conjugate_gradient(A, nothing, zero, none, {});
    CHECK(trivial.converged);
    CHECK(trivial.iterations == 0);
}

TEST_CASE("vectors of the wrong size are refused") {
    discrete all(fem::read_mesh(own_mesh("square.mesh")), 2);
    fem::vector x(all.space.dofs() + 1, all.basis.device()), y(all.space.dofs(), all.basis.device());
    CHECK_THROWS_WITH(all.mass.apply(x, y), Catch::Contains("the global vector has 26 numbers, not 25"));
    CHECK_THROWS_WITH(all.mass.apply_to_elements(y, y), Catch::Contains("the element vector has 25 numbers, not 36"));
}
