// input_file: a file's bytes.
#pragma once

#include <stdexcept>
#include <string>

namespace common {

/// A file that cannot be read, or is not what it should be; what() names it and the reason.
class input_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// All of it; a pipe as well. Throws input_error.
std::string read_whole(const std::string& path);

} // namespace common
