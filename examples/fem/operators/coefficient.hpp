// coefficient: the matrix K of div(K grad u), one for the whole domain or one for each of its parts.
#pragma once

#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/operators/geometry.hpp"

#include <ricci/ricci.hpp>

#include <array>
#include <map>
#include <string>
#include <vector>

namespace fem {

/// A symmetric matrix; in 2-D its first two rows and columns.
using symmetric_matrix = std::array<std::array<double, 3>, 3>;

symmetric_matrix identity_matrix();

/// From the upper triangle, row by row: 3 numbers in 2-D, 6 in 3-D. Throws std::invalid_argument for another number
/// of them, and where the matrix is not positive definite.
symmetric_matrix symmetric_matrix_of(const std::vector<double>& upper, int dimension);

/// K(q,x,y,e) on the elements of a mesh, the same at all points q of an element.
class coefficient {
  public:
    /// The same matrix everywhere.
    coefficient(const mesh& m, const symmetric_matrix& everywhere, ricci::device device);
    /// One for each attribute of elements. Throws mesh_error, naming the element, for an attribute without one.
    coefficient(const mesh& m, const std::map<int, symmetric_matrix>& by_attribute, ricci::device device);

    /// For `points` points an element, as element_map::diffusion takes it. The coefficient must outlive the view.
    ricci::view<const double, 4> at_points(std::int64_t points) const;

  private:
    std::int64_t dimension_, elements_;
    vector values_; ///< K(x,y,e)
};

} // namespace fem
