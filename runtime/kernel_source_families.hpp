// kernel_source_families: one function for each kernel family with a prelude of its own.
#pragma once

#include "runtime/kernel_source.hpp"

namespace ricci::runtime {

kernel_request make_direct(const lowering::step& st, const lowering::machine& chip);
/// batched_small and both tall-skinny families.
kernel_request make_product(const lowering::step& st, const lowering::machine& chip);

} // namespace ricci::runtime
