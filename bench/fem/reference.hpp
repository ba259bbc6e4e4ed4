// reference: a problem's results, computed again by nested loops in a wider type.
#pragma once

#include "bench/device_tools.hpp"
#include "bench/fem/problem.hpp"

#include <ricci/runtime/device.hpp>

#include <vector>

namespace ricci::bench::fem {

/// Compares what stands in the result at `operands` (see tensor_number) with sums in long double: all nodes of evenly
/// spread elements, as many as take about half a second, the first and the last among them. Each sum may be off as
/// one of as many terms as all of a node's sums have, in units of the root of the sum of squares of its terms.
findings check(const problem& p, const std::vector<void*>& operands, device where);

} // namespace ricci::bench::fem
