// fewest_kernels: keeps, of what was measured for many sizes, the fewest kernels that are nearly the best at each.
#pragma once

#include "tools/kernel_cover.hpp"
#include "tools/tuning_run.hpp"

#include <ricci/runtime/tuning_database.hpp>

#include <cstdio>
#include <set>
#include <string>
#include <vector>

namespace ricci::tools {

/// For each job the least time of each pattern that can be used there.
pattern_times times_of(const std::vector<tuned_job>& results, lowering::target where);

/// The tiles of a job whose patterns are among these: those that the first round measured, and of a pattern that it
/// did not, because the model expects others to be faster there, the few that the model expects most of.
std::vector<lowering::batched_tile> tiles_of(const tuned_job& each, const std::set<std::string>& patterns,
                                             lowering::target where);

/// Prints to `text` the table of tolerances, and keeps for each job the best of the patterns that are enough.
void keep_fewest(std::FILE* text, const std::vector<tuned_job>& results, double tolerance, lowering::target where,
                 runtime::tuning_database& database);

} // namespace ricci::tools
