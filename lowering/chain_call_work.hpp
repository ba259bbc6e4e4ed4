// chain_call_work: how many lanes of a GPU's warp share a matrix of a chain's call, and what they execute for it.
#pragma once

#include "lowering/chain.hpp"

#include <cstdint>

namespace ricci::lowering {

/// A power of 2, of which few have less to do than others: a lane has rows, every so many.
std::int32_t lanes_of(const chain_call& call);

/// Work items of a phase for one element: threads of a GPU.
std::int64_t threads_of(const chain_phase& ph);

/// Instructions of a lane for one item of a phase, by the kernel's loops; 0 of phases that are no calls.
double lane_instructions(const chain_phase& ph);
/// The same of all phases, of warps for one element.
double warp_instructions(const chain& c);

} // namespace ricci::lowering
