// chain_slots: slots that one phase reads for the last time and in which it can leave its results; their banks.
#pragma once

#include "lowering/chain.hpp"

namespace ricci::lowering {

/// Where a phase writes a slot number by number to where the same item has read another slot's numbers before, whose
/// last phase it is, the second slot becomes the first one.
void reuse_slots(chain& c);

/// Chooses how far apart in a GPU's shared memory the elements' numbers lie, so that those which a warp reads or
/// writes together are on different banks.
void space_slots(chain& c);

} // namespace ricci::lowering
