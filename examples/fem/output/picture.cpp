// picture: lines, text and the PNG file, by libpng's simplified interface.
#include "examples/fem/output/picture.hpp"

#include <fmt/format.h>
#include <png.h>

#include <cmath>
#include <limits>
#include <string_view>

namespace fem {
namespace {

constexpr std::string_view known = "0123456789+-.e";
/// Three columns by five rows each, a row an octal digit, the top one first.
constexpr std::array<int, known.size()> glyphs{075557, 026227, 071747, 071717, 055711, 074717, 074757,
                                               071111, 075757, 075717, 002720, 000700, 000002, 075747};

} // namespace

picture::picture(int width, int height)
    : width_(width), height_(height), depth_(std::size_t(width) * height, -std::numeric_limits<float>::infinity()),
      pixels_(std::size_t(width) * height, colour{1, 1, 1}) {}

void picture::put(int x, int y, double depth, const colour& c) {
    const std::size_t at = std::size_t(y) * width_ + x;
    if (static_cast<float>(depth) < depth_[at]) return;
    depth_[at] = static_cast<float>(depth);
    pixels_[at] = c;
}

void picture::line(const pixel_place& from, const pixel_place& to, double slack) {
    const double dx = to.x - from.x, dy = to.y - from.y, dz = to.depth - from.depth;
    const int steps = 1 + static_cast<int>(std::max(std::abs(dx), std::abs(dy)));
    for (int step = 0; step <= steps; ++step) {
        const double t = static_cast<double>(step) / steps;
        const double x = from.x + t * dx, y = from.y + t * dy;
        if (!(x >= 0 && y >= 0 && x < width_ && y < height_)) continue;
        const std::size_t at = std::size_t(y) * width_ + std::size_t(x);
        if (from.depth + t * dz + slack < depth_[at]) continue;
        pixels_[at] = {0.1, 0.1, 0.1};
    }
}

void picture::rectangle(int x, int y, int width, int height, const colour& c) {
    for (int v = std::max(0, y); v < std::min(height_, y + height); ++v)
        for (int u = std::max(0, x); u < std::min(width_, x + width); ++u) pixels_[std::size_t(v) * width_ + u] = c;
}

void picture::text(int x, int y, const std::string& characters, int size) {
    for (const char c : characters) {
        const auto number = known.find(c);
        for (int row = 0; row < 5 && number != std::string_view::npos; ++row)
            for (int column = 0; column < 3; ++column)
                if (glyphs[number] >> (3 * (4 - row) + 2 - column) & 1)
                    rectangle(x + column * size, y + row * size, size, size, {0, 0, 0});
        x += 4 * size;
    }
}

picture picture::halved() const {
    picture small(width_ / 2, height_ / 2);
    for (int y = 0; y < small.height_; ++y)
        for (int x = 0; x < small.width_; ++x)
            for (int k = 0; k < 3; ++k) {
                double sum = 0;
                for (const int v : {2 * y, 2 * y + 1})
                    for (const int u : {2 * x, 2 * x + 1}) sum += pixels_[std::size_t(v) * width_ + u][k];
                small.pixels_[std::size_t(y) * small.width_ + x][k] = sum / 4;
            }
    return small;
}

void picture::write(common::output_file& file) const {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(pixels_.size() * 3);
    for (const colour& c : pixels_)
        for (const double value : c)
            bytes.push_back(static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0))));
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(width_);
    image.height = static_cast<png_uint_32>(height_);
    image.format = PNG_FORMAT_RGB;
    if (!png_image_write_to_stdio(&image, file.handle(), 0, bytes.data(), 0, nullptr))
        throw common::output_error(fmt::format("{}: cannot be written: {}", file.path(), image.message));
}

} // namespace fem
