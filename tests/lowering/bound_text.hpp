// bound_text: a statement from text over tensors that are never touched, for tests of lowering.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/statement.hpp"

#include <string_view>

namespace ricci::tests {

/// "A=f64[3,4] B=c64[2:8,5:1]": extents, and strides behind a colon (default: dense, first index fastest). Each name gets memory
/// of its own; "B@A+16" shares A's, 16 bytes further on.
lowering::statement bound_text(std::string_view statement, std::string_view operands);

/// Chips for plans that do not depend on the machine the test runs on.
lowering::machine some_cpu();
lowering::machine some_gpu();

} // namespace ricci::tests
