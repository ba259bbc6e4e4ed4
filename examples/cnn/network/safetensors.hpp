// safetensors: reads a network's weights, https://huggingface.co/docs/safetensors.
#pragma once

#include "examples/common/input_file.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cnn {

struct named_tensor {
    std::vector<std::int64_t> shape; ///< as in the file: the last one is the fastest in memory
    std::vector<float> values;
};

using weights = std::map<std::string, named_tensor>;

/// All tensors of the file, which must be float. Throws common::input_error: for a file that cannot be read or is cut
/// short, a header that is none, another type than F32, numbers that lie outside of the file or do not fit their
/// shape.
weights read_safetensors(const std::string& path);

} // namespace cnn
