// notation: the bake-off problems as statements, for ricci to fuse, and one contraction at a time.
#pragma once

#include "bench/fem/problem.hpp"
#include "bench/text_program.hpp"

#include <cstddef>

namespace ricci::bench::fem {

/// The tensors of a problem, in the order of a set's addresses; the table l only where vectors are global.
///
///     B(q,i)          the basis at the points
///     G(f,q)          the derivative at point f of the polynomial that is 1 at point q
///     S(q,r,s,e)      mass's weights, or S(q,r,s,n,e): n = 0 xx, 1 xy, 2 xz, 3 yy, 4 yz, 5 zz
///     u, v            u(i,j,k,e), with several components u(i,j,k,m,e); global ones x(g), y(g), or x(g,m), y(g,m)
///     l(i,j,k,e)      the nodes' numbers
enum tensor_number : std::size_t { at_B, at_G, at_S, at_u, at_v, at_l };

/// With as few statements as a user would write: what they hand each other are locals.
text_program fused(const problem& p);
/// Every contraction by itself.
text_program step_by_step(const problem& p);

} // namespace ricci::bench::fem
