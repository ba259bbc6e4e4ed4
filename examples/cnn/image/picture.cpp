// picture: see picture.hpp.
#include "examples/cnn/image/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace cnn {
namespace {

/// Keys' kernel at the distances 1 + t, t, 1 - t and 2 - t.
std::array<double, 4> cubic_weights(double t) {
    constexpr double a = -0.5;
    const auto near = [](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    const auto far = [](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    return {far(1 + t), near(t), near(1 - t), far(2 - t)};
}

/// One row or column of n numbers, `stride` apart, enlarged.
void enlarge(const double* from, std::int64_t n, std::int64_t stride, double* to, std::int64_t to_stride, int scale) {
    for (std::int64_t i = 0; i < n * scale; ++i) {
        const double place = (static_cast<double>(i) + 0.5) / scale - 0.5, first = std::floor(place);
        const auto weights = cubic_weights(place - first);
        double sum = 0;
        for (int k = 0; k < 4; ++k)
            sum += weights[k] *
                   from[std::clamp<std::int64_t>(static_cast<std::int64_t>(first) + k - 1, 0, n - 1) * stride];
        to[i * to_stride] = sum;
    }
}

} // namespace

std::vector<float> to_numbers(const picture& p, std::int64_t x, std::int64_t y, std::int64_t width,
                              std::int64_t height, double range) {
    std::array<float, 256> number{};
    for (int n = 0; n < 256; ++n) number[n] = static_cast<float>(n * range / 255);
    const auto size = static_cast<std::size_t>(width * height);
    std::vector<float> numbers(3 * size);
    for (std::int64_t j = 0; j < height; ++j)
        for (std::int64_t i = 0; i < width; ++i)
            for (int c = 0; c < 3; ++c)
                numbers[c * size + static_cast<std::size_t>(j * width + i)] = number[p.at(x + i, y + j)[c]];
    return numbers;
}

std::uint8_t to_byte(double number, double range) {
    const double scaled = std::nearbyint(number * 255 / range); // to even, as the mode of rounding is at first
    return static_cast<std::uint8_t>(std::isnan(scaled) ? 0 : std::clamp(scaled, 0.0, 255.0));
}

picture bicubic(const picture& p, int scale) {
    picture result = blank(p.width * scale, p.height * scale);
    std::vector<double> wide(static_cast<std::size_t>(result.width * p.height)), both(wide.size() * scale),
        row(static_cast<std::size_t>(p.width));
    for (int c = 0; c < 3; ++c) {
        for (std::int64_t y = 0; y < p.height; ++y) {
            for (std::int64_t x = 0; x < p.width; ++x) row[x] = p.at(x, y)[c];
            enlarge(row.data(), p.width, 1, &wide[y * result.width], 1, scale);
        }
        for (std::int64_t x = 0; x < result.width; ++x)
            enlarge(&wide[x], p.height, result.width, &both[x], result.width, scale);
        for (std::size_t n = 0; n < both.size(); ++n) result.rgb[3 * n + c] = to_byte(both[n], 255);
    }
    return result;
}

picture beside(const picture& left, const picture& right) {
    picture result = blank(left.width + right.width, left.height);
    for (std::int64_t y = 0; y < result.height; ++y) {
        std::copy_n(left.at(0, y), 3 * left.width, result.at(0, y));
        std::copy_n(right.at(0, y), 3 * right.width, result.at(left.width, y));
    }
    return result;
}

} // namespace cnn
