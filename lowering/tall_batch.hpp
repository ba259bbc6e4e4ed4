// tall_batch: a product with a long side as a batch of products of a few of its rows, which share the other operand.
#pragma once

#include "lowering/plan.hpp"

#include <cstdint>
#include <optional>

namespace ricci::lowering {

struct tall_batch {
    step products;            ///< with one axis more, the batch
    std::optional<step> rest; ///< the rows at the end that are no whole product
};

/// Of a product without a batch whose `side`, m or n, is one long axis: products of `rows` rows each. None where C or
/// the long operand is not row after row in memory, with nothing between.
std::optional<tall_batch> batch_of_rows(const step& st, axis_class side, std::int64_t rows);

} // namespace ricci::lowering
