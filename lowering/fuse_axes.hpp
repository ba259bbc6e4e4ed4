// fuse_axes: fewer and longer axes.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Drops summed axes of extent 1, joins two axes that every operand walks through as one, and sorts the rest: the
/// output's axes by its stride (those of extent 1 last), then the summed ones, outermost first, by their largest
/// stride. The output's axes of extent 1 stay, so that a batch of one needs no kernel of its own.
plan fuse_axes(plan p);

/// Drops the axes of extent 1 that stayed, but a batch's, from a step whose kernel is for these extents alone.
void drop_single_axes(step& st);

} // namespace ricci::lowering
