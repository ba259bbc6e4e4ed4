// factor_lanes_qr: the parameters of kernels/factor_lanes_qr.cuh, QR in the registers of a group of lanes.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// Legal parameters, the model's choice first; empty where a matrix does not fit. `stages` are the blocks that an SM
/// is to have room for, which caps registers; k_panel the row slots that one rolled loop over pivots covers.
std::vector<batched_tile> qr_lanes_candidates(const step& st, const machine& chip);

/// Dynamic shared memory a block.
std::int64_t qr_lanes_shared_bytes(const step& st, const batched_tile& tile, const machine& chip);

/// Of all matrices, without the start of a kernel.
double qr_lanes_seconds(const step& st, const batched_tile& tile, const machine& chip);

} // namespace ricci::lowering
