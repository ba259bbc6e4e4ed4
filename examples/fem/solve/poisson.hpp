// poisson: -div(K grad u) = f on a mesh with a known solution, and how far the computed one is from it.
#pragma once

#include "examples/fem/operators/diffusion_operator.hpp"
#include "examples/fem/solve/conjugate_gradient.hpp"
#include "examples/fem/solve/manufactured.hpp"
#include "examples/fem/space/h1_space.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace fem {

/// What makes conjugate gradients need fewer iterations.
enum class preconditioning : std::uint8_t {
    none,
    jacobi, ///< the diagonal's inverse
    schwarz ///< the inverses of the blocks at the nodes of each element: additive_schwarz
};

/// K is constant. On the parts of the boundary with an attribute of `neumann` the flux K grad u . n is given, on the
/// others u: at their nodes, by the known solution. By Gauss-Legendre points, p+2 in each direction unless another
/// number is given; the error by three more, unless another number is given.
class poisson {
  public:
    /// Throws mesh_error where u is given nowhere, so that the solution would not be unique, and as
    /// dirichlet_attributes of neumann.hpp.
    poisson(const mesh& m, int p, manufactured solution, ricci::device device,
            std::optional<symmetric_matrix> K = std::nullopt, int points = 0, int error_points = 0,
            const std::vector<int>& neumann = {});

    /// F for A without the rows and columns of nodes where u is given. Throws as additive_schwarz, and
    /// not_enough_memory.
    linear_map preconditioner(preconditioning which);
    /// By Jacobi's preconditioner unless another is given.
    solver_result solve(const solver_options& options);
    solver_result solve(const solver_options& options, const linear_map& preconditioner);

    /// The computed solution, one number for each node of the space; before solve() 0 but where u is given.
    const vector& solution() const { return u_; }
    /// The square root of the integral of (u - u_known)^2.
    double error() const;

    const h1_space& space() const { return space_; }
    /// How many nodes u is given at.
    std::int64_t boundary_dofs() const { return boundary_dofs_; }
    diffusion_operator& diffusion() { return *diffusion_; }

  private:
    void find_boundary(const mesh& from, const std::vector<int>& neumann);

    h1_space space_;
    tables basis_;
    manufactured known_;
    gather_scatter sharing_;
    std::unique_ptr<diffusion_operator> diffusion_;
    std::int64_t boundary_dofs_ = 0;
    vector load_; ///< the integrals of phi_i*f, and of phi_i times the flux on Neumann parts, global
    vector free_; ///< (g): 1, and 0 where u is given
    vector u_;    ///< before solve() the given values

    // The error is looked at with more points than the problem was solved with, which it would look too small at.
    tables fine_;
    vector fine_weights_, fine_known_; ///< W(q,e), and the known solution there
};

} // namespace fem
