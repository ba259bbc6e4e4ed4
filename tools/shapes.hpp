// shapes: tensors of the command line that need not exist, NAME=TYPE[EXTENT,...] or NAME=FILE.npy.
#pragma once

#include "tools/program.hpp"

#include <ricci/runtime/device.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ricci::tools {

/// A program over such operands; those of a file are its header's, and it need not exist where the tensor is made.
/// Throws ricci::error for every mistake in them.
resolved_program resolve_shapes(std::string_view statements, const std::vector<std::string>& operands);

/// The same, to be bound for a device: operands lie at addresses that no program has, apart from each other and
/// aligned like real ones, where nothing is ever read; names without an operand that later statements read are
/// locals.
resolved_program place_shapes(std::string_view statements, const std::vector<std::string>& operands, device where);

} // namespace ricci::tools
