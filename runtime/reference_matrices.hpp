// reference_matrices: factors and solves by code that was compiled with the library, where no compiler is found at
// run time.
#pragma once

#include "lowering/plan.hpp"

#include <cstdint>
#include <functional>

namespace ricci::runtime {

/// What a step with matrix_work does, one matrix after another in double precision, rounded once on storing.
/// `address` gives the memory of an operand's source on the CPU.
void run_reference_matrices(const lowering::step& st, const std::function<void*(std::int32_t source)>& address);

} // namespace ricci::runtime
