// reference: whether factors and solutions are right, by the ratios of LAPACK's own testers.
#pragma once

#include "bench/device_tools.hpp"
#include "bench/factor/problem.hpp"

#include <ricci/runtime/device.hpp>

#include <cstdint>
#include <vector>

namespace ricci::bench::factor {

/// What LAPACK's testers allow. The ratios: residual / (size * norms * unit roundoff), of a QR also how far Q is
/// from unitary; all in long double.
inline constexpr double largest_ratio = 30;

/// The matrices of a batch that are looked at: the first, the last and some between, as many as take about half a
/// second.
std::vector<std::int64_t> checked_matrices(const problem& p);

/// The worst ratio of what stands in a set, and how many matrices have one that is too large. `first_pivot`: what
/// the number of the first row is.
findings check(const problem& p, const operand_addresses& set, std::int64_t first_pivot, device where);

} // namespace ricci::bench::factor
