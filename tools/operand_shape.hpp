// operand_shape: NAME=TYPE[EXTENT,...] or NAME=FILE.npy on the command line: a tensor that need not exist.
#pragma once

#include "tools/program.hpp"

#include <string>
#include <string_view>

namespace ricci::tools {

inline constexpr std::string_view operand_shape_example = "f64[64,64,9,8]";

/// "f64[64,64]" for rank 2.
std::string shape_example(int rank);

/// A dense shape, first index fastest, or that of a file; no operand where there is no such file, as of a result that
/// is to be made. Throws ricci::error with what is wrong and an example.
given parse_operand_shape(const argument& a);

} // namespace ricci::tools
