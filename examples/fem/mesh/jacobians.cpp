// jacobians: derivatives of the elements' polynomials on the host, one element after another, so that no memory is
// taken for points of which there are many more than nodes.
#include "examples/fem/mesh/jacobians.hpp"

#include "examples/fem/space/basis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace fem {
namespace {

/// How many points along a direction: det J has degree dimension*order - 1, and the rules end at 64 points.
int points_along(const mesh& m) { return std::clamp(m.dimension * m.order, 2, 64); }

double determinant(int dimension, const std::vector<double> (&J)[3][3], std::size_t q) {
    const auto at = [&](int x, int r) { return J[x][r][q]; };
    if (dimension == 2) return at(0, 0) * at(1, 1) - at(0, 1) * at(1, 0);
    const auto minor = [&](int r, int s) { return at(1, r) * at(2, s) - at(1, s) * at(2, r); };
    return at(0, 0) * minor(1, 2) - at(0, 1) * minor(0, 2) + at(0, 2) * minor(0, 1);
}

} // namespace

std::string bad_determinant(const mesh& m, std::int64_t e, double det, const std::string& where) {
    if (!std::isfinite(det))
        return fmt::format("{}: {} is too large: its Jacobian determinant {} is beyond the range of double precision",
                           m.name, element_text(m, e), where);
    return fmt::format("{}: {} is inverted or degenerate: its Jacobian determinant is {:.3g} {}; are its vertices in "
                       "order?",
                       m.name, element_text(m, e), det, where);
}

void check_jacobians(const mesh& m) {
    const int points = points_along(m);
    const std::vector<double> along = gauss_lobatto(points).points;
    const lagrange shape(positions(m.points, m.order));
    const table values = shape.values(along), derivatives = shape.derivatives(along);
    const std::int64_t n = nodes_per_element(m);
    std::vector<double> J[3][3]; // of coordinate x in direction r, at all points of an element
    for (std::int64_t e = 0; e < m.elements; ++e) {
        for (int r = 0; r < m.dimension; ++r) {
            std::vector<const table*> tables(m.dimension, &values);
            tables[r] = &derivatives;
            for (int x = 0; x < m.dimension; ++x) J[x][r] = apply_along(tables, &m.nodes[(e * m.dimension + x) * n]);
        }
        double worst = std::numeric_limits<double>::max();
        std::size_t where = 0;
        for (std::size_t q = 0; q < J[0][0].size() && std::isfinite(worst); ++q) {
            const double det = determinant(m.dimension, J, q);
            if (std::isfinite(det) && det >= worst) continue;
            worst = det, where = q;
        }
        if (std::isfinite(worst) && worst >= std::numeric_limits<double>::min()) continue;
        std::string at;
        for (int d = 0; d < m.dimension; ++d, where /= points)
            at += fmt::format("{}{:.3g}", d == 0 ? "" : ", ", along[where % points]);
        throw mesh_error(bad_determinant(
            m, e, worst, fmt::format("at {} of the unit {}", at, m.dimension == 2 ? "square" : "cube")));
    }
}

} // namespace fem
