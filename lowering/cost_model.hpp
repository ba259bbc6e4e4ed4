// cost_model: bytes, flops and roofline time of a step.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

namespace ricci::lowering {

struct estimate {
    double bytes = 0;   ///< each operand read once, the output written once and read if it is accumulated; matrices
                        ///< that are factored or solved with whole, also where one triangle is used
    double flops = 0;   ///< two for each multiply-add; a complex one counts eight
    double seconds = 0; ///< max(bytes/bandwidth, flops/peak) + launch
};

estimate cost_model(const step& st, const machine& chip);

/// Bytes a processor must get for its start and end not to count: four blocks of batched_small. And whether those of
/// a chip get as many by a step.
inline constexpr double bytes_of_a_busy_processor = 96 << 10;
bool keeps_busy(const step& st, const machine& chip);

} // namespace ricci::lowering
