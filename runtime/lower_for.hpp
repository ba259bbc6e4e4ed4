// lower_for: lowering on a device, with what this process knows of a statement's past sizes and of measurements.
#pragma once

#include "lowering/lower.hpp"
#include "runtime/backend.hpp"

namespace ricci::runtime {

/// Why a statement is lowered.
enum class occasion {
    look,      ///< to be shown: nothing is compiled for it
    first_run, ///< it runs, as far as this process knows for the first time with these sizes
    next_runs  ///< it runs again and again
};

/// The plan of `s` on `b`, its tiles chosen as chosen_tuning() says. A statement that has been compiled for many
/// sizes gets kernels with extents as arguments for further ones, but for sizes that come again.
lowering::plan lower_for(const lowering::statement& s, backend& b, std::vector<lowering::stage>* trace,
                         occasion when);

/// Whether kernels of `p` have extents as arguments, and sizes that come again would have kernels of their own.
bool is_general(const lowering::plan& p);

} // namespace ricci::runtime
