// fuse_axes: fewer and longer axes.
#pragma once

#include "lowering/plan.hpp"

namespace ricci::lowering {

/// Drops summed axes of extent 1, joins two axes that every operand walks through as one, and sorts the rest: the
/// output's axes by its stride (those of extent 1 last), then the summed ones, outermost first, by their largest
/// stride. The output's axes of extent 1 stay, so that a batch of one needs no kernel of its own.
plan fuse_axes(plan p);

} // namespace ricci::lowering
