// tuner: measures the parameters that a step's or a chain's kernel may have against each other: those of tuning_plan.
//
//   compiled     on several threads, through the kernel cache; what spills registers is refused, but for the
//                model's choice
//   timed        on rotating memory of random numbers, the model's choice first; a median of samples, one for the
//                hopeless; the best few again, in turn
//   checked      the fastest's result against the model's choice's; where they differ, the next fastest. And what is
//                within the tolerance of it
#pragma once

#include "lowering/statement.hpp"
#include "runtime/tuning_plan.hpp"

namespace ricci::runtime {

/// Measures step `st` of the plan of `s`, which has_tile, on memory of its own. Throws ricci::error (environment)
/// when there is not enough memory, or where the kernel of the model's choice cannot be compiled or started.
tuned_step tune_step(backend& b, const lowering::step& st, const lowering::statement& s, const tuning_effort& effort);

/// The same for the kernel that a step begins, which is_worth_measuring; `s` may be a program's statements, joined.
tuned_step tune_kernel(backend& b, const lowering::plan& p, std::size_t step, const lowering::statement& s,
                       const tuning_effort& effort);

} // namespace ricci::runtime
