// tall_batch: a product with a long side as a batch of products of a few of its rows, which share the other operand.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <cstdint>
#include <optional>

namespace ricci::lowering {

/// How C and the operand with the long side both lie: row after row with nothing between; in columns that start at
/// multiples of 16 bytes if the first does; or otherwise.
enum class tall_order : std::uint8_t { none, rows, columns };

struct tall_batch {
    tall_order order = tall_order::none;
    step products;            ///< with one axis more, the batch; their form is not yet named
    std::optional<step> rest; ///< the rows at the end that are no whole product
};

/// Of a product whose `side`, m or n, is long, where a GPU's kernels for batches are worth trying: it has bulk copies
/// and enough to do, and the other sides are wide enough. Products have 64 rows, or fewer of long ones, for each
/// processor to have two. Measured on an H200, % of the triad, in parentheses by tall_skinny_ab:
///   rows      f64 of 12 to 40 columns 93 to 96 (41 to 83), of 8 93 (94); f32 of 12 to 28 84 to 94 (56 to 80);
///             f16 87 to 91 (35 to 87)
///   columns   f16 of 24 to 56 80 to 85 (40 to 86)
/// On a CPU, whose kernel takes products that lie in any way: always.
std::optional<tall_batch> as_batch(const step& st, axis_class side, const machine& chip);

} // namespace ricci::lowering
