// neumann: the parts of the boundary on which the flux K grad u . n is given, not u.
#pragma once

#include "examples/fem/operators/coefficient.hpp"
#include "examples/fem/solve/manufactured.hpp"
#include "examples/fem/space/h1_space.hpp"
#include "examples/fem/space/tables.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fem {

/// The attributes of the boundary that are not `neumann`: on those u is given. Throws mesh_error, which begins with
/// `name`, where one of `neumann` stands twice or is no attribute of the boundary, and where none but these are left:
/// u would be unique up to a constant only.
std::vector<int> dirichlet_attributes(const h1_space& space, const std::string& name,
                                      const std::vector<int>& neumann);

/// Throws mesh_error, naming an element, where none of the nodes `given` is in a part of the mesh that shares no node
/// with the rest.
void check_given(const h1_space& space, const std::string& name, const std::vector<std::int64_t>& given);

/// load(l(a,b,f)) += B(q,a)*B(r,b) * n(q,r,x,f)*K(x,y)*g(q,r,y,f): the integrals over the faces f with an attribute
/// of `neumann` of each basis function times K grad u . n, u the known solution. At the points of `basis`, in each
/// direction of the face.
void add_neumann_load(const mesh& m, const h1_space& space, const tables& basis, const std::vector<int>& neumann,
                      const manufactured& known, const symmetric_matrix& K, vector& load);

} // namespace fem
