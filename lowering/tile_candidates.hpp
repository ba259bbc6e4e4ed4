// tile_candidates: what parameters a step's kernel may have and what the model says of them, whatever its family.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <vector>

namespace ricci::lowering {

/// Whether the kernel of a step has parameters in step::batched.
bool has_tile(const step& st, const machine& chip);

/// All parameters that the step's kernel takes for it on this chip, model_tile's among them; none where !has_tile.
std::vector<batched_tile> tile_candidates(const step& st, const machine& chip);

/// Seconds the model expects of each of these candidates. Of families without a model of their own, the roofline for
/// each.
std::vector<double> predicted_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip);
double predicted_seconds(const step& st, const batched_tile& tile, const machine& chip);

/// Whether it pays to measure them: not of a factorization that has one set of them, nor of the few rows that tall_batch leaves, whose kernel serves long sides too.
bool is_worth_tuning(const step& st, const machine& chip);

/// The model's choice.
batched_tile model_tile(const step& st, const machine& chip);

} // namespace ricci::lowering
