// fills_first: what a program sets to a number goes before what has nothing to do with it.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Moves steps that read no tensor as far to the front as the others allow: `y = 0` between what computes v and
/// `y(l(i,e)) += v(i,e)` would keep the two apart.
plan fills_first(plan p);

} // namespace ricci::lowering
