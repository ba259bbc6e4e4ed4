// lane_ring_model: the legal parameters of kernels/batched_lane_ring.cuh and batched_lane_shifts.cuh, and what each
// would cost.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <vector>

namespace ricci::lowering {

/// Parameter sets for a product of batched_lanes on this chip; none where neither kernel takes it.
std::vector<batched_tile> lane_ring_candidates(const step& st, const machine& chip);

/// Seconds that one of them would take.
double lane_ring_seconds(const step& st, const batched_tile& t, const machine& chip);

} // namespace ricci::lowering
