// reference: see reference.hpp.
#include "examples/cnn/program/reference.hpp"

#include "examples/cnn/image/read_image.hpp"
#include "examples/common/input_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <regex>

namespace cnn {
namespace {

constexpr std::string_view npy_magic("\x93NUMPY", 6);

/// numpy.lib.format, version 1.0: magic, version, 2 bytes of length, a dictionary in Python's notation, the numbers.
reference parse_npy(const std::string& bytes, const std::string& path) {
    constexpr std::size_t begin = 10;
    const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(bytes[n]); };
    const std::size_t length = bytes.size() < begin ? 0 : byte(8) + 256u * byte(9);
    if (length == 0 || byte(6) != 1 || bytes.size() < begin + length)
        throw common::input_error(path + ": is no whole .npy file of version 1.0");
    const std::string header = bytes.substr(begin, length);
    const auto has = [&](const char* pattern) { return std::regex_search(header, std::regex(pattern)); };
    std::smatch shape;
    if (!has("'descr': *'<f4'") || !has("'fortran_order': *False") ||
        !std::regex_search(header, shape, std::regex(R"('shape': *\(3, *([0-9]{1,9}), *([0-9]{1,9})\))")))
        throw common::input_error(path + ": float32 [3][height][width] in C order is wanted");
    reference r{path, std::stoll(shape[2]), std::stoll(shape[1]), {}, {}};
    r.numbers.resize(static_cast<std::size_t>(3 * r.width * r.height));
    if (bytes.size() != begin + length + r.numbers.size() * sizeof(float))
        throw common::input_error(path + ": has more or fewer numbers than its shape says");
    std::memcpy(r.numbers.data(), bytes.data() + begin + length, r.numbers.size() * sizeof(float));
    return r;
}

double decibels(double squares, std::size_t count) {
    return 10 * std::log10(255.0 * 255.0 * static_cast<double>(count) / squares);
}

double psnr(const picture& a, const picture& b) {
    double squares = 0;
    for (std::size_t n = 0; n < a.rgb.size(); ++n) squares += std::pow(double(a.rgb[n]) - b.rgb[n], 2);
    return decibels(squares, a.rgb.size());
}

} // namespace

reference read_reference(const std::string& path) {
    const std::string bytes = common::read_whole(path);
    if (bytes.starts_with(npy_magic)) return parse_npy(bytes, path);
    picture image = read_image(path);
    return {path, image.width, image.height, std::move(image), {}};
}

void print_comparison(const reference& r, const enlarged& result, const picture& enlarged_bicubic, double range) {
    double largest = 0, squares = 0;
    const std::size_t count = result.image.rgb.size();
    for (std::size_t n = 0; n < count; ++n) {
        const double error = r.numbers.empty() ? double(result.image.rgb[n]) - r.image.rgb[n]
                                               : (double(result.numbers[n]) - r.numbers[n]) * 255 / range;
        if (!(std::abs(error) <= largest)) largest = std::abs(error); // NaN too
        squares += error * error;
    }
    fmt::print("Compared with    {}\n", r.path);
    fmt::print("  largest error  {:.3g} of 255\n", largest);
    fmt::print("  PSNR           {:.2f} dB\n", decibels(squares, count));
    if (r.numbers.empty()) fmt::print("  bicubic        {:.2f} dB\n", psnr(enlarged_bicubic, r.image));
}

} // namespace cnn
