// winograd_apart: a convolution by minimal filtering as three steps, V and M in memory: what a library's products of
// many channels are faster for than one kernel.
#pragma once

#include "lowering/plan.hpp"
#include "lowering/winograd_statements.hpp"

#include <cstddef>
#include <optional>

namespace ricci::lowering {

/// The transforms of family::tile_transform, and the channels' products, still without a kernel.
struct winograd_apart {
    step inputs, product, outputs;
    std::size_t v = 0, m = 0; ///< operands of `product` and of `outputs`
};

/// The three statements as steps, whose sources are those of the statements; none where the kernels do not count so
/// many tiles. V and M lie so that all tiles of one point are one matrix: with neighbors in the image, or the output,
/// nearest, points outermost.
std::optional<winograd_apart> as_three_steps(winograd_statements all, const winograd_structure& of);

} // namespace ricci::lowering
