// box_layout: an operand's matrix as the GPU's copy engine is told of it, which moves boxes of its lines at once:
// kernels/ptx_box.cuh.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <cstdint>
#include <optional>

namespace ricci::lowering {

inline constexpr std::int64_t box_line = 128;       ///< bytes of a line that a box has
inline constexpr std::int64_t box_alignment = 1024; ///< of a box in shared memory

/// Lines of neighbors in memory.
struct box_layout {
    std::int64_t element = 0; ///< bytes
    std::int64_t length = 0, lines = 0;
    std::int64_t between = 0; ///< bytes from one line to the next
};

/// Of C (o: 0), X (1) or Y (2), whose lines run along the one axis of class `along`, across the one of `across`. None
/// where it lies otherwise, there are more lines than a box may have, elements are larger than the copy engine's, or
/// the chip has no such copies. Whether lines start at multiples of 16 bytes, which the engine wants, is seen at
/// launch, where pointers are known.
std::optional<box_layout> boxes_of(const step& st, int o, axis_class along, axis_class across, const machine& chip);

/// Elements of a line that a box has, of so many bytes each.
constexpr std::int64_t box_elements(std::int64_t bytes) { return box_line / bytes; }

/// Of a box in shared memory: so many lines, filled up to eights.
constexpr std::int64_t box_lines(std::int64_t lines) { return (lines + 7) / 8 * 8; }
constexpr std::int64_t box_bytes(std::int64_t lines) { return box_lines(lines) * box_line; }

} // namespace ricci::lowering
