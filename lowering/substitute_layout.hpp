// substitute_layout: the parameters that the kernels of solves with factors that are there may have on a chip, what
// they take of it, and how long the model expects them to take.
//
// What batched_tile's members mean here, each a constant of the prelude:
//   products     matrices_of_block   matrices a block; on a CPU a work item
//   threads      threads_per_block   of a block
//   tile_m       lanes_of_matrix     kernels/substitute.cuh: to 32: so many lanes; 1 and no slabs: a thread a matrix
//                                    where it lies; more: a block
//                                    kernels/substitute_cpu.hpp: 1: a matrix a lane; else vectors along its lines
//   tile_n       lines_of_lane       right-hand sides at a time
//   stages       stages              0 and a thread a matrix: right-hand sides in registers; 1 and a block a matrix:
//                                    in shared memory
//   boxed        in_slabs            the matrices of a block come by one bulk copy
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// Legal parameters of the step's kernel, the model's choice first; empty where it cannot run.
std::vector<batched_tile> substitute_candidates(const step& st, const machine& chip);

/// Dynamic shared memory a block.
std::int64_t substitute_shared_bytes(const step& st, const batched_tile& tile, const machine& chip);

/// Memory of the step's own: for least squares with more right-hand sides' rows than shared memory has room for.
std::int64_t substitute_workspace_bytes(const step& st, const batched_tile& tile, const machine& chip);

/// Of all matrices, without the start of a kernel.
double substitute_seconds(const step& st, const batched_tile& tile, const machine& chip);

} // namespace ricci::lowering
