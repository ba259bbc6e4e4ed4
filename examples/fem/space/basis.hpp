// basis: quadrature rules and Lagrange polynomials on the reference interval [0, 1], and their tensor products.
#pragma once

#include "examples/fem/mesh/mesh.hpp"

#include <cstdint>
#include <vector>

namespace fem {

/// Points in increasing order in [0, 1] and weights that sum to 1.
struct rule {
    std::vector<double> points, weights;
    int size() const { return static_cast<int>(points.size()); }
};

/// Gauss-Legendre: n >= 1 points, exact for polynomials of degree 2n-1. Accurate to rounding for n up to 64.
rule gauss_legendre(int n);

/// Gauss-Lobatto-Legendre: n >= 2 points, both ends among them, exact for degree 2n-3.
rule gauss_lobatto(int n);

/// The order+1 node positions along one direction of an element; order >= 1.
std::vector<double> positions(node_points kind, int order);

/// A matrix, first index fastest: rows are evaluation points, columns basis functions.
struct table {
    int rows = 0, columns = 0;
    std::vector<double> values;
    double& operator()(int q, int i) { return values[q + std::int64_t(rows) * i]; }
    double operator()(int q, int i) const { return values[q + std::int64_t(rows) * i]; }
};

/// Lagrange polynomials through distinct nodes, by the barycentric formula (Berrut and Trefethen, SIAM Review 46,
/// 2004).
class lagrange {
  public:
    explicit lagrange(std::vector<double> nodes);
    /// B(q,i): polynomial i, which is 1 at node i and 0 at the others, at points[q].
    table values(const std::vector<double>& points) const;
    /// G(q,i): its derivative there.
    table derivatives(const std::vector<double>& points) const;

  private:
    std::vector<double> nodes_, weights_;
};

/// B(q,i) in `dimension` dimensions from B(a,i) in one: products over the directions, q and i lexicographic.
table tensor_product(const table& along, int dimension);
/// The same with a table of its own for each direction.
table tensor_product(const std::vector<const table*>& along);

/// Applies `along[d]` to direction d of u(i,j,...), lexicographic, and returns the values at (a,b,...).
std::vector<double> apply_along(const std::vector<const table*>& along, const double* u);

} // namespace fem
