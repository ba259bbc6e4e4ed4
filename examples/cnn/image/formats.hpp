// formats: PNG and JPEG in memory, PNG in a file. Functions that read throw common::input_error with `path` in front.
#pragma once

#include "examples/cnn/image/picture.hpp"
#include "examples/common/output_file.hpp"

#include <string>
#include <string_view>

namespace cnn {

bool is_png(std::string_view bytes);
picture read_png(std::string_view bytes, const std::string& path);

bool is_jpeg(std::string_view bytes);
picture read_jpeg(std::string_view bytes, const std::string& path);

/// Throws common::output_error. The file is not finished.
void write_png(const picture& p, common::output_file& file);

} // namespace cnn
