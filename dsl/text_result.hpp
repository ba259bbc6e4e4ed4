// text_result: what a tensor becomes that a call in a text writes, where no operand has its name.
#pragma once

#include "dsl/text.hpp"

#include <cstddef>
#include <span>

namespace ricci::dsl {

/// What access n, which the call only writes, becomes: see create_left.
text_operand create_of_call(const text_statement& s, std::size_t n, std::span<const text_operand> operands);

} // namespace ricci::dsl
