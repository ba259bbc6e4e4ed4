// chain_slots: slots that one phase reads for the last time and in which it can leave its results.
#pragma once

#include "lowering/chain.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// Where a phase writes a slot number by number to where no item but the same one has read another slot, whose last
/// phase it is, the two become one: a box whose dimensions have room for those of both. So sums along one axis after
/// another, of extents that grow and shrink, all take place in one box.
void reuse_slots(chain& c);

/// The views of a slot go by these strides instead of its own, each of its dimensions by that of the one named; a
/// dimension of one value by none (-1).
void go_by(chain& c, std::int32_t slot, const std::vector<std::int64_t>& strides,
           const std::vector<std::int32_t>& dimension);

} // namespace ricci::lowering
