// result_check: whether two kernels for the same step agree, rounding aside.
#pragma once

#include "lowering/plan.hpp"
#include "lowering/statement.hpp"
#include "runtime/step_memory.hpp"

#include <vector>

namespace ricci::runtime {

/// Compares what two kernels have written, as step_memory::outputs gives it. Of a product, of operands in [-1, 1]; of
/// a factorization or a solve with what matrix_numbers gives them: the same integers, pivots and info, and other
/// numbers as agree_nearly has it, since all is well conditioned and each choice of a pivot or a sign far from any
/// other.
bool agree(const lowering::step& st, const lowering::statement& s, const std::vector<step_output>& a,
           const std::vector<step_output>& b);

/// Compares two outputs of one chain, whose blocks change no sum's order but of what is added atomically: the same
/// bytes, or numbers that differ by 1000 roundings of the largest at the most.
bool agree_nearly(const std::vector<step_output>& a, const std::vector<step_output>& b);

} // namespace ricci::runtime
