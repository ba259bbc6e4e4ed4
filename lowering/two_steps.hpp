// two_steps: products that two steps compute: one into a temporary, and one from there.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

namespace ricci::lowering {

struct two_steps {
    step product, rest; ///< the latter for the direct kernel
};

/// Whether a matrix product has an alpha that is more than a sign, or a beta.
bool is_scaled(const step& st);

/// T = A*B, then C op= alpha*T, or C = beta*C + alpha*T.
two_steps scaled_afterwards(step st, plan& p);

/// On a CPU, of a tall-skinny A^T B: sums over chunks of the long axis, then their sum, both in a fixed order.
two_steps added_in_chunks(step st, const machine& chip, plan& p);

} // namespace ricci::lowering
