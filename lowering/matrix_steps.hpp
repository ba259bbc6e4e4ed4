// matrix_steps: from a call of a factorization or a solve to the steps that do it.
#pragma once

#include "lowering/plan.hpp"
#include "lowering/statement.hpp"

namespace ricci::lowering {

/// Takes what fix_indices made of a statement that is a call. What operands share memory with others that the call
/// writes is copied first where it is only read. Throws ricci::error for every mistake: types, shapes, indices that
/// an operand lacks, elements that are written twice.
plan matrix_steps(plan p, const statement& s);

} // namespace ricci::lowering
