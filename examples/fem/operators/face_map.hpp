// face_map: where the points of a rule on faces of the boundary (edges in 2-D) lie, and their normals, by statements.
#pragma once

#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/space/basis.hpp"
#include "examples/fem/space/h1_space.hpp"
#include "examples/fem/space/tables.hpp"

#include <ricci/ricci.hpp>

#include <cstdint>
#include <vector>

namespace fem {

/// The mapping of the reference face to each of some faces, on which the nodes and the points count as on the
/// element: the direction of lower number first. Points q are lexicographic. All on one device.
class face_map {
  public:
    face_map(const mesh& m, const std::vector<boundary_part>& faces, const rule& along, ricci::device device);

    /// X(q,x,f): where the points lie.
    const vector& points() const { return points_; }
    /// n(q,x,f): the unit normal out of the element, times the weight of point q and the area that belongs to it.
    /// Sums over q of a vector field times n are its flux through the face.
    const vector& normals() const { return normals_; }
    std::int64_t points_per_face() const { return count_; }
    std::int64_t faces() const { return faces_; }

  private:
    void find(const mesh& m, const std::vector<boundary_part>& faces, const rule& along);

    std::int64_t faces_, count_;
    ricci::device device_;
    vector points_, normals_;
};

/// l(i,f): the number in the space of node i of each face.
std::vector<std::int64_t> numbers_on_faces(const h1_space& space, const std::vector<boundary_part>& faces);

} // namespace fem
