// gather_scatter: between the values of a space, one for each node of the mesh, and those of its elements.
#pragma once

#include "examples/fem/operators/shaped.hpp"
#include "examples/fem/space/h1_space.hpp"

#include <cstdint>

namespace fem {

/// Global vectors are x(g,m), g below dofs() and m a component; element vectors u(i,m,e), where i stands for i,j,k:
///
///     gather:   u(i,m,e) = x(l(i,e),m)
///     scatter:  y = 0, y(l(i,e),m) += v(i,m,e)
///
/// Sums are added in a fixed order, so that the same vector gives the same bits. Statements within record() are
/// recorded.
class gather_scatter {
  public:
    gather_scatter(const h1_space& space, ricci::device device);

    void gather(const ricci::view<const double, 2>& x, const ricci::view<double, 3>& u) const;
    void scatter(const ricci::view<const double, 3>& v, const ricci::view<double, 2>& y) const;

  private:
    std::int64_t nodes_, elements_;
    index_table numbers_; ///< l(i,e)
};

} // namespace fem
