// source: the load vector of the right side f of -div(K grad u) = f.
#pragma once

#include "examples/fem/operators/coefficient.hpp"
#include "examples/fem/operators/gather_scatter.hpp"
#include "examples/fem/operators/geometry.hpp"
#include "examples/fem/solve/manufactured.hpp"
#include "examples/fem/space/tables.hpp"

namespace fem {

/// load(l(a,b,c,e)) = B(q,a)*B(r,b)*B(s,c) * W(q,r,s,e)*f(q,r,s,e), equal numbers added up: the integrals of each
/// basis function times f, that of the known solution. f is evaluated on the host, all else runs on the device.
void find_source_load(const h1_space& space, const tables& basis, const element_map& map,
                      const gather_scatter& sharing, const manufactured& known, const symmetric_matrix& K,
                      vector& load);

} // namespace fem
