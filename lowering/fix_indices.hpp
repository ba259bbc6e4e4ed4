// fix_indices: from IR 1 to IR 2. Checks every size and turns each access into a linear map over axes.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// A plan of one step with the statement's right side unchanged; ranges, fixed and affine positions and diagonals are
/// folded into offsets and strides. Throws ricci::error for extents that disagree, ranges and affine positions that
/// leave their axis, an index that nothing bounds, complex into real, null data, mixed devices and sizes that
/// overflow 64 bits.
plan fix_indices(const statement& s);

} // namespace ricci::lowering
