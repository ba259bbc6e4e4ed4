// tuning_list: what `ricci tune` is to tune: statements of the command line, of a file, or of a sweep over sizes.
#pragma once

#include <ricci/lowering/scalar_type.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ricci::tools {

/// Statements and operands as `ricci explain` takes them.
struct tuning_request {
    std::string statements;
    std::vector<std::string> operands;
    std::string place = {}; ///< "list, line 2", of one in a file
};

/// A line a request: a statement, in double quotes or not, then NAME=TYPE[EXTENTS] without blanks in them. '#' begins
/// a comment. Throws ricci::error naming the file and line.
std::vector<tuning_request> read_tuning_list(const std::filesystem::path& file);

struct sweep {
    std::string sizes;              ///< "1..32", "8,16x8x4"; this and the next two as bench/lists.hpp has them
    std::string types = "f64";      ///< "f64,f32,f16:f32": of the operands, and of the result
    std::string transpose = "NN";   ///< "NN,NT,TN,TT,CN": C is transposed and conjugated
    std::string forms = "batched";  ///< "batched,interleaved,atb,ab"
    std::string assignments = "+="; ///< "=,+=,-="
    /// of all operands together; gives the batch, or the long side. Empty: 1GB on a GPU, 1MB on a CPU, whose kernels
    /// are told apart by what they do with operands in the cache
    std::string bytes = "";
};

/// One request for each size, type, transposition, form and assignment. Throws ricci::error for what it cannot read.
std::vector<tuning_request> expand(const sweep& s);

/// "5%" or "5" -> 0.05. Throws ricci::error.
double parse_percentage(std::string_view text, std::string_view option);

} // namespace ricci::tools
