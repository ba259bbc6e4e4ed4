// choose_tile: the parameters of a step's kernel: what was measured, else what the model expects to be best.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"
#include "lowering/tuning_table.hpp"

namespace ricci::lowering {

/// Sets `batched` and `origin` of a step whose kernel is chosen; nothing where !has_tile. In this order:
///   measured on this chip; shipped for its architecture    only what is among tile_candidates
///   neighbors: sizes nearby, measured or shipped            of the model's best few, the one most like theirs
///   the model's choice
void choose_tile(step& st, const machine& chip, const priors& known);

} // namespace ricci::lowering
