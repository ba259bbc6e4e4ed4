// diffusion_operator: the diffusion operator without a matrix, CEED's BP3 to BP6.
#pragma once

#include "examples/fem/operators/element_operator.hpp"
#include "examples/fem/operators/geometry.hpp"

namespace fem {

/// The integrals of grad phi_i * K grad u over the domain; BP3 and BP5 with one component, BP4 and BP6 with several.
/// BP3 and BP4 have more points than nodes, and interpolate with B; BP5 and BP6 have the nodes as points. In 3-D:
///
///     w(q,r,s) = B(q,i)*B(r,j)*B(s,k) * u(i,j,k)                                  values at the points
///     gx(f,r,s) = D(f,q)*w(q,r,s), gy(q,f,s) = D(f,r)*w(q,r,s), gz likewise       their gradient there
///     hx = S0*gx + S1*gy + S2*gz, hy = S1*gx + S3*gy + S4*gz, hz = ...            the flux, by six numbers a point
///     t(q,r,s) = D(f,q)*hx(f,r,s) + D(f,r)*hy(q,f,s) + D(f,s)*hz(q,r,f)           and back the same way
///     v(a,b,c) = B(q,a)*B(r,b)*B(s,c) * t(q,r,s)
class diffusion_operator : public element_operator {
  public:
    /// The tables must outlive it; `map` is at the same points. The coefficient is that of element_map::diffusion.
    diffusion_operator(const h1_space& space, const tables& basis, const element_map& map, int components = 1);
    diffusion_operator(const h1_space& space, const tables& basis, const element_map& map,
                       const ricci::view<const double, 4>& coefficient, int components = 1);

    double bytes_of_elements() const override;
    double flops() const override;
    /// S(q,r,s,n,e), of which element_matrices.hpp makes matrices.
    const vector& metric() const { return metric_; }

  private:
    void statements(bool global) override;
    void element_diagonal(vector& d) override;

    vector metric_; ///< S(q,r,s,n,e), the numbers n of element_map::diffusion
};

} // namespace fem
