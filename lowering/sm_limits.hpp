// sm_limits: what the blocks of a kernel share of a GPU's SM, the same on all that ricci knows.
#pragma once

#include <cstdint>

namespace ricci::lowering {

inline constexpr int warp = 32; ///< threads
inline constexpr std::int64_t registers_of_an_sm = 65536, threads_of_an_sm = 2048, blocks_of_an_sm = 32;
inline constexpr std::int64_t shared_of_a_block = 1024; ///< what the driver keeps of each block's shared memory

/// a/b, rounded up.
constexpr std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

} // namespace ricci::lowering
