// chain_slots: slots that one phase reads for the last time and in which it can leave its results.
#pragma once

#include "lowering/chain.hpp"
#include "lowering/machine.hpp"

namespace ricci::lowering {

/// Where a phase writes a slot number by number to where no item but the same one has read another slot, whose last
/// phase it is, the two become one: a box whose dimensions have room for those of both. So sums along one axis after
/// another, of extents that grow and shrink, all take place in one box.
void reuse_slots(chain& c, const machine& chip);

} // namespace ricci::lowering
