// chain_shape: how many elements a chain's kernel has at a time, and what it is expected to cost.
#pragma once

#include "lowering/chain.hpp"
#include "lowering/machine.hpp"

namespace ricci::lowering {

/// Chooses elements and threads of a block, and points at a time. False where one element does not fit.
bool choose_chain_shape(chain& c, const machine& chip);

/// Of the smallest block: bytes of shared memory, or of a CPU's L2, and how many it may have.
struct block_bytes {
    std::int64_t bytes = 0, most = 0;
};
block_bytes least_memory(chain c, const machine& chip);

/// Seconds for all elements.
double chain_seconds(const chain& c, const machine& chip);

/// Lanes of a CPU's vectors of the chain's numbers.
int chain_lanes(const chain& c, const machine& chip);

} // namespace ricci::lowering
