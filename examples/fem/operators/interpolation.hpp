// interpolation: values at points from those at nodes, element by element, by a table for one direction.
#pragma once

#include "examples/fem/operators/shaped.hpp"

namespace fem {

/// v(q,r,s,n) = B(q,i)*B(r,j)*B(s,k) * u(i,j,k,n), without k and s in 2-D, for `count` of n: elements, or coordinates
/// (or components) of elements.
inline void interpolate(const matrix& B, int dimension, std::int64_t count, const vector& u, vector& v) {
    using namespace ricci::indices;
    const std::int64_t Q = B.extent(0), P = B.extent(1);
    if (dimension == 2)
        shaped<3>(v, {Q, Q, count})(q, r, n) = B(q, i) * B(r, j) * shaped<3>(u, {P, P, count})(i, j, n);
    else
        shaped<4>(v, {Q, Q, Q, count})(q, r, s, n) =
            B(q, i) * B(r, j) * B(s, k) * shaped<4>(u, {P, P, P, count})(i, j, k, n);
}

} // namespace fem
