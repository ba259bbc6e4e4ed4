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
      basis_(basis), device_(basis.device()), sharing_(space, basis.device()), u_(0, device_), v_(0, device_) {}

void element_operator::apply_to_elements(const vector& u, vector& v) {
    check_size("the element vector", u.size(), element_size());
    check_size("the resulting element vector", v.size(), element_size());
    in_ = &u, out_ = &v;
    if (!element_program_) element_program_ = ricci::record([this] { steps(*in_, *out_); });
    element_program_();
}

void element_operator::apply(const vector& x, vector& y) {
    check_size("the global vector", x.size(), global_size());
    check_size("the resulting global vector", y.size(), global_size());
    in_ = &x, out_ = &y;
    if (!global_program_) {
        u_ = vector(ricci::uninitialized, element_size(), device_);
        v_ = vector(ricci::uninitialized, element_size(), device_);
        global_program_ = ricci::record([this] {
            sharing_.gather(shaped<2>(*in_, {dofs_, components_}), shaped<3>(u_, {nodes_, components_, elements_}));
            steps(u_, v_);
            sharing_.scatter(shaped<3>(v_, {nodes_, components_, elements_}), shaped<2>(*out_, {dofs_, components_}));
        });
    }
    global_program_();
}

vector element_operator::diagonal() {
    using namespace ricci::indices;
    vector of_elements(ricci::uninitialized, nodes_ * elements_, device_), one(dofs_, device_);
    element_diagonal(of_elements);
    sharing_.scatter(shaped<3>(of_elements, {nodes_, 1, elements_}), shaped<2>(one, {dofs_, 1}));
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
