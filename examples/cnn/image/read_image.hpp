// read_image: photographs from PNG and JPEG files.
#pragma once

#include "examples/cnn/image/picture.hpp"

#include <string>

namespace cnn {

/// Reads a PNG or a JPEG, told by its first bytes. Grey pictures become RGB, and so do those with an alpha channel
/// that is opaque everywhere; a JPEG is turned as its Exif orientation says. Throws common::input_error: for other
/// files, those that are cut short or damaged, pictures without a pixel, and for what is no photograph of 8-bit RGB:
/// 16 bits, palettes, transparent pixels, CMYK.
picture read_image(const std::string& path);

} // namespace cnn
