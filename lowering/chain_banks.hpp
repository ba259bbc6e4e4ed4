// chain_banks: how a chain's slots lie in a GPU's shared memory, so that a warp's numbers are on different banks.
#pragma once

#include "lowering/chain.hpp"

namespace ricci::lowering {

/// Chooses the order of each slot's dimensions, how far apart its lines and planes lie, and how far its elements: of
/// those with the fewest passes through shared memory, but for a few percent, the shortest.
void space_slots(chain& c);

} // namespace ricci::lowering
