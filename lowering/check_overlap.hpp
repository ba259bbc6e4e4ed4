// check_overlap: makes a statement safe whose operands share memory with its left side.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Afterwards no step reads an element that it has overwritten. Operands are proved disjoint from the left, or found
/// to be the very element that is written (read first, then written by the same work item), or copied first, or the
/// result is kept in a temporary, whichever moves fewer bytes; a note says which. A = A + ... becomes A += ....
/// Throws ricci::error where the left side writes an element twice.
plan check_overlap(plan p, const statement& s);

} // namespace ricci::lowering
