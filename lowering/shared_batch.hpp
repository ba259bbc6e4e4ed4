// shared_batch: a product whose one side has several axes, a long side of one matrix or a batch of matrices that
// share the other operand.
#pragma once

#include "lowering/plan.hpp"

#include <vector>

namespace ricci::lowering {

/// Of several axes of m or n (`side`, those of the operand `x`) the one, or the few that follow one another without a
/// gap, that are the side of small matrices which lie apart along all other axes, in C and in X: those are a batch
/// then. None where the matrices are interleaved, overlap or are too large.
std::vector<std::int32_t> side_of_matrices(const step& st, const std::vector<std::int32_t>& side, std::int32_t x);

} // namespace ricci::lowering
