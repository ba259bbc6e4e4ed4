// operand_overlap: whether two operands of a step touch the same bytes, and whether one touches an element twice.
#pragma once

#include "lowering/plan.hpp"

#include <cstdint>

namespace ricci::lowering {

/// Whether an element of `a` and one of `b`, over the step's axes each for itself, have a byte in common; `apart`:
/// bytes from b's first element to a's.
bool touch(const step& st, const operand& a, const operand& b, std::int64_t apart);

/// Whether two values of the step's axes, of those of extent 2 and more that `among` marks, are the same element.
bool touches_twice(const step& st, const operand& o, const std::vector<char>& among);

} // namespace ricci::lowering
