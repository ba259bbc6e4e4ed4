// fuse_axes: pass 6, fewer and longer axes.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Drops axes of extent 1, joins two axes that every operand walks through as one, and sorts the rest: the output's axes by its
/// stride, then the summed ones, outermost first, by their largest stride.
plan fuse_axes(plan p);

} // namespace ricci::lowering
