// problem: sizes and costs of a bake-off problem.
#include "bench/fem/problem.hpp"

#include <algorithm>

namespace ricci::bench::fem {

double problem::unknowns() const { return static_cast<double>(mesh.nodes(order) * components()); }

double problem::bytes() const {
    const auto size = static_cast<double>(lowering::size_of(type));
    const auto of_elements = [&](std::int64_t numbers) { return static_cast<double>(numbers * mesh.elements()); };
    const double data = size * of_elements(numbers() * points());
    if (!is_global()) return data + 2 * size * of_elements(nodes() * components());
    return data + 2 * size * unknowns() + sizeof(std::int32_t) * of_elements(nodes());
}

double problem::flops() const {
    const auto P = static_cast<double>(nodes_along()), Q = static_cast<double>(points_along());
    const double interpolation = is_collocated() ? 0 : 4 * (P * P * P * Q + P * P * Q * Q + P * Q * Q * Q);
    const double at_points = is_mass() ? Q * Q * Q : 12 * Q * Q * Q * Q + 15 * Q * Q * Q;
    return (interpolation + at_points) * static_cast<double>(components() * mesh.elements());
}

problem sized(problem p, std::int64_t bytes) {
    // Nodes on faces are shared: a box is corrected by what it takes.
    auto elements = static_cast<double>(bytes);
    for (int n = 0; n < 8; ++n) {
        p.mesh = box_of(static_cast<std::int64_t>(elements));
        elements = std::max(1.0, static_cast<double>(p.mesh.elements()) * static_cast<double>(bytes) / p.bytes());
    }
    return p;
}

} // namespace ricci::bench::fem
