// picture: an image in memory, drawn by triangles and lines with a depth for each pixel.
#pragma once

#include "examples/common/output_file.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fem {

using colour = std::array<double, 3>; ///< red, green, blue in [0, 1]

/// A place on the picture: pixels from the left and the top, and a depth, of which the larger is in front.
struct pixel_place {
    double x = 0, y = 0, depth = 0;
};

class picture {
  public:
    picture(int width, int height);
    int width() const { return width_; }
    int height() const { return height_; }

    /// A triangle whose colour runs from corner to corner; `paint` takes a value between those of the corners.
    template <class Paint>
    void triangle(const std::array<pixel_place, 3>& at, const std::array<double, 3>& values, const Paint& paint);
    /// A dark line of about one pixel, drawn where nothing is in front of it by more than `slack`.
    void line(const pixel_place& from, const pixel_place& to, double slack);
    void rectangle(int x, int y, int width, int height, const colour& c);
    /// Digits and + - . e, in characters of 4 x 6 squares with sides of `size` pixels.
    void text(int x, int y, const std::string& characters, int size);

    /// Half of the size, each pixel the mean of four: lines and edges become smooth.
    picture halved() const;
    /// As a PNG.
    void write(common::output_file& file) const;

  private:
    void put(int x, int y, double depth, const colour& c);

    int width_, height_;
    std::vector<float> depth_;
    std::vector<colour> pixels_;
};

template <class Paint>
void picture::triangle(const std::array<pixel_place, 3>& at, const std::array<double, 3>& values,
                       const Paint& paint) {
    const auto& [p, q, r] = at;
    const double area = (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
    if (area == 0) return;
    const auto range = [](double a, double b, double c, int end) {
        const double low = std::min({a, b, c}), high = std::max({a, b, c});
        return std::pair(static_cast<int>(std::clamp(low - 0.5, 0.0, static_cast<double>(end))),
                         static_cast<int>(std::clamp(high + 1, 0.0, static_cast<double>(end))));
    };
    const auto [left, right] = range(p.x, q.x, r.x, width_);
    const auto [top, bottom] = range(p.y, q.y, r.y, height_);
    for (int y = top; y < bottom; ++y)
        for (int x = left; x < right; ++x) {
            const double px = x + 0.5 - p.x, py = y + 0.5 - p.y;
            const double v = (px * (r.y - p.y) - py * (r.x - p.x)) / area;
            const double w = ((q.x - p.x) * py - (q.y - p.y) * px) / area, u = 1 - v - w;
            constexpr double edge = -1e-9; // so that neighbours leave no gap
            if (u < edge || v < edge || w < edge) continue;
            put(x, y, u * p.depth + v * q.depth + w * r.depth, paint(u * values[0] + v * values[1] + w * values[2]));
        }
}

} // namespace fem
