// element_operator: the programs, recorded once and called for any vectors.
#include "examples/fem/operators/element_operator.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace fem {
namespace {

void check_size(const char* what, std::int64_t size, std::int64_t right) {
    if (size != right) throw std::invalid_argument(fmt::format("{} has {} numbers, not {}", what, size, right));
}

} // namespace

element_operator::element_operator(const h1_space& space, const tables& basis, int components)
    : dimension_(space.dimension()), components_(components), nodes_along_(basis.nodes()),
      points_along_(basis.points()), nodes_(space.nodes()), elements_(space.elements()), dofs_(space.dofs()),
      basis_(basis), device_(basis.device()), sharing_(space, basis.device()) {}

void element_operator::apply_to_elements(const vector& u, vector& v) {
    check_size("the element vector", u.size(), element_size());
    check_size("the resulting element vector", v.size(), element_size());
    in_ = &u, out_ = &v;
    if (!element_program_) element_program_ = ricci::record([this] { statements(false); });
    element_program_();
}

void element_operator::apply(const vector& x, vector& y) {
    check_size("the global vector", x.size(), global_size());
    check_size("the resulting global vector", y.size(), global_size());
    in_ = &x, out_ = &y;
    if (!global_program_) global_program_ = ricci::record([this] { statements(true); });
    global_program_();
}

vector element_operator::diagonal() {
    using namespace ricci::indices;
    vector of_elements(ricci::uninitialized, nodes_ * elements_, device_), one(dofs_, device_);
    element_diagonal(of_elements);
    sharing_.scatter(shaped<2>(of_elements, {nodes_, elements_}), one);
    vector result(ricci::uninitialized, global_size(), device_);
    shaped<2>(result, {dofs_, components_})(g, m) = one(g); // every component has the same
    return result;
}

double element_operator::bytes() const {
    // The element vectors become global ones, read or written once each, and the table of numbers.
    return bytes_of_elements() + 8.0 * (static_cast<double>(nodes_ * elements_) +
                                        2.0 * static_cast<double>(global_size() - element_size()));
}

} // namespace fem
