// tile_transform: steps that take tiles of an operand through a small matrix in each of one or two directions,
// kernels/tile_transform.cuh: what stands where in them, and how long they take.
//
// Axes: a tile's elements in the output in each direction, those that count tiles, the neighbors in memory first, a
// tile's elements in the operand in each direction. Of step::tile: the directions, the operand that is transformed,
// and each direction's matrix.
#pragma once

#include "lowering/cost_model.hpp"
#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <cstdint>
#include <vector>

namespace ricci::lowering {

inline constexpr int transform_threads = 128; ///< of a block

/// A transform's matrix: an operand over one summed axis and one of the output.
struct transform_matrix {
    std::int32_t operand = 0;
    std::int32_t summed = 0, kept = 0; ///< axes
};

/// A step whose only sum is the product of `matrices` and operand `image`, as the kernel takes it; `tiles`: its other
/// axes, the nearest first.
step as_tile_transform(const step& st, std::int32_t image, const std::vector<transform_matrix>& matrices,
                       const std::vector<std::int32_t>& tiles);

/// A tile's elements in the output, or in the operand, along a direction; 1 where there is no such.
std::int64_t transformed_extent(const step& st, std::size_t direction);
std::int64_t source_extent(const step& st, std::size_t direction);

/// The node of the sum.
std::int32_t transform_sum(const step& st);

/// Tiles of the step: its kernel's threads.
std::int64_t transformed_tiles(const step& st);

estimate tile_transform_cost(const step& st, const machine& chip);
/// As seen on an H100: at 0.75 of the memory's rate, or 0.4 of the arithmetic's.
double tile_transform_seconds(const step& st, const machine& chip);

} // namespace ricci::lowering
