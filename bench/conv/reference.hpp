// reference: a convolution's results, computed again by plain loops in double.
#pragma once

#include "bench/conv/problem.hpp"
#include "bench/device_tools.hpp"

#include <ricci/runtime/device.hpp>

#include <cstdint>
#include <vector>

namespace ricci::bench::conv {

/// What one set's results should be: all of them, where that takes about half a second at most, else some thousand,
/// drawn with a seed, those at the pictures' edges more often.
class reference {
  public:
    /// Reads D, F and bias at `operands` (see tensor_number).
    reference(const problem& p, const std::vector<void*>& operands, device where);

    /// Compares what stands in O.
    findings check(const void* results, const error_bound& bound) const;

  private:
    struct sum {
        std::int64_t place = 0;     ///< in O
        double value = 0, size = 0; ///< size: root of the sum of squares of the terms
    };

    problem p_;
    device where_;
    bool all_ = false;
    std::vector<sum> sums_;
};

} // namespace ricci::bench::conv
