// matrix_sizes: what the kernels of factorizations want to know of a step, apart from how its operands lie.
#pragma once

#include "lowering/plan.hpp"

#include <algorithm>
#include <cstdint>

namespace ricci::lowering {

struct matrix_sizes {
    std::int64_t m = 0, n = 0, r = 0; ///< rows, columns, right-hand sides (0: nothing is solved for)
    std::int64_t matrices = 1;        ///< of the batch
    std::int64_t vector() const { return std::min(m, n); }
};

/// Of a step with matrix_work.
matrix_sizes matrix_sizes_of(const step& st);

/// The axes of the batch, in the step's order.
std::vector<std::int32_t> batch_of_matrices(const step& st);

/// Elements from one matrix of the batch to the next where they are one span: of each the columns, or the rows, are
/// contiguous, and matrices follow one another with no gap but one that each column, or row, may end with. 0: they
/// are none.
std::int64_t distance_in_span(const step& st);

/// Whether that span has no gaps at all.
bool matrices_are_dense(const step& st);

/// The operand in a role, or null.
const operand* operand_in(const step& st, matrix_role r);

/// Whether the step, of matrices or not, writes its operand o, or reads it.
bool writes_operand(const step& st, std::size_t o);
bool reads_operand(const step& st, std::size_t o);

} // namespace ricci::lowering
