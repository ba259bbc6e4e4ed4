// lower_for: lowering on a device, with what this process knows of a statement's past sizes and of measurements.
#pragma once

#include "lowering/lower.hpp"
#include "runtime/backend.hpp"

namespace ricci::runtime {

/// The plan of `s` on `b`, its tiles chosen as chosen_tuning() says. A statement that has been compiled for many sizes gets kernels with extents as arguments; `counting`
/// says that this time is one of them.
lowering::plan lower_for(const lowering::statement& s, backend& b, std::vector<lowering::stage>* trace, bool counting);

} // namespace ricci::runtime
