// factor_layout: the parameters that the kernels of factorizations may have on a chip, what they take of it, and how
// long the model expects them to take.
//
// What batched_tile's members mean here, each a constant of the prelude:
//   products     matrices_of_block   matrices a block; on a CPU a work item
//   threads      threads_per_block   of a block
//   tile_m       lanes_of_matrix     lanes that share a matrix, factor_lanes
//   tile_n       lines_of_lane       rows (QR: columns) a lane has, factor_lanes;
//   k_panel      panel               columns that are factored at a time
//   stages       stages              blocks that an SM shall have registers for; 0: as the compiler likes
//   boxed        in_slabs            matrices move as slabs, by bulk copies
//   core         -                   mma: factor_lanes by factor_warp.hpp
//   streamed     -                   factor_block by factor_stream.hpp
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// Legal parameters of the step's kernel, the model's choice first; empty where it cannot run.
std::vector<batched_tile> factor_candidates(const step& st, const machine& chip);

/// Dynamic shared memory a block.
std::int64_t factor_shared_bytes(const step& st, const batched_tile& tile, const machine& chip);

/// Of the step's own memory, all matrices together.
std::int64_t factor_workspace_bytes(const step& st, const batched_tile& tile, const machine& chip);

/// Of a grid.
std::int64_t factor_blocks(const step& st, const batched_tile& tile, const machine& chip);

/// Of all matrices, without the start of a kernel.
double factor_seconds(const step& st, const batched_tile& tile, const machine& chip);

/// Multiply-adds count two; of the method and the right-hand sides, as LAPACK's working notes count them.
double factor_flops(const step& st);
/// Of one real matrix.
double factor_flops(matrix_task task, matrix_method method, double m, double n, double r);

} // namespace ricci::lowering
