// gather_scatter: between the values of a space, one for each node of the mesh, and those of its elements.
#pragma once

#include "examples/fem/operators/shaped.hpp"
#include "examples/fem/space/h1_space.hpp"

#include <array>
#include <cstdint>
#include <type_traits>

namespace fem {

/// Global vectors are x(g), g below dofs(), or x(g,m) where there are several components m. Element vectors, which
/// are tensors, views or locals, are u(i,j,k,e) or u(i,j,k,m,e); in 2-D without k, and with i for all of i,j,k where
/// nodes of an element have one index.
///
///     gather:   u(i,j,k,e) = x(l(i,j,k,e))
///     scatter:  y = 0, y(l(i,j,k,e)) += v(i,j,k,e)
///
/// Sums are added in a fixed order, so that the same vector gives the same bits. Statements within record() are
/// recorded.
class gather_scatter {
  public:
    gather_scatter(const h1_space& space, ricci::device device)
        : along_(space.order() + 1), nodes_(space.nodes()), elements_(space.elements()), dofs_(space.dofs()),
          numbers_(to_device(space.numbers(), device)) {}

    template <class U, class... Component>
    void gather(const vector& x_memory, U&& u, Component... m) const {
        using namespace ricci::indices;
        const auto x = shaped<1 + sizeof...(m)>(x_memory, global<sizeof...(m)>(x_memory));
        constexpr std::size_t node_indices = std::remove_cvref_t<U>::rank - 1 - sizeof...(m);
        const auto l = table<node_indices>();
        if constexpr (node_indices == 1)
            u(i, m..., e) = x(l(i, e), m...);
        else if constexpr (node_indices == 2)
            u(i, j, m..., e) = x(l(i, j, e), m...);
        else
            u(i, j, k, m..., e) = x(l(i, j, k, e), m...);
    }

    template <class V, class... Component>
    void scatter(V&& v, vector& y_memory, Component... m) const {
        using namespace ricci::indices;
        const auto y = shaped<1 + sizeof...(m)>(y_memory, global<sizeof...(m)>(y_memory));
        constexpr std::size_t node_indices = std::remove_cvref_t<V>::rank - 1 - sizeof...(m);
        const auto l = table<node_indices>();
        y.fill(0);
        if constexpr (node_indices == 1)
            y(l(i, e), m...) += v(i, m..., e);
        else if constexpr (node_indices == 2)
            y(l(i, j, e), m...) += v(i, j, m..., e);
        else
            y(l(i, j, k, e), m...) += v(i, j, k, m..., e);
    }

  private:
    template <std::size_t Components>
    std::array<std::int64_t, 1 + Components> global(const vector& x) const {
        if constexpr (Components == 0)
            return {dofs_};
        else
            return {dofs_, x.size() / dofs_};
    }
    template <std::size_t NodeIndices>
    ricci::view<const std::int64_t, NodeIndices + 1> table() const {
        std::array<std::int64_t, NodeIndices + 1> extents;
        extents.fill(NodeIndices == 1 ? nodes_ : along_);
        extents.back() = elements_;
        return shaped<NodeIndices + 1>(numbers_, extents);
    }

    std::int64_t along_, nodes_, elements_, dofs_;
    index_table numbers_; ///< l(i,e)
};

} // namespace fem
