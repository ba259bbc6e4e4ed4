// sm_limits: what the blocks of a kernel share of a GPU's SM, the same on all that ricci knows.
#pragma once

#include "lowering/machine.hpp"

#include <bit>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace ricci::lowering {

inline constexpr int warp = 32; ///< threads
inline constexpr std::int64_t registers_of_an_sm = 65536, threads_of_an_sm = 2048, blocks_of_an_sm = 32;
inline constexpr std::int64_t shared_of_a_block = 1024; ///< what the driver keeps of each block's shared memory

/// Shared memory that an SM's blocks have together, bytes: one may have all but the driver's.
inline std::int64_t shared_of_an_sm(const machine& chip) { return chip.shared_bytes + shared_of_a_block; }

/// 90 of sm_90; `otherwise` of what has another name: the tests' emulator.
inline int capability_of(const machine& chip, int otherwise) {
    const std::string_view name = chip.architecture;
    if (name.starts_with("sm_")) std::from_chars(name.data() + 3, name.data() + name.size(), otherwise);
    return otherwise;
}

/// Whether the kernels' bulk copies are the copy engine's.
inline bool has_bulk_copies(const machine& chip) { return capability_of(chip, 90) >= 90; }

/// a/b, rounded up.
constexpr std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
/// The greatest power of two to n, or 1.
constexpr std::int64_t power_of_two_to(std::int64_t n) {
    return n < 2 ? 1 : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n)));
}
/// The next multiple from a on.
constexpr std::int64_t up_to(std::int64_t a, std::int64_t multiple) { return up(a, multiple) * multiple; }

} // namespace ricci::lowering
