// picture: red, green and blue in 8 bits, and a network's numbers for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cnn {

struct picture {
    std::int64_t width = 0, height = 0;
    std::vector<std::uint8_t> rgb; ///< a pixel's three, pixels from left to right, rows from the top

    std::uint8_t* at(std::int64_t x, std::int64_t y) { return &rgb[3 * static_cast<std::size_t>(y * width + x)]; }
    const std::uint8_t* at(std::int64_t x, std::int64_t y) const {
        return &rgb[3 * static_cast<std::size_t>(y * width + x)];
    }
};

inline picture blank(std::int64_t width, std::int64_t height) {
    return {width, height, std::vector<std::uint8_t>(3 * static_cast<std::size_t>(width * height))};
}

/// The part that begins at (x, y), as a network takes it: x fastest, then y, then colours, from 0 to `range`.
std::vector<float> to_numbers(const picture& p, std::int64_t x, std::int64_t y, std::int64_t width,
                              std::int64_t height, double range);

/// To the nearest of 0..255, an even one where two are as near; numbers beyond are cut off.
std::uint8_t to_byte(double number, double range);

/// Bicubic enlargement, as image editors have it: R. Keys, Cubic convolution interpolation for digital image
/// processing, IEEE Trans. ASSP 29 (1981), with a = -1/2; pixels' centres agree, and the border's pixels continue
/// outside.
picture bicubic(const picture& p, int scale);

/// Both in one picture, the first on the left. They have the same height.
picture beside(const picture& left, const picture& right);

} // namespace cnn
