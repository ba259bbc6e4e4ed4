// result_check: whether two kernels for the same step agree, rounding aside.
#pragma once

#include "lowering/plan.hpp"
#include "lowering/statement.hpp"

#include <cstddef>
#include <vector>

namespace ricci::runtime {

/// Compares two outputs of a product as step_memory::output gives them, of operands in [-1, 1].
bool agree(const lowering::step& st, const lowering::statement& s, const std::vector<std::byte>& a,
           const std::vector<std::byte>& b);

/// Compares two outputs of one chain, whose blocks change no sum's order but of what is added atomically: the same
/// bytes, or numbers that differ by 1000 roundings of the largest at the most.
bool agree_nearly(lowering::scalar_type type, const std::vector<std::byte>& a, const std::vector<std::byte>& b);

} // namespace ricci::runtime
