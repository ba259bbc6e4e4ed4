// reference: compares a result with what it should be.
#pragma once

#include "examples/cnn/image/picture.hpp"
#include "examples/cnn/network/enlarge.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cnn {

/// What a result should be: a picture, or numbers as `enlarged` has them.
struct reference {
    std::string path;
    std::int64_t width = 0, height = 0;
    picture image;
    std::vector<float> numbers; ///< empty: it is a picture
};

/// A PNG or JPEG file, or NumPy's .npy with float32 [3][height][width]. Throws common::input_error.
reference read_reference(const std::string& path);

/// Prints the largest error and the PSNR, and that of the bicubic enlargement where the reference is a picture.
void print_comparison(const reference& r, const enlarged& result, const picture& enlarged_bicubic, double range);

} // namespace cnn
