// choose_matrix_kernel: which kernel factors the matrices of a step, or solves with their factors.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"
#include "lowering/tuning_table.hpp"

#include <vector>

namespace ricci::lowering {

/// The step with a kernel, its parameters (measured ones, where `known` has them), and memory for what the kernel
/// wants beside its operands; before it, where no kernel can leave the matrices as they are, a step without a kernel
/// that copies them. Throws ricci::error (environment) where no kernel takes the step.
std::vector<step> choose_matrix_kernel(step st, plan& p, const machine& chip, const priors& known,
                                       bool dynamic_extents);

} // namespace ricci::lowering
