// same_memory: which sources of a plan's operands may be the same memory.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// A program's first access that may share memory with this one; a temporary's is its own.
std::int32_t memory_of(const plan& p, std::int32_t source);

/// The first of a plan's accesses that is the same tensor; a temporary is itself.
std::int32_t same_tensor(const plan& p, std::int32_t source);

/// Whether two sources share memory for all that is known: of a program's accesses, or as one tensor of a statement.
bool may_share_memory(const plan& p, std::int32_t a, std::int32_t b);

/// Whether an operand, or a step, may lie in this memory of a program: what tables of addresses find may lie
/// anywhere.
bool may_meet(const plan& p, const operand& o, std::int32_t memory);
bool may_meet(const plan& p, const step& st, std::int32_t memory);

} // namespace ricci::lowering
