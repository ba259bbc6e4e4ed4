// problem: one of CEED's bake-off problems, BP1 to BP6, at one order on a box of hexahedra: its sizes and what it
// costs at least. https://ceed.exascaleproject.org/bps
#pragma once

#include "bench/fem/box.hpp"

#include <ricci/lowering/scalar_type.hpp>

#include <cstdint>

namespace ricci::bench::fem {

/// Which vectors it is applied to.
enum class form {
    element, ///< E-vectors, each element's nodes by themselves: CEED's bake-off kernels, BK1 to BK6
    global   ///< L-vectors, each node once: with gather and scatter
};

/// BP1, BP2: mass, p+2 Gauss points in each direction. BP3, BP4: diffusion at the same points. BP5, BP6: diffusion
/// at the p+1 Lobatto points that the nodes are. Of one component and of three.
struct problem {
    int number = 1;         ///< 1 to 6
    std::int64_t order = 1; ///< p
    form vectors = form::element;
    bool atomic = false; ///< sums into global vectors in any order
    lowering::scalar_type type = lowering::scalar_type::f64;
    box mesh{};

    bool is_mass() const { return number <= 2; }
    bool is_global() const { return vectors == form::global; }
    /// The nodes are the points: nothing is interpolated.
    bool is_collocated() const { return number >= 5; }
    std::int64_t components() const { return number % 2 == 1 ? 1 : 3; }

    std::int64_t nodes_along() const { return order + 1; }
    std::int64_t points_along() const { return is_collocated() ? order + 1 : order + 2; }
    /// Of an element.
    std::int64_t nodes() const { return nodes_along() * nodes_along() * nodes_along(); }
    std::int64_t points() const { return points_along() * points_along() * points_along(); }
    /// Given at each point: the mass's weight, or the six of diffusion's symmetric matrix.
    std::int64_t numbers() const { return is_mass() ? 1 : 6; }

    /// Of the whole box, each node's components once, in both forms: so that rates can be compared.
    double unknowns() const;
    /// What must be moved at least: both vectors, the numbers of the points, and the table of nodes, once each.
    double bytes() const;
    /// By sum factorisation, a multiplication and an addition counting two.
    double flops() const;
};

/// As many elements as move about `bytes`, on a box.
problem sized(problem p, std::int64_t bytes);

} // namespace ricci::bench::fem
