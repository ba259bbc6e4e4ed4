// orientation: "Exif\0\0", then a TIFF header with its byte order, then a directory of 12-byte entries.
#include "examples/cnn/image/orientation.hpp"

#include <cstdint>
#include <utility>

namespace cnn {

int orientation_of(std::string_view marker) {
    constexpr std::string_view exif("Exif\0\0", 6);
    constexpr std::uint32_t orientation_tag = 0x0112, short_type = 3, entry_bytes = 12;
    if (!marker.starts_with(exif)) return 1;
    const std::string_view tiff = marker.substr(exif.size());
    const bool big = tiff.starts_with("MM");
    if (!big && !tiff.starts_with("II")) return 1;
    const auto number = [&](std::size_t at, std::size_t bytes) -> std::uint32_t {
        if (at + bytes > tiff.size()) return 0;
        std::uint32_t value = 0;
        for (std::size_t n = 0; n < bytes; ++n)
            value = value << 8 | static_cast<unsigned char>(tiff[at + (big ? n : bytes - 1 - n)]);
        return value;
    };
    const std::size_t directory = number(4, 4), entries = number(directory, 2);
    for (std::size_t n = 0; n < entries; ++n) {
        const std::size_t entry = directory + 2 + n * entry_bytes;
        if (number(entry, 2) != orientation_tag || number(entry + 2, 2) != short_type) continue;
        const auto value = static_cast<int>(number(entry + 8, 2));
        return value >= 1 && value <= 8 ? value : 1;
    }
    return 1;
}

picture turned(const picture& p, int orientation) {
    if (orientation == 1) return p;
    // 5 to 8 exchange rows and columns; 2, 3, 7 and 8 then mirror one way, 3, 4, 6 and 7 the other.
    const bool exchanged = orientation >= 5;
    picture result = exchanged ? blank(p.height, p.width) : blank(p.width, p.height);
    for (std::int64_t y = 0; y < result.height; ++y)
        for (std::int64_t x = 0; x < result.width; ++x) {
            std::int64_t from_x = exchanged ? y : x, from_y = exchanged ? x : y;
            if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8)
                from_x = p.width - 1 - from_x;
            if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7)
                from_y = p.height - 1 - from_y;
            const std::uint8_t* from = p.at(from_x, from_y);
            std::uint8_t* to = result.at(x, y);
            for (int c = 0; c < 3; ++c) to[c] = from[c];
        }
    return result;
}

} // namespace cnn
