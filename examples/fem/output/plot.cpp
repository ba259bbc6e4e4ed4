// plot: every element, or face of the surface, is a patch of small triangles.
#include "examples/fem/output/plot.hpp"

#include "examples/fem/mesh/topology.hpp"
#include "examples/fem/space/basis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace fem {
namespace {

/// Points (side x side, row by row) with a value at each.
struct patch {
    std::vector<point> at;
    std::vector<double> values;
};

/// The polynomials of one kind of nodes at the samples of a patch, and at either end.
struct sampler {
    table inside;
    std::array<table, 2> ends;
};

sampler make_sampler(node_points kind, int order, int side) {
    const lagrange basis(positions(kind, order));
    std::vector<double> samples(side);
    for (int n = 0; n < side; ++n) samples[n] = static_cast<double>(n) / (side - 1);
    return {basis.values(samples), {basis.values({0.0}), basis.values({1.0})}};
}

std::vector<const table*> along(const sampler& s, int dimension, int face) {
    std::vector<const table*> tables(dimension, &s.inside);
    if (dimension == 3) {
        const auto [axis, end] = side_of(3, face);
        tables[axis] = &s.ends[end];
    }
    return tables;
}

std::vector<patch> patches(const mesh& m, const h1_space& space, const std::vector<double>& values, int side) {
    std::vector<std::pair<std::int64_t, int>> shown;
    if (m.dimension == 3)
        for (const boundary_part& part : space.boundary()) shown.emplace_back(part.element, part.face);
    const bool all = shown.empty();
    for (std::int64_t e = 0; all && e < m.elements; ++e)
        for (int face = 0; face < (m.dimension == 2 ? 1 : 6); ++face) shown.emplace_back(e, face);

    const sampler shape = make_sampler(m.points, m.order, side);
    const sampler field = make_sampler(node_points::gauss_lobatto, space.order(), side);
    const std::int64_t n = nodes_per_element(m), own = space.nodes();
    std::vector<patch> result;
    std::vector<double> u(own);
    for (const auto& [e, face] : shown) {
        patch p;
        for (std::int64_t i = 0; i < own; ++i) u[i] = values[space.numbers()[i + own * e]];
        p.values = apply_along(along(field, m.dimension, face), u.data());
        p.at.resize(p.values.size());
        for (int d = 0; d < m.dimension; ++d) {
            const auto x = apply_along(along(shape, m.dimension, face), &m.nodes[(e * m.dimension + d) * n]);
            for (std::size_t k = 0; k < x.size(); ++k) p.at[k][d] = x[k];
        }
        result.push_back(std::move(p));
    }
    return result;
}

/// Turns space so that the eye looks along the last axis: from the right, in front and above.
point seen(const point& at) {
    const double turn = 0.6, tilt = 0.5;
    const double x = at[0] * std::cos(turn) - at[1] * std::sin(turn);
    const double back = at[0] * std::sin(turn) + at[1] * std::cos(turn);
    return {x, back * std::sin(tilt) + at[2] * std::cos(tilt), at[2] * std::sin(tilt) - back * std::cos(tilt)};
}

/// viridis, of matplotlib, from ten of its colours.
colour colour_of(double t) {
    constexpr std::array<colour, 10> map{{{0.267, 0.005, 0.329},
                                          {0.283, 0.157, 0.471},
                                          {0.243, 0.289, 0.538},
                                          {0.192, 0.407, 0.556},
                                          {0.149, 0.510, 0.557},
                                          {0.122, 0.618, 0.537},
                                          {0.208, 0.718, 0.473},
                                          {0.430, 0.808, 0.346},
                                          {0.710, 0.869, 0.169},
                                          {0.993, 0.906, 0.144}}};
    t = std::clamp(t, 0.0, 1.0) * (map.size() - 1);
    const auto n = std::min<std::size_t>(static_cast<std::size_t>(t), map.size() - 2);
    colour c;
    for (int k = 0; k < 3; ++k) c[k] = map[n][k] + (t - static_cast<double>(n)) * (map[n + 1][k] - map[n][k]);
    return c;
}

/// How bright a small triangle is: the more it faces the eye, the brighter.
double light_on(const std::array<point, 3>& p) {
    point u, v;
    for (int d = 0; d < 3; ++d) u[d] = p[1][d] - p[0][d], v[d] = p[2][d] - p[0][d];
    const point normal{u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    const double length = std::hypot(normal[0], normal[1], normal[2]);
    const double facing = (0.3 * normal[0] + 0.5 * normal[1] + 0.8 * normal[2]) / length;
    return length > 0 ? 0.65 + 0.35 * std::abs(facing) : 1;
}

} // namespace

picture plot(const mesh& m, const h1_space& space, const std::vector<double>& values, int width, int height) {
    // Samples enough for curves and polynomials, but not more than pixels.
    const double shown = std::pow(static_cast<double>(m.elements), 1.0 / m.dimension);
    const int side = static_cast<int>(std::clamp(0.5 * width / shown, 2.0 * std::max(m.order, space.order()) + 1,
                                                 8.0 * std::max(m.order, space.order()) + 9));
    std::vector<patch> all = patches(m, space, values, side);

    double low = std::numeric_limits<double>::infinity(), high = -low;
    point least{low, low, low}, most{high, high, high};
    for (patch& p : all) {
        for (point& at : p.at) {
            if (m.dimension == 3) at = seen(at);
            for (int d = 0; d < 3; ++d) least[d] = std::min(least[d], at[d]), most[d] = std::max(most[d], at[d]);
        }
        for (const double value : p.values) low = std::min(low, value), high = std::max(high, value);
    }

    picture image(2 * width, 2 * height); // halved at the end
    const int margin = width / 16, scale_width = width / 3;
    const double scale = std::min((image.width() - scale_width - 2.0 * margin) / (most[0] - least[0]),
                                  (image.height() - 2.0 * margin) / (most[1] - least[1]));
    const auto place = [&](const point& at) -> pixel_place {
        return {margin + scale * (at[0] - least[0]),
                image.height() / 2.0 - scale * (at[1] - (least[1] + most[1]) / 2), scale * (at[2] - least[2])};
    };
    const double range = high > low ? high - low : 1;
    for (const patch& p : all)
        for (int row = 0; row + 1 < side; ++row)
            for (int column = 0; column + 1 < side; ++column) {
                const int n = row * side + column;
                for (const auto& corners :
                     {std::array<int, 3>{n, n + 1, n + side}, {n + 1, n + side + 1, n + side}}) {
                    std::array<point, 3> at;
                    std::array<pixel_place, 3> on;
                    std::array<double, 3> value;
                    for (int k = 0; k < 3; ++k) {
                        at[k] = p.at[corners[k]];
                        on[k] = place(at[k]);
                        value[k] = p.values[corners[k]];
                    }
                    const double light = m.dimension == 3 ? light_on(at) : 1;
                    image.triangle(on, value, [&](double v) {
                        colour c = colour_of((v - low) / range);
                        for (double& part : c) part *= light;
                        return c;
                    });
                }
            }
    for (const patch& p : all)
        for (int step = 0; step + 1 < side; ++step)
            for (const auto& [from, to] : {std::pair{step, step + 1},
                                           {side * (side - 1) + step, side * (side - 1) + step + 1},
                                           {side * step, side * (step + 1)},
                                           {side * step + side - 1, side * (step + 1) + side - 1}})
                image.line(place(p.at[from]), place(p.at[to]), 2 + scale * 1e-3);

    const int bar = image.width() - scale_width + margin, length = image.height() - 2 * margin - 40;
    for (int y = 0; y < length; ++y)
        image.rectangle(bar, margin + 20 + y, margin / 2, 1, colour_of(1 - static_cast<double>(y) / length));
    image.text(bar, margin - 8, fmt::format("{:.4g}", high), 4);
    image.text(bar, margin + 28 + length, fmt::format("{:.4g}", low), 4);
    return image.halved();
}

} // namespace fem
