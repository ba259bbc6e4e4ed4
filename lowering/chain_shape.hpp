// chain_shape: how many elements a chain's kernel has at a time, and what it is expected to cost.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"
#include "lowering/tuning_table.hpp"

#include <optional>
#include <vector>

namespace ricci::lowering {

// What a batched_tile says of a chain's block on a GPU: products its elements, threads, stages the blocks that
// registers are to allow an SM at once.
batched_tile tile_of(const chain& c);
void set_tile(chain& c, const batched_tile& t);

/// All blocks that a chain's kernel may have, in no order; none on a CPU.
std::vector<batched_tile> chain_tiles(const chain& c, const machine& chip);

/// Seconds for all elements, as the model expects of each of these.
std::vector<double> chain_tile_seconds(const chain& c, const std::vector<batched_tile>& tiles, const machine& chip);

/// Chooses points at a time, and elements and threads of a block: by what was measured, else by the model. Where the
/// block comes from; nothing where one element does not fit.
std::optional<tile_origin> choose_chain_shape(chain& c, const machine& chip, const priors& known);

/// Of the smallest block: bytes of shared memory, or of a CPU's L2, and how many it may have.
struct block_bytes {
    std::int64_t bytes = 0, most = 0;
};
block_bytes least_memory(chain c, const machine& chip);

/// Seconds for all elements.
double chain_seconds(const chain& c, const machine& chip);

/// Lanes of a CPU's vectors of the chain's numbers.
int chain_lanes(const chain& c, const machine& chip);

} // namespace ricci::lowering
