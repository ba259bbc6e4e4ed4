// packed_products: whether a CPU may take several tiny products at once as lanes of its vectors,
// kernels/packed_products_cpu.hpp, and what that costs.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <cstdint>

namespace ricci::lowering {

/// Products whose elements of C fill whole vectors, where a step's products lie one behind another without gaps and
/// are small enough; else 0.
std::int64_t packed_group(const step& st, const machine& chip);

/// Cycles of a core for such a group: permutations, of which a cycle does one, and multiplies.
double packed_group_cycles(const step& st, const machine& chip);

} // namespace ricci::lowering
