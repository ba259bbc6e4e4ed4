// manufactured: functions whose derivatives are known, for problems with a known solution.
#pragma once

#include "examples/fem/mesh/mesh.hpp"
#include "examples/fem/operators/coefficient.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fem {

struct manufactured {
    std::string formula;
    std::function<double(const point&)> value;
    std::function<point(const point&)> gradient;
    std::function<symmetric_matrix(const point&)> second_derivatives;

    /// f of -div(K grad u) = f for a constant K.
    double source(const point& at, const symmetric_matrix& K) const;
};

/// sin(1.1x+.3) cos(.9y-.2), in 3-D times exp(.5z).
manufactured smooth_solution(int dimension);

/// The product over the directions of sin(pi (x-low)/(high-low)), which is 0 on the sides of the box that the mesh's
/// nodes span.
manufactured sine_solution(const mesh& m);

/// f(q, e, where) for points X(q,x,e), `count` of them an element.
template <class Function>
void for_each_point(const std::vector<double>& points, std::int64_t count, int dimension, const Function& f) {
    const std::int64_t elements = static_cast<std::int64_t>(points.size()) / (count * dimension);
    for (std::int64_t element = 0; element < elements; ++element)
        for (std::int64_t n = 0; n < count; ++n) {
            point at{};
            for (int d = 0; d < dimension; ++d) at[d] = points[n + count * (d + dimension * element)];
            f(n, element, at);
        }
}

/// f at such points: f(q,e), on the host.
std::vector<double> values_at(const std::vector<double>& points, std::int64_t count, int dimension,
                              const std::function<double(const point&)>& f);

} // namespace fem
