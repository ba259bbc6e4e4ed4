// h1_numbering: the numbers of the nodes of a continuous (H1) space, one for each point that neighbours share.
#pragma once

#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/mesh/topology.hpp"

#include <cstdint>
#include <span>

namespace fem {

/// Vertices first, then the inner nodes of edges, of faces, of elements, as MFEM numbers them. Mesh and topology must
/// outlive it.
class h1_numbering {
  public:
    h1_numbering(const mesh& m, const topology& t, int order);

    /// How many nodes there are; vertices that no element has count too.
    std::int64_t size() const;

    /// The numbers of element e's (order+1)^dimension nodes, lexicographic.
    void nodes_of(std::int64_t e, std::span<std::int64_t> numbers) const;

  private:
    void edge_nodes(std::int64_t e, int i, const std::int64_t* v, std::span<std::int64_t> numbers) const;
    void face_nodes(std::int64_t e, int i, const std::int64_t* v, std::span<std::int64_t> numbers) const;

    const mesh& mesh_;
    const topology& topology_;
    int order_, inner_;
    std::int64_t first_edge_, first_face_, first_interior_;
};

} // namespace fem
