// coincidence: can two strided accesses touch the same byte? An exact test over bounded integers.
#pragma once

#include <cstdint>
#include <vector>

namespace ricci::lowering {

/// stride * v for some integer v in [low, high].
struct bounded_term {
    std::int64_t stride = 0;
    std::int64_t low = 0, high = 0;
};

/// Whether low <= sum of the terms <= high has a solution; with except_all_zero, one other than all v = 0.
/// Exact up to a limit of search steps, beyond which it answers `unknown`.
bool has_solution(std::vector<bounded_term> terms, std::int64_t low, std::int64_t high, bool except_all_zero = false,
                  bool unknown = true);

} // namespace ricci::lowering
