// reference: whether factors and solutions are right, by the ratios of LAPACK's own testers.
#pragma once

#include "bench/device_tools.hpp"
#include "bench/factor/problem.hpp"

#include <ricci/runtime/device.hpp>

#include <cstdint>
#include <vector>

namespace ricci::bench::factor {

/// Where an answer stands in a set, and how. Factors are always in A, with pivots or tau in v.
struct answer {
    std::int64_t first_pivot = 0;    ///< what the number of the first row is
    operand_number solutions = at_X; ///< of what is not factored in place
    std::int64_t length = 0;         ///< of a column of them, of which the first n elements count; 0: n
};

/// The matrices of a batch that are looked at: the first, the last and some between, as many as take about half a
/// second.
std::vector<std::int64_t> checked_matrices(const problem& p);

/// The worst ratio (bench/factor/ratios.hpp) of what stands in a set, and how many matrices have one that is too
/// large.
findings check(const problem& p, const operand_addresses& set, const answer& given, device where);

} // namespace ricci::bench::factor
