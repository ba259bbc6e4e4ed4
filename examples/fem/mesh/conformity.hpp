// conformity: whether elements that touch share whole faces, as continuous functions need it.
#pragma once

#include "examples/fem/mesh/mesh.hpp"

namespace fem {

/// For meshes that check_jacobians passed. Throws mesh_error, naming the elements, where a mesh does not conform: two
/// elements share a face by its vertices but not its shape (up to a motion, as across a periodic boundary), or lie on
/// the same side of it, or a vertex lies inside of another element's edge or face (a hanging node).
void check_conformity(const mesh& m);

} // namespace fem
