// refine: every element cut into 2^dimension, its shape kept exactly.
#pragma once

#include "examples/fem/mesh/mesh.hpp"

namespace fem {

/// Each element's polynomials are evaluated at the nodes of its children, so that curved elements stay what they are
/// up to rounding. Children inherit the attributes of their elements and faces. Throws not_enough_memory.
mesh refine(const mesh& m);

/// `times` times in turn.
mesh refined(mesh m, int times);

} // namespace fem
