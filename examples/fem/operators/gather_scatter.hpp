// gather_scatter: between the values of a space, one for each node of the mesh, and those of its elements.
#pragma once

#include "examples/fem/operators/shaped.hpp"
#include "examples/fem/space/h1_space.hpp"

#include <cstdint>
#include <type_traits>

namespace fem {

/// Global vectors are x(g,m), g below dofs() and m a component. Element vectors are u(i,m,e), u(i,j,m,e) in 2-D or
/// u(i,j,k,m,e) in 3-D, as tensors, views or locals, of which i in the first stands for i,j or i,j,k:
///
///     gather:   u(i,j,k,m,e) = x(l(i,j,k,e),m)
///     scatter:  y = 0, y(l(i,j,k,e),m) += v(i,j,k,m,e)
///
/// Sums are added in a fixed order, so that the same vector gives the same bits. Statements within record() are
/// recorded.
class gather_scatter {
  public:
    gather_scatter(const h1_space& space, ricci::device device)
        : along_(space.order() + 1), nodes_(space.nodes()), elements_(space.elements()),
          numbers_(to_device(space.numbers(), device)) {}

    template <class U>
    void gather(const ricci::view<const double, 2>& x, U&& u) const {
        using namespace ricci::indices;
        if constexpr (std::remove_cvref_t<U>::rank == 3) {
            const auto l = shaped<2>(numbers_, {nodes_, elements_});
            u(i, m, e) = x(l(i, e), m);
        } else if constexpr (std::remove_cvref_t<U>::rank == 4) {
            const auto l = shaped<3>(numbers_, {along_, along_, elements_});
            u(i, j, m, e) = x(l(i, j, e), m);
        } else {
            const auto l = shaped<4>(numbers_, {along_, along_, along_, elements_});
            u(i, j, k, m, e) = x(l(i, j, k, e), m);
        }
    }

    template <class V>
    void scatter(V&& v, const ricci::view<double, 2>& y) const {
        using namespace ricci::indices;
        y.fill(0);
        if constexpr (std::remove_cvref_t<V>::rank == 3) {
            const auto l = shaped<2>(numbers_, {nodes_, elements_});
            y(l(i, e), m) += v(i, m, e);
        } else if constexpr (std::remove_cvref_t<V>::rank == 4) {
            const auto l = shaped<3>(numbers_, {along_, along_, elements_});
            y(l(i, j, e), m) += v(i, j, m, e);
        } else {
            const auto l = shaped<4>(numbers_, {along_, along_, along_, elements_});
            y(l(i, j, k, e), m) += v(i, j, k, m, e);
        }
    }

  private:
    std::int64_t along_, nodes_, elements_;
    index_table numbers_; ///< l(i,e)
};

} // namespace fem
