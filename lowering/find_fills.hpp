// find_fills: which step sets what another one adds to: `y(g) = 0` before `y(l(i,e)) += v(i,e)`.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Of each step that adds through tables with equal entries, in order, finds the step before it that sets every
/// element such tables could name, and no other, to one scalar, if nothing between the two meets that memory
/// (step::fill). Where the scalar is 0, and the tables' inverse has a row for each of the elements, one pass then
/// does both.
plan find_fills(plan p);

} // namespace ricci::lowering
