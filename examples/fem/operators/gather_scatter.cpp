// gather_scatter: see gather_scatter.hpp.
#include "examples/fem/operators/gather_scatter.hpp"

#include <algorithm>
#include <vector>

namespace fem {

using namespace ricci::indices;

gather_scatter::gather_scatter(const h1_space& space, int, ricci::device device)
    : nodes_(space.nodes()), elements_(space.elements()), dofs_(space.dofs()), numbers_(0, device),
      copy_node_(0, device), copy_element_(0, device), copy_is_there_(0, device) {
    const std::vector<std::int64_t>& numbers = space.numbers();
    numbers_ = to_device(numbers, device);
    std::vector<int> count(dofs_);
    for (const std::int64_t number : numbers) ++count[number];
    copies_ = *std::max_element(count.begin(), count.end());
    std::vector<std::int64_t> node(copies_ * dofs_), element(copies_ * dofs_);
    std::vector<double> there(copies_ * dofs_);
    std::fill(count.begin(), count.end(), 0);
    for (std::int64_t at = 0; at < nodes_ * elements_; ++at) {
        const std::int64_t place = copies_ * numbers[at] + count[numbers[at]]++;
        node[place] = at % nodes_, element[place] = at / nodes_, there[place] = 1;
    }
    copy_node_ = to_device(node, device);
    copy_element_ = to_device(element, device);
    copy_is_there_ = to_device(there, device);
}

void gather_scatter::gather(const ricci::view<const double, 2>& x, const ricci::view<double, 3>& u) const {
    const auto l = shaped<2>(numbers_, {nodes_, elements_});
    u(i, m, e) = x(l(i, e), m);
}

void gather_scatter::scatter(const ricci::view<const double, 3>& v, const ricci::view<double, 2>& y) const {
    const auto node = shaped<2>(copy_node_, {copies_, dofs_}), element = shaped<2>(copy_element_, {copies_, dofs_});
    const auto there = shaped<2>(copy_is_there_, {copies_, dofs_});
    y(g, m) = there(n, g) * v(node(n, g), m, element(n, g));
}

vector gather_scatter::multiplicity() const {
    vector result(ricci::uninitialized, dofs_, numbers_.device());
    const auto there = shaped<2>(copy_is_there_, {copies_, dofs_});
    result(g) = there(n, g);
    return result;
}

} // namespace fem
