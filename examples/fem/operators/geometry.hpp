// geometry: what the mapping of each element contributes to integrals, at every quadrature point, by statements.
#pragma once

#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/space/basis.hpp"
#include "examples/fem/space/tables.hpp"

#include <ricci/ricci.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace fem {

/// The d(d+1)/2 stored numbers of a symmetric matrix: its upper triangle, row by row.
std::vector<std::pair<int, int>> symmetric_pairs(int dimension);
/// The number of entry (x,y) among them, [dimension][dimension].
std::vector<std::int64_t> symmetric_table(int dimension);

/// The mapping X of the reference element to each element, with J = dX/dr at the points of a rule. Points q are
/// lexicographic, x first. All on one device.
class element_map {
  public:
    /// Throws mesh_error, naming the element, where a determinant of J is not positive, or not finite.
    element_map(const mesh& m, const rule& along, ricci::device device);

    /// W(q,e): the weight of point q times det J. Sums over q are integrals over the element.
    vector weights() const;
    /// D(q,s,e): weight * det J * J^-1 K J^-T, of which the entries s of symmetric_pairs are stored. K, the
    /// coefficient, is a symmetric positive definite matrix K(q,x,y,e), a view of which strides may be zero; without
    /// it K is the identity.
    vector diffusion() const;
    vector diffusion(const ricci::view<const double, 4>& coefficient) const;
    /// X(q,x,e): where the points lie.
    vector points() const;

    int dimension() const { return dimension_; }
    std::int64_t points_per_element() const { return points_; }
    std::int64_t elements() const { return elements_; }
    const ricci::device& device() const { return device_; }

  private:
    void find_jacobians();
    void check(const mesh& m) const;

    int dimension_;
    std::int64_t points_, elements_;
    int nodes_along_, points_along_;
    ricci::device device_;
    matrix B_, G_;    ///< of the mesh's own polynomials
    vector nodes_;    ///< X(i,x,e)
    vector weight_;   ///< of point q on the reference element
    vector adjugate_; ///< (q,r,x,e): det J * dr/dX
    vector det_;      ///< (q,e)
};

/// The values at other points of the mesh's polynomials, X(q,x,e), for example at the nodes of a space: `along` are
/// the positions in each direction.
std::vector<double> mapped_points(const mesh& m, const std::vector<double>& along, ricci::device device);

/// Neumaier's sum: as if added in twice the precision, so that it loses no digits as meshes grow.
double careful_sum(const std::vector<double>& values);

} // namespace fem
