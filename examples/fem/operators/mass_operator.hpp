// mass_operator: the mass operator without a matrix, CEED's BP1 (one component) and BP2 (several).
#pragma once

#include "examples/fem/operators/element_operator.hpp"
#include "examples/fem/operators/geometry.hpp"

namespace fem {

/// The integrals of phi_i*u over the domain. In 3-D:
///
///     v(a,b,c,e) = B(q,a)*B(r,b)*B(s,c) * W(q,r,s,e) * B(q,i)*B(r,j)*B(s,k) * u(i,j,k,e)
///
/// or the same in three statements for each of several components.
class mass_operator : public element_operator {
  public:
    /// The tables must outlive it; `map` is at the same points.
    mass_operator(const h1_space& space, const tables& basis, const element_map& map, int components = 1);

    double bytes_of_elements() const override;
    double flops() const override;

  private:
    void statements(bool global) override;
    void element_diagonal(vector& d) override;

    vector weights_; ///< W(q,r,s,e)
};

} // namespace fem
