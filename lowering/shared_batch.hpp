// shared_batch: a product whose one side has several axes, a long side of one matrix or a batch of matrices that
// share the other operand.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Of several axes of m or n (`side`, those of the operand `x`) the one that is the side of small matrices which lie
/// apart along all other axes, in C and in X: those are a batch then. -1 where the matrices are interleaved, overlap
/// or are too large.
std::int32_t side_of_matrices(const step& st, const std::vector<std::int32_t>& side, std::int32_t x);

} // namespace ricci::lowering
