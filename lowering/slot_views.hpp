// slot_views: how views go through a chain's slots: distances as coordinates of a box, and other strides for them.
#pragma once

#include "lowering/chain.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ricci::lowering {

/// The coordinates that a distance in a box has by its strides, the largest first; nothing is left over.
std::optional<std::vector<std::int64_t>> coordinates(std::int64_t distance, const std::vector<std::int64_t>& strides,
                                                     const std::vector<std::int64_t>& extents);

/// The views of a slot go by these strides instead of its own. With `dimension` each of its dimensions goes by that
/// of the one named, a dimension of one value by none (-1).
void go_by(chain& c, std::int32_t slot, const std::vector<std::int64_t>& strides);
void go_by(chain& c, std::int32_t slot, const std::vector<std::int64_t>& strides,
           const std::vector<std::int32_t>& dimension);

} // namespace ricci::lowering
