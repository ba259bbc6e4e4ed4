// cnn_image_files: PNG and JPEG files of every kind, in memory, by the libraries' own writers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cnn_test {

struct png_options {
    int colour_type = 2; ///< PNG's: 0 grey, 2 RGB, 3 palette, 4 grey with alpha, 6 RGB with alpha
    int bits = 8;        ///< of a channel
    bool interlaced = false;
    std::vector<std::uint8_t> palette;      ///< colour_type 3: red, green, blue of each
    std::vector<std::uint8_t> transparency; ///< colour_type 3: alpha of each
};

/// `rows` are as PNG has them: channels of a pixel together, 16 bits with the higher byte first.
std::string png(std::uint32_t width, std::uint32_t height, const std::vector<std::uint8_t>& rows,
                const png_options& o);

/// 1 channel: grey; 3: RGB; 4: CMYK. With the best quality and no subsampling.
std::string jpeg(std::uint32_t width, std::uint32_t height, const std::vector<std::uint8_t>& rows, int channels);

/// A JPEG with an Exif marker that tells this orientation, in one of the two byte orders.
std::string with_orientation(const std::string& jpeg, int orientation, bool big_endian);

} // namespace cnn_test
