// chain_additions: results of a chain that the steps behind it add to elements which tables give, in order.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Notes the ordered additions that stand behind a chain of steps [first, last), add a span that it writes and
/// nothing else reads, and may be done element by element as the chain goes: with one thread that is the table's
/// order. They stay steps of their own for several threads.
void find_additions(chain& c, const plan& p, std::size_t first, std::size_t last);

} // namespace ricci::lowering
