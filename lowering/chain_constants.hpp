// chain_constants: which matrices of a chain a GPU's kernel has among its constants.
#pragma once

#include "lowering/chain.hpp"
#include "lowering/machine.hpp"

#include <cstddef>

namespace ricci::lowering {

/// Each is copied by itself.
inline constexpr std::size_t most_constant_memories = 4;

/// Gives the memories of shared matrices places among the kernel's constants, where that pays: a multiply-add takes a
/// constant as it takes a register, and loads nothing. What is computed with them is written out number by number,
/// and they are copied there before each launch. To be called before the chain's layout is asked for; c.bytes is
/// known.
void choose_constants(chain& c, const machine& chip);

} // namespace ricci::lowering
