// h1_space: continuous functions on a mesh, polynomials of order p on each element, by their values at nodes.
#pragma once

#include "examples/fem/mesh/boundary.hpp"
#include "examples/fem/mesh/mesh.hpp"

#include <cstdint>
#include <vector>

namespace fem {

/// The nodes of an element are the Gauss-Lobatto points, lexicographic, x first; neighbours share those on their
/// common face. Numbers are 64-bit throughout.
class h1_space {
  public:
    /// Order p >= 1. Throws mesh_error, not_enough_memory.
    h1_space(const mesh& m, int p);

    int dimension() const { return dimension_; }
    int order() const { return order_; }
    std::int64_t elements() const { return elements_; }
    std::int64_t nodes() const { return nodes_; } ///< of one element: (p+1)^dimension
    std::int64_t dofs() const { return dofs_; }   ///< different nodes of the mesh

    /// l(i,e), first index fastest: the number, below dofs(), of node i of element e.
    const std::vector<std::int64_t>& numbers() const { return numbers_; }

    /// The faces that make the boundary, with their attributes.
    const std::vector<boundary_part>& boundary() const { return boundary_; }
    /// The numbers of the nodes on the boundary, in order; or on the parts of it with one of these attributes.
    std::vector<std::int64_t> boundary_dofs() const;
    std::vector<std::int64_t> boundary_dofs(const std::vector<int>& attributes) const;

  private:
    template <class Wanted>
    std::vector<std::int64_t> dofs_on(Wanted wanted) const;

    int dimension_, order_;
    std::int64_t elements_, nodes_, dofs_ = 0;
    std::vector<std::int64_t> numbers_;
    std::vector<boundary_part> boundary_;
};

/// The nodes of an element on its side `face`, by their lexicographic numbers.
std::vector<std::int64_t> nodes_on_face(int dimension, int order, int face);

} // namespace fem
