// chain_key: what the best block of a chain's kernel depends on, so that measurements can be kept under it.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"
#include "lowering/tuning_key.hpp"

#include <cstddef>

namespace ricci::lowering {

/// Of a chain on a GPU: its numbers' type, what it moves, and each phase's items, points, pencils and operations.
/// Other chains that have all this in common take the same block; how many elements there are is not in it.
tuning_key key_of(const chain& c);

/// Of the kernel that a plan's step begins: of its chain, or of the step.
tuning_key key_of(const plan& p, std::size_t step, const machine& chip);

} // namespace ricci::lowering
