// reference: runs a step by an interpreter that was compiled with the library, where no compiler is found at run
// time.
#pragma once

#include "lowering/plan.hpp"

#include <complex>
#include <functional>

namespace ricci::runtime {

/// Evaluates `st` element by element in double precision and rounds once on storing. `address` gives the memory of an
/// operand's source on the CPU. Slow, right for every step that the direct kernel takes.
void run_reference(const lowering::step& st, const std::vector<lowering::scalar>& scalars,
                   const std::function<void*(std::int32_t source)>& address);

/// The value of a tree of scalars, on the host, as a statement that computes in `compute` sees it.
std::complex<double> evaluate_scalars(const std::vector<lowering::node>& nodes,
                                      const std::vector<lowering::scalar>& scalars, lowering::scalar_type compute);

} // namespace ricci::runtime
