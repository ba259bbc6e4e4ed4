// mass_matrices: tables and weights go to the device; one statement does the rest.
#include "examples/fem/operators/mass_matrices.hpp"

#include "examples/fem/operators/geometry.hpp"
#include "examples/fem/operators/shaped.hpp"
#include "examples/fem/space/basis.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace fem {
namespace {

/// Before any is taken: the memory that the matrices and all else need.
void check_memory_for(const mesh& m, int p, int q) {
    const double n = std::pow(p + 1.0, m.dimension), points = std::pow(q, m.dimension);
    check_memory(m.name,
                 fmt::format("mass matrices of order {} with {} point{} in each direction", p, q, q == 1 ? "" : "s"),
                 8 * (static_cast<double>(m.elements) * (n * n + 2 * points) + n * points + n * n * points));
}

} // namespace

mass_matrices::mass_matrices(const mesh& m, int p, int q, ricci::device device)
    : b_(0, 0, device), w_(0, device), m_(0, 0, 0, device) {
    check_memory_for(m, p, q);
    const rule along = gauss_legendre(q);
    const lagrange basis(positions(node_points::gauss_lobatto, p));
    b_ = to_device(tensor_product(basis.values(along.points), m.dimension), device);
    w_ = element_map(m, along, device).weights();
    volume_ = careful_sum(w_.download());
    m_ = ricci::tensor<double, ricci::dyn, ricci::dyn, ricci::dyn>(ricci::uninitialized, nodes(), nodes(), m.elements,
                                                                   device);
}

void mass_matrices::assemble() {
    using namespace ricci::indices;
    m_(i, j, e) = b_(q, i) * shaped<2>(w_, {points(), m_.extent(2)})(q, e) * b_(q, j);
}

double mass_matrices::volume_by_matrices() const {
    using namespace ricci::indices;
    using ricci::dyn;
    // Rows first and then elements, since a sum of many short sums is rounded less than a long one.
    ricci::tensor<double, dyn, dyn> rows(nodes(), m_.extent(2), m_.device());
    ricci::tensor<double, dyn> elements(m_.extent(2), m_.device());
    rows(i, e) = m_(i, j, e);
    elements(e) = rows(i, e);
    return careful_sum(elements.download());
}

double mass_matrices::rounding() const {
    return 16 * static_cast<double>(points() + nodes()) * std::numeric_limits<double>::epsilon();
}

double mass_matrices::bytes() const {
    return 8.0 * (static_cast<double>(b_.size()) + static_cast<double>(w_.size()) + static_cast<double>(m_.size()));
}

double mass_matrices::flops() const { return 2.0 * static_cast<double>(points()) * static_cast<double>(m_.size()); }

} // namespace fem
