// batched_work: what a block of batched_small has to do for a product besides moving it: instructions, accesses to
// shared memory, tensor cores' products, registers.
#pragma once

#include "lowering/batched_layout.hpp"
#include "lowering/plan.hpp"
#include "lowering/product_sizes.hpp"

namespace ricci::lowering {

/// What the inner loops cost a product, in the SM's cycles of each unit.
struct batched_work {
    double shared = 0, issue = 0, arithmetic = 0;
    double copies = 0;  ///< instructions of all threads that copy X and Y again
    double threads = 0; ///< that a product keeps busy
    int registers = 0;
};

batched_work batched_work_of(const step& st, const product_sizes& s, const batched_layout& layout,
                             const batched_tile& t);

} // namespace ricci::lowering
