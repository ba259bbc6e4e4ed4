// gather_scatter: see gather_scatter.hpp.
#include "examples/fem/operators/gather_scatter.hpp"

namespace fem {

using namespace ricci::indices;

gather_scatter::gather_scatter(const h1_space& space, ricci::device device)
    : nodes_(space.nodes()), elements_(space.elements()), numbers_(to_device(space.numbers(), device)) {}

void gather_scatter::gather(const ricci::view<const double, 2>& x, const ricci::view<double, 3>& u) const {
    const auto l = shaped<2>(numbers_, {nodes_, elements_});
    u(i, m, e) = x(l(i, e), m);
}

void gather_scatter::scatter(const ricci::view<const double, 3>& v, const ricci::view<double, 2>& y) const {
    const auto l = shaped<2>(numbers_, {nodes_, elements_});
    y.fill(0);
    y(l(i, e), m) += v(i, m, e);
}

} // namespace fem
