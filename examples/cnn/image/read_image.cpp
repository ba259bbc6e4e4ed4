// read_image: which format it is.
#include "examples/cnn/image/read_image.hpp"

#include "examples/cnn/image/formats.hpp"
#include "examples/common/input_file.hpp"

namespace cnn {

picture read_image(const std::string& path) {
    const std::string bytes = common::read_whole(path);
    if (bytes.empty()) throw common::input_error(path + ": is empty");
    if (is_png(bytes)) return read_png(bytes, path);
    if (is_jpeg(bytes)) return read_jpeg(bytes, path);
    throw common::input_error(path + ": is neither a PNG nor a JPEG file");
}

} // namespace cnn
