// orientation: how a camera was held, which Exif tells, and programs that show a photograph heed.
#pragma once

#include "examples/cnn/image/picture.hpp"

#include <string_view>

namespace cnn {

/// 1 to 8 as in Exif 2.32, 4.6.4; 1, as it lies, where the marker's data are not Exif's or do not tell.
int orientation_of(std::string_view marker);

/// The picture as it is to be shown.
picture turned(const picture& p, int orientation);

} // namespace cnn
