// poisson: the boundary's values are taken to the right side, the rest is solved for.
#include "examples/fem/solve/poisson.hpp"

#include "examples/fem/operators/geometry.hpp"

#include <fmt/format.h>

#include <cmath>

namespace fem {
namespace {

using namespace ricci::indices;

/// f at points X(q,x,e), `count` of them an element.
template <class Function>
std::vector<double> evaluate(const std::vector<double>& points, std::int64_t count, int dimension,
                             const Function& f) {
    const std::int64_t elements = static_cast<std::int64_t>(points.size()) / (count * dimension);
    std::vector<double> values(count * elements);
    for (std::int64_t element = 0; element < elements; ++element)
        for (std::int64_t n = 0; n < count; ++n) {
            point at{};
            for (int d = 0; d < dimension; ++d) at[d] = points[n + count * (d + dimension * element)];
            values[n + count * element] = f(at);
        }
    return values;
}

} // namespace

poisson::poisson(const mesh& from, int order, manufactured solution, ricci::device device,
                 std::optional<symmetric_matrix> coefficient, int points)
    : space_(from, order), basis_(quadrature::gauss, order, device, points), known_(std::move(solution)),
      sharing_(space_, 1, device), weights_(0, device), known_at_(0, device), load_(space_.dofs(), device),
      free_(0, device), u_(space_.dofs(), device) {
    const int dimension = from.dimension;
    const auto boundary = space_.boundary_dofs();
    boundary_dofs_ = static_cast<std::int64_t>(boundary.size());
    if (boundary.empty())
        throw mesh_error(
            fmt::format("{}: the mesh has no boundary, so nothing determines the solution's constant", from.name));
    const symmetric_matrix K = coefficient.value_or(identity_matrix());
    const element_map map(from, basis_.along, device);
    if (coefficient) {
        std::vector<double> entries;
        for (int column = 0; column < dimension; ++column)
            for (int row = 0; row < dimension; ++row) entries.push_back(K[row][column]);
        const vector on_device = to_device(entries, device);
        const ricci::view<const double, 4> everywhere(
            on_device.data(), {map.points_per_element(), dimension, dimension, map.elements()}, {0, 1, dimension, 0},
            device);
        diffusion_ = std::make_unique<diffusion_operator>(space_, basis_, map, everywhere);
    } else {
        diffusion_ = std::make_unique<diffusion_operator>(space_, basis_, map);
    }

    weights_ = map.weights();
    const std::vector<double> places = map.points().download();
    known_at_ = to_device(evaluate(places, map.points_per_element(), dimension, known_.value), device);
    vector f = to_device(
        evaluate(places, map.points_per_element(), dimension, [&](const point& at) { return known_.source(at, K); }),
        device);
    f(q) = f(q) * weights_(q);
    vector tested(ricci::uninitialized, space_.nodes() * space_.elements(), device);
    test_with_basis(f, tested);
    sharing_.scatter(shaped<3>(tested, {space_.nodes(), 1, space_.elements()}), shaped<2>(load_, {space_.dofs(), 1}));

    // The known solution at the nodes of the boundary.
    const std::vector<double> nodes = mapped_points(from, positions(node_points::gauss_lobatto, order), device);
    const std::vector<double> at_nodes = evaluate(nodes, space_.nodes(), dimension, known_.value);
    std::vector<double> free(space_.dofs(), 1.0), values(space_.dofs());
    for (const std::int64_t number : boundary) free[number] = 0;
    for (std::size_t n = 0; n < at_nodes.size(); ++n) {
        const std::int64_t number = space_.numbers()[n];
        if (free[number] == 0) values[number] = at_nodes[n];
    }
    free_ = to_device(free, device);
    u_ = to_device(values, device);
}

void poisson::test_with_basis(const vector& at_points, vector& at_nodes) const {
    const std::int64_t P = basis_.nodes(), Q = basis_.points(), E = space_.elements();
    const matrix& B = basis_.B;
    if (space_.dimension() == 2)
        shaped<3>(at_nodes, {P, P, E})(a, b, e) = B(q, a) * B(r, b) * shaped<3>(at_points, {Q, Q, E})(q, r, e);
    else
        shaped<4>(at_nodes, {P, P, P, E})(a, b, c, e) =
            B(q, a) * B(r, b) * B(s, c) * shaped<4>(at_points, {Q, Q, Q, E})(q, r, s, e);
}

void poisson::interpolate(const vector& at_nodes, vector& at_points) const {
    const std::int64_t P = basis_.nodes(), Q = basis_.points(), E = space_.elements();
    const matrix& B = basis_.B;
    if (space_.dimension() == 2)
        shaped<3>(at_points, {Q, Q, E})(q, r, e) = B(q, i) * B(r, j) * shaped<3>(at_nodes, {P, P, E})(i, j, e);
    else
        shaped<4>(at_points, {Q, Q, Q, E})(q, r, s, e) =
            B(q, i) * B(r, j) * B(s, k) * shaped<4>(at_nodes, {P, P, P, E})(i, j, k, e);
}

solver_result poisson::solve(const solver_options& options) {
    const auto& device = load_.device();
    vector right(space_.dofs(), device), x(space_.dofs(), device), u_boundary = u_.copy();
    u_boundary(g) = (1 - free_(g)) * u_(g);
    diffusion_->apply(u_boundary, right);
    right(g) = free_(g) * (load_(g) - right(g));

    // A with the rows and columns of the boundary left out: what CG multiplies is 0 there, and so is what it gets.
    const linear_map A = [this](const vector& from, vector& to) {
        diffusion_->apply(from, to);
        to(g) = free_(g) * to(g);
    };
    const solver_result result = conjugate_gradient(A, jacobi(diffusion_->diagonal()), right, x, options);
    u_(g) = u_boundary(g) + x(g);
    return result;
}

double poisson::l2_norm(bool of_error) const {
    const std::int64_t E = space_.elements();
    vector difference = known_at_.copy();
    if (of_error) {
        vector of_elements(ricci::uninitialized, space_.nodes() * E, load_.device());
        vector at_points(ricci::uninitialized, known_at_.size(), load_.device());
        sharing_.gather(shaped<2>(u_, {space_.dofs(), 1}), shaped<3>(of_elements, {space_.nodes(), 1, E}));
        interpolate(of_elements, at_points);
        difference(q) -= at_points(q);
    }
    const double squares = weights_(q) * difference(q) * difference(q);
    return std::sqrt(squares);
}

} // namespace fem
