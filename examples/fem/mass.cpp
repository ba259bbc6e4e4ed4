// mass: tables and weights go to the device; one statement does the rest.
#include "examples/fem/mass.hpp"

#include "examples/fem/basis.hpp"
#include "examples/fem/geometry.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace fem {
namespace {

/// The sum with Neumaier's correction: as if added in twice the precision, so that it does not lose digits as meshes
/// grow.
double sum(const std::vector<double>& values) {
    double total = 0, lost = 0;
    for (const double x : values) {
        const double next = total + x;
        lost += std::abs(total) >= std::abs(x) ? (total - next) + x : (x - next) + total;
        total = next;
    }
    return total + lost;
}

/// Before any is taken: the memory that the matrices and all else need.
void check_memory_for(const mesh& m, int p, int q) {
    const double n = std::pow(p + 1.0, m.dimension), points = std::pow(q, m.dimension);
    check_memory(m.name,
                 fmt::format("mass matrices of order {} with {} point{} in each direction", p, q, q == 1 ? "" : "s"),
                 8 * (static_cast<double>(m.elements) * (n * n + 2 * points) + n * points + n * n * points));
}

} // namespace

mass_matrices::mass_matrices(const mesh& m, int p, int q, ricci::device device)
    : b_(0, 0, device), w_(0, 0, device), m_(0, 0, 0, device) {
    using ricci::uninitialized;
    check_memory_for(m, p, q);
    const rule along = gauss_legendre(q);
    const lagrange basis(positions(node_points::gauss_lobatto, p));
    const table b = tensor_product(basis.values(along.points), m.dimension);
    const std::vector<double> w = weighted_determinants(m, along);
    volume_ = sum(w);

    b_ = ricci::tensor<double, ricci::dyn, ricci::dyn>(uninitialized, b.rows, b.columns, device);
    w_ = ricci::tensor<double, ricci::dyn, ricci::dyn>(uninitialized, b.rows, m.elements, device);
    m_ = ricci::tensor<double, ricci::dyn, ricci::dyn, ricci::dyn>(uninitialized, b.columns, b.columns, m.elements,
                                                                   device);
    b_.upload(b.values);
    w_.upload(w);
}

void mass_matrices::assemble() {
    using namespace ricci::indices;
    m_(i, j, e) = b_(q, i) * w_(q, e) * b_(q, j);
}

double mass_matrices::volume_by_matrices() const {
    using namespace ricci::indices;
    using ricci::dyn;
    // Rows first and then elements, since a sum of many short sums is rounded less than a long one.
    ricci::tensor<double, dyn, dyn> rows(nodes(), m_.extent(2), m_.device());
    ricci::tensor<double, dyn> elements(m_.extent(2), m_.device());
    rows(i, e) = m_(i, j, e);
    elements(e) = rows(i, e);
    return sum(elements.download());
}

double mass_matrices::rounding() const {
    return 16 * static_cast<double>(points() + nodes()) * std::numeric_limits<double>::epsilon();
}

double mass_matrices::bytes() const {
    return 8.0 * (static_cast<double>(b_.size()) + static_cast<double>(w_.size()) + static_cast<double>(m_.size()));
}

double mass_matrices::flops() const { return 2.0 * static_cast<double>(points()) * static_cast<double>(m_.size()); }

} // namespace fem
