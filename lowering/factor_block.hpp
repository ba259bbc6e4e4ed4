// factor_block: the parameters of the GPU's kernels that give a block to a matrix: kernels/factor_block.cuh, which
// holds it in shared memory, and kernels/factor_blocked.cuh, which holds a panel of it there.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// Legal parameters of the step's kernel, one of the two, the model's choice first; empty where it cannot run.
/// batched_tile's members as factor_layout.hpp has them; stages: blocks that an SM shall have registers for, 0: as
/// the kernel likes; tile_n, of QR in factor_block: 2: the pivot's column is kept in registers, 1: it is read twice.
std::vector<batched_tile> factor_block_candidates(const step& st, const machine& chip);

/// Dynamic shared memory a block.
std::int64_t factor_block_shared_bytes(const step& st, const batched_tile& tile, const machine& chip);

/// What kernels/factor_blocked.cuh wants of workspace; of the other kernel 0.
std::int64_t factor_block_workspace_bytes(const step& st, const batched_tile& tile, const machine& chip);

/// Of all matrices, without the start of a kernel.
double factor_block_seconds(const step& st, const batched_tile& tile, const machine& chip);

} // namespace ricci::lowering
