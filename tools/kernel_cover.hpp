// kernel_cover: the fewest parameter sets that are nearly the best at every size.
#pragma once

#include <ricci/lowering/machine.hpp>
#include <ricci/lowering/plan.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace ricci::tools {

/// What a tile has in common with tiles for other sizes: block bytes to a multiple of 12 KB in place of a number of
/// products, nothing that follows from the size. "mma 2x1, 128 threads, 24 KB".
std::string pattern_of(const lowering::step& st, const lowering::batched_tile& tile, lowering::target where);

/// For each size the seconds that each pattern takes, where it was measured.
using pattern_times = std::vector<std::map<std::string, double>>;

struct kernel_cover {
    std::vector<std::string> patterns; ///< the first one serves the most sizes
    double worst = 0, mean = 0;        ///< loss against each size's best, 0.05 for 5%
    bool is_fewest = true;             ///< no fewer do; false: the search for fewer was too long
};

/// The fewest patterns by one of which every size is within `tolerance` of its best: the exact minimum by branch and
/// bound, from a greedy cover, which stays where the search does not end within a second or so. Sizes without times
/// are left out.
kernel_cover cover(const pattern_times& times, double tolerance);

/// All patterns that are within `tolerance` of the best at one size or more.
std::set<std::string> near_best(const pattern_times& times, double tolerance);

/// The table of tolerances 0, 1, 2, 5, 10 and 20% against kernels, worst and mean loss. Beyond `measured_to`, where
/// not every pattern that would count was measured at every size, and where cover() is not exact, fewer may do, which
/// "<=" says.
std::string trade_off(const pattern_times& times, double measured_to);

} // namespace ricci::tools
