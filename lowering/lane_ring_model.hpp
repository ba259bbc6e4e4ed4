// lane_ring_model: the legal parameters of kernels/batched_lane_ring.cuh and batched_lane_shifts.cuh, and what each
// would cost.
#pragma once

#include "lowering/lane_ring_layout.hpp"
#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <vector>

namespace ricci::lowering {

/// Of a product of batched_lanes on a chip, both of which outlive this.
class lane_ring_model {
  public:
    lane_ring_model(const step& st, const machine& chip);

    /// Parameter sets; none where neither kernel takes the product.
    std::vector<batched_tile> candidates() const;
    /// Seconds that one of them would take.
    double seconds(const batched_tile& t) const;

  private:
    const step& st_;
    const machine& chip_;
    lane_ring_product p_;
};

} // namespace ricci::lowering
