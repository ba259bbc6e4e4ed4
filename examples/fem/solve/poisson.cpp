// poisson: given values are taken to the right side, the rest is solved for.
#include "examples/fem/solve/poisson.hpp"

#include "examples/fem/operators/element_matrices.hpp"
#include "examples/fem/operators/geometry.hpp"
#include "examples/fem/operators/interpolation.hpp"
#include "examples/fem/solve/neumann.hpp"
#include "examples/fem/solve/schwarz.hpp"
#include "examples/fem/solve/source.hpp"

#include <cmath>

namespace fem {

using namespace ricci::indices;

poisson::poisson(const mesh& from, int order, manufactured solution, ricci::device device,
                 std::optional<symmetric_matrix> K, int points, int error_points, const std::vector<int>& neumann)
    : space_(from, order), basis_(quadrature::gauss, order, device, points), known_(std::move(solution)),
      sharing_(space_, device), load_(space_.dofs(), device), free_(0, device), u_(0, device),
      fine_(quadrature::gauss, order, device, error_points > 0 ? error_points : basis_.points() + 3),
      fine_weights_(0, device), fine_known_(0, device) {
    find_boundary(from, neumann);
    const element_map map(from, basis_.along, device);
    if (K) {
        const coefficient everywhere(from, *K, device);
        diffusion_ =
            std::make_unique<diffusion_operator>(space_, basis_, map, everywhere.at_points(map.points_per_element()));
    } else {
        diffusion_ = std::make_unique<diffusion_operator>(space_, basis_, map);
    }
    const symmetric_matrix coefficient_matrix = K.value_or(identity_matrix());
    find_source_load(space_, basis_, map, sharing_, known_, coefficient_matrix, load_);
    add_neumann_load(from, space_, basis_, neumann, known_, coefficient_matrix, load_);

    const element_map fine(from, fine_.along, device);
    fine_weights_ = fine.weights();
    fine_known_ = to_device(
        values_at(fine.points().download(), fine.points_per_element(), from.dimension, known_.value), device);
}

void poisson::find_boundary(const mesh& from, const std::vector<int>& neumann) {
    const auto given = space_.boundary_dofs(dirichlet_attributes(space_, from.name, neumann));
    check_given(space_, from.name, given);
    boundary_dofs_ = static_cast<std::int64_t>(given.size());
    const auto& device = load_.device();
    const std::vector<double> nodes =
        mapped_points(from, positions(node_points::gauss_lobatto, space_.order()), device);
    const std::vector<double> at_nodes = values_at(nodes, space_.nodes(), from.dimension, known_.value);
    std::vector<double> free(space_.dofs(), 1.0), values(space_.dofs());
    for (const std::int64_t number : given) free[number] = 0;
    for (std::size_t n = 0; n < at_nodes.size(); ++n) {
        const std::int64_t number = space_.numbers()[n];
        if (free[number] == 0) values[number] = at_nodes[n];
    }
    free_ = to_device(free, device);
    u_ = to_device(values, device);
}

linear_map poisson::preconditioner(preconditioning which) {
    if (which == preconditioning::none) return identity();
    if (which == preconditioning::jacobi) return jacobi(diffusion_->diagonal());
    check_schwarz_memory(space_);
    return additive_schwarz(space_,
                            element_diffusion_matrices(basis_, space_.dimension(), space_.elements(),
                                                       diffusion_->metric(), assembly::factored),
                            free_);
}

solver_result poisson::solve(const solver_options& options) {
    return solve(options, preconditioner(preconditioning::jacobi));
}

solver_result poisson::solve(const solver_options& options, const linear_map& preconditioner) {
    const auto& device = load_.device();
    vector right(space_.dofs(), device), x(space_.dofs(), device);
    u_(g) = (1 - free_(g)) * u_(g);
    diffusion_->apply(u_, right);
    right(g) = free_(g) * (load_(g) - right(g));

    // A without the rows and columns of nodes where u is given: what CG multiplies is 0 there, and so is what it
    // gets.
    const linear_map A = [this](const vector& from, vector& to) {
        diffusion_->apply(from, to);
        to(g) = free_(g) * to(g);
    };
    const solver_result result = conjugate_gradient(A, preconditioner, right, x, options);
    u_(g) += x(g);
    return result;
}

double poisson::error() const {
    const std::int64_t E = space_.elements();
    vector of_elements(ricci::uninitialized, space_.nodes() * E, load_.device());
    vector difference(ricci::uninitialized, fine_known_.size(), load_.device());
    sharing_.gather(u_, shaped<2>(of_elements, {space_.nodes(), E}));
    interpolate(fine_.B, space_.dimension(), E, of_elements, difference);
    difference(q) -= fine_known_(q);
    const double squares = fine_weights_(q) * difference(q) * difference(q);
    return std::sqrt(squares);
}

} // namespace fem
