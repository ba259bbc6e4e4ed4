// kernel_cover: the fewest parameter sets that are nearly the best at every size.
#pragma once

#include <ricci/lowering/machine.hpp>
#include <ricci/lowering/plan.hpp>

#include <map>
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
};

/// A greedy set cover: every size is within `tolerance` of its best by one of the patterns. Sizes without times are
/// left out.
kernel_cover cover(const pattern_times& times, double tolerance);

/// The table of tolerances 0, 1, 2, 5, 10 and 20% against kernels, worst and mean loss.
std::string trade_off(const pattern_times& times);

} // namespace ricci::tools
