// png: by libpng's simplified interface, which reads every kind; what is no photograph of 8-bit RGB, or would lose
// something, is refused before.
#include "examples/cnn/image/formats.hpp"
#include "examples/common/input_file.hpp"

#include <fmt/format.h>
#include <png.h>

#include <memory>

namespace cnn {
namespace {

constexpr std::string_view signature("\x89PNG\r\n\x1a\n", 8);

std::uint32_t big_endian(std::string_view bytes) {
    std::uint32_t number = 0;
    for (const char c : bytes.substr(0, 4)) number = number << 8 | static_cast<unsigned char>(c);
    return number;
}

/// What libpng does not tell, or does not mind. A chunk is 4 bytes of length, 4 of name, data, and 4 of check; the
/// first is the header, with width, height and bits of a channel, and the last the end.
void check_chunks(std::string_view bytes, const std::string& path) {
    constexpr std::size_t before_data = 8, around_data = 12, header = 13;
    std::string_view rest = bytes.substr(signature.size());
    const auto name = [&] { return rest.substr(4, 4); };
    const auto fits = [&] { return rest.size() >= around_data && rest.size() - around_data >= big_endian(rest); };
    const auto cut_short = [&] { throw common::input_error(path + ": is no whole PNG file: it may be cut short"); };
    if (!fits() || name() != "IHDR" || big_endian(rest) != header) cut_short();
    const auto width = big_endian(rest.substr(before_data)), height = big_endian(rest.substr(before_data + 4));
    if (width == 0 || height == 0)
        throw common::input_error(fmt::format("{}: has {} x {} pixels: nothing to enlarge", path, width, height));
    if (rest[before_data + 8] == 16)
        throw common::input_error(fmt::format("{}: has 16 bits a channel, but the networks are for pictures of 8: "
                                              "convert it first, for example by 'convert IN -depth 8 OUT'",
                                              path));
    if (rest[before_data + 9] == 3)
        throw common::input_error(path + ": has a palette, which a photograph has not: convert it first, for example "
                                         "by 'convert IN PNG24:OUT'");
    while (fits() && name() != "IEND") rest.remove_prefix(around_data + big_endian(rest));
    if (!fits()) cut_short();
}

} // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with(signature); }

picture read_png(std::string_view bytes, const std::string& path) {
    check_chunks(bytes, path);
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    const std::unique_ptr<png_image, void (*)(png_image*)> freed(&image, png_image_free);
    const auto fail = [&] {
        throw common::input_error(fmt::format("{}: is cut short or damaged: {}", path, image.message));
    };
    if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size())) fail();
    const bool alpha = (image.format & PNG_FORMAT_FLAG_ALPHA) != 0;
    image.format = alpha ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
    const std::size_t channels = alpha ? 4 : 3;
    picture result{image.width, image.height, {}};
    result.rgb.resize(std::size_t{image.width} * image.height * channels);
    if (!png_image_finish_read(&image, nullptr, result.rgb.data(), 0, nullptr)) fail();
    if (!alpha) return result;
    const std::size_t pixels = result.rgb.size() / channels;
    for (std::size_t n = 0; n < pixels; ++n) {
        if (result.rgb[4 * n + 3] != 255)
            throw common::input_error(path +
                                      ": has transparent pixels, which a photograph has not: put it on a background "
                                      "first, for example by 'convert IN -background white -flatten PNG24:OUT'");
        for (std::size_t c = 0; c < 3; ++c) result.rgb[3 * n + c] = result.rgb[4 * n + c];
    }
    result.rgb.resize(3 * pixels);
    return result;
}

void write_png(const picture& p, common::output_file& file) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(p.width);
    image.height = static_cast<png_uint_32>(p.height);
    image.format = PNG_FORMAT_RGB;
    if (!png_image_write_to_stdio(&image, file.handle(), 0, p.rgb.data(), 0, nullptr))
        throw common::output_error(fmt::format("{}: cannot be written: {}", file.path(), image.message));
}

} // namespace cnn
