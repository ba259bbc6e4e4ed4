// panel_model: the parameters of the GPU's kernels that stream panels of k through shared memory.
#pragma once

#include "lowering/batched_layout.hpp"
#include "lowering/machine.hpp"
#include "lowering/mma_shape.hpp"
#include "lowering/plan.hpp"

#include <array>
#include <cstdint>
#include <map>

namespace ricci::lowering {

/// Whether batched_panels takes a product: single axes m, n and k.
bool takes_panels(const step& st);

/// The parameters of batched_panels for a product.
batched_tile choose_panels_tile(const step& st, const machine& chip);

// What the models of the kernels with panels share.

/// Sets tile_m, tile_n and the number of tiles (in `threads`: of tiles, times a tile's threads) for rows x columns of
/// C: the least that no element of C needs, then the squarest. False if they would take more threads than a block
/// has, or fewer than `least_threads`.
bool set_tiles(batched_tile& t, std::int64_t rows, std::int64_t columns, const mma_shape* mma, std::int64_t words,
               std::int64_t least_threads = 1);

/// A tile without sizes, of the tensor cores' kind or, where `mma` is null, of multiply-adds.
batched_tile start_tile(const step& st, const mma_shape* mma);

/// The tensor cores where their tiles would not be mostly empty for `side`, the longer one of what the tiles cover;
/// f32, of which they take three products, only where multiply-adds reach their limit.
const mma_shape* mma_for(const step& st, std::int64_t side, const machine& chip);

/// What a warp's reads cost of a step's panels in shared memory, where the tensor cores' numbers come one by one. Of
/// many tiles few differ in it: each is found once.
class panel_reads {
  public:
    explicit panel_reads(const step& st) : step_(st) {}

    /// Passes for `steps` steps of the sum, a multiple of 16; else 0.
    double passes(const batched_tile& t, std::int64_t steps);

    /// The k_apart with the fewest of these: whole panels have no room at their lines' ends, and those of odd lengths
    /// lie on one another's banks (f16 63 by rows, an H100: 52 % of the memory's rate by every fourth step).
    std::int32_t best_apart(batched_tile t, std::int64_t steps);

  private:
    double passes(const panel_layout& layout, const batched_tile& t, std::int64_t steps);
    double of_operand(std::int64_t side, std::int64_t along, std::int64_t apart, const mma_shape& mma);

    const step& step_;
    std::map<std::array<std::int64_t, 3>, double> known_; ///< by the strides and k_apart
};

} // namespace ricci::lowering
