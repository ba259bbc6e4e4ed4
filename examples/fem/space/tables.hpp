// tables: the one-dimensional tables of a basis at the points of a rule, on the device.
#pragma once

#include "examples/fem/space/basis.hpp"

#include <ricci/ricci.hpp>

#include <cstdint>
#include <vector>

namespace fem {

using vector = ricci::tensor<double, ricci::dyn>;
using matrix = ricci::tensor<double, ricci::dyn, ricci::dyn>;
/// l(i,e) and the like.
using index_table = ricci::tensor<std::int64_t, ricci::dyn>;

/// The points at which integrals over elements are taken.
enum class quadrature : std::uint8_t {
    gauss,     ///< p+2 Gauss-Legendre points in each direction, unless another number is given
    collocated ///< the p+1 Gauss-Lobatto points, which are the nodes: no interpolation is needed
};

/// The rule along one direction; `points` 0 means as many as the kind has by itself.
rule make_rule(quadrature kind, int p, int points = 0);

/// For nodes i at the Gauss-Lobatto points of order p and points q of the rule: B(q,i) = phi_i(x_q). Polynomials that
/// are known at the points have derivatives there: D(q,r) is that of the polynomial which is 1 at point r, so that
/// D*B differentiates the basis.
struct tables {
    tables(quadrature kind, int p, ricci::device device, int points = 0);

    int order;
    bool collocated; ///< B is the identity
    rule along;
    matrix B, G, D; ///< G(q,i) = phi_i'(x_q)

    int nodes() const { return order + 1; }
    int points() const { return along.size(); }
    const ricci::device& device() const { return device_; }

  private:
    ricci::device device_;
};

/// A table of the host as a tensor.
matrix to_device(const table& t, ricci::device device);
vector to_device(const std::vector<double>& values, ricci::device device);
index_table to_device(const std::vector<std::int64_t>& values, ricci::device device);

} // namespace fem
