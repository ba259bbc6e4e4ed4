// geometry: Jacobian determinants of the elements' mappings.
#include "examples/fem/geometry.hpp"

#include <fmt/format.h>

namespace fem {
namespace {

/// The determinant of the matrix whose column r is the derivative of the coordinates in direction r, at point q.
double determinant(const std::vector<double> (&d)[3][3], int dimension, std::int64_t q) {
    const auto j = [&](int x, int r) { return d[x][r][q]; };
    if (dimension == 2) return j(0, 0) * j(1, 1) - j(0, 1) * j(1, 0);
    return j(0, 0) * (j(1, 1) * j(2, 2) - j(1, 2) * j(2, 1)) - j(0, 1) * (j(1, 0) * j(2, 2) - j(1, 2) * j(2, 0)) +
           j(0, 2) * (j(1, 0) * j(2, 1) - j(1, 1) * j(2, 0));
}

} // namespace

std::vector<double> weighted_determinants(const mesh& m, const rule& along) {
    const lagrange shape(positions(m.points, m.order));
    const table value = shape.values(along.points), derivative = shape.derivatives(along.points);
    const table weights = tensor_product({along.size(), 1, along.weights}, m.dimension);
    const std::int64_t n = nodes_per_element(m), points = weights.rows;

    check_memory(m.name, "its quadrature points",
                 8.0 * static_cast<double>(points) * static_cast<double>(m.elements));
    std::vector<double> w(points * m.elements);
    std::vector<double> d[3][3];
    for (std::int64_t e = 0; e < m.elements; ++e) {
        for (int x = 0; x < m.dimension; ++x)
            for (int r = 0; r < m.dimension; ++r) {
                std::vector<const table*> tables(m.dimension, &value);
                tables[r] = &derivative;
                d[x][r] = apply_along(tables, &m.nodes[(e * m.dimension + x) * n]);
            }
        for (std::int64_t q = 0; q < points; ++q) {
            const double det = determinant(d, m.dimension, q);
            if (!(det > 0))
                throw mesh_error(
                    fmt::format("{}: element {} (counted from 0) is inverted or degenerate: its Jacobian "
                                "determinant is {:.3g} at quadrature point {}; are its vertices in order?",
                                m.name, e, det, q));
            w[q + points * e] = weights.values[q] * det;
        }
    }
    return w;
}

} // namespace fem
