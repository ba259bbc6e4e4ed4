// stationary_model: the legal parameters of the GPU's batched_stationary kernel for a product, and what each would
// cost.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"
#include "lowering/stationary_layout.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// A step whose C's neighbors are in m: X and Y, and with them m and n, change places where they are in n.
step with_columns(step st);

/// Whether batched_stationary takes a product with_columns on a chip: sm_90 and later, single axes m, n and k,
/// operands that the tensor cores take and whose neighbors in memory are neighbors in m, n or k, and X of no more
/// than a block's registers hold.
bool takes_stationary(const step& st, const machine& chip);

/// What a step's tile means there: tile_m, tile_n; panel: columns of a slice; k_panel: lines of X in a slice; stages;
/// k_apart.
std::vector<batched_tile> stationary_candidates(const step& st, const machine& chip);

/// The time that each of these candidates would take.
std::vector<double> stationary_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip);

/// Whether all products share one X.
bool stationary_x_is_for_all(const step& st);

/// Whether X's numbers are kept in the form that the tensor cores take: f32 takes twice the registers then.
bool stationary_splits_x_once(const step& st, const batched_tile& t, const machine& chip);

/// Warps that share X's rows.
std::int64_t stationary_row_warps(const step& st, const batched_tile& t);

/// Warps of a block that compute, that ask for slices, and that bring Y's numbers into the form that the tensor cores
/// take, if the tile is realigned. One more stores slices of C.
struct stationary_warps {
    std::int64_t compute = 0, load = 0, fragment = 0;
};
stationary_warps stationary_warps_of(const step& st, const batched_tile& t);

/// Of a thread that computes, and of another. 0: all threads have as many.
struct stationary_registers {
    std::int64_t compute = 0, helper = 0;
};
stationary_registers stationary_registers_of(const step& st, const batched_tile& t, const machine& chip);

/// Bytes before the first stage; of a block's shared memory.
std::int64_t stationary_barrier_bytes(const batched_tile& t);
std::int64_t stationary_shared_bytes(const step& st, const batched_tile& t);

/// Blocks that an SM has room for, and those of a launch: each takes turns at products.
int stationary_resident_blocks(const step& st, const batched_tile& t, const machine& chip);
std::int64_t stationary_blocks(const step& st, const batched_tile& t, const machine& chip);

} // namespace ricci::lowering
