// plot: a function on a mesh as a picture: the domain in 2-D, its surface seen from an angle in 3-D.
#pragma once

#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/output/picture.hpp"
#include "examples/fem/space/h1_space.hpp"

#include <vector>

namespace fem {

/// Colours from the smallest value (dark) to the largest (bright), with a scale at the right and the elements' edges.
/// `values` are those at the nodes of the space, on the host. A mesh without boundary in 3-D shows all faces.
picture plot(const mesh& m, const h1_space& space, const std::vector<double>& values, int width, int height);

} // namespace fem
