// box_layout: an operand's matrix as the GPU's copy engine is told of it, which moves boxes of its lines at once:
// kernels/ptx_box.cuh.
#pragma once

#include "lowering/machine.hpp"
#include "lowering/plan.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace ricci::lowering {

inline constexpr std::int64_t box_line = 128;       ///< bytes of a line that a box has
inline constexpr std::int64_t box_alignment = 1024; ///< of a box in shared memory

/// Neighbors in memory are lines, these lie in planes, of which there may be one: elements, lines, planes.
struct box_layout {
    std::int64_t element = 0;              ///< bytes
    std::array<std::int64_t, 3> extent{};  ///< of the operand
    std::array<std::int64_t, 2> between{}; ///< bytes from one line, one plane to the next
    std::array<std::int64_t, 3> box{};     ///< at once
    bool exchanged = false;                ///< whether a line's pieces of 16 bytes change places in shared memory
    /// > 0: the matrix, of so many bytes, begins anywhere, and the map at the last multiple of 16 bytes before it
    std::int64_t bytes_from_anywhere = 0;
    /// Of such a map >= 0: bytes from the matrix's beginning to its last line, behind which no box asks for anything.
    std::int64_t last_line = -1;
};

/// Whether the copy engine takes such lines, where the first begins at a multiple of 16 bytes.
constexpr bool are_aligned(const box_layout& b) { return b.between[0] % 16 == 0 && b.between[1] % 16 == 0; }

/// Whether the copy engine may have boxes of a matrix at this address.
constexpr bool takes_boxes_at(const box_layout& b, std::uint64_t address) {
    const auto alignment = b.bytes_from_anywhere > 0 ? b.element : 16;
    return are_aligned(b) && address % static_cast<std::uint64_t>(alignment) == 0;
}

/// Elements of a line, from where a box of its may begin: all that are there.
constexpr std::int64_t line_length(const box_layout& b, std::uint64_t address) {
    if (b.last_line < 0) return b.extent[0];
    const auto last = (address + static_cast<std::uint64_t>(b.last_line)) / 16 * 16,
               end = (address + static_cast<std::uint64_t>(b.bytes_from_anywhere) + 15) / 16 * 16;
    return static_cast<std::int64_t>(end - last) / b.element;
}

/// Of C (o: 0), X (1) or Y (2), whose lines run along the one axis of class `along`, across the one of `across`, in
/// boxes of box_line bytes of all lines, exchanged. None where it lies otherwise, there are more lines than a box may
/// have, elements are larger than the copy engine's, or the chip has no such copies. Whether lines start at multiples
/// of 16 bytes, which the engine wants, is seen at launch, where pointers are known.
std::optional<box_layout> boxes_of(const step& st, int o, axis_class along, axis_class across, const machine& chip);

/// Elements of a line that a box has, of so many bytes each.
constexpr std::int64_t box_elements(std::int64_t bytes) { return box_line / bytes; }

/// Of a box in shared memory: so many lines, filled up to eights.
constexpr std::int64_t box_lines(std::int64_t lines) { return (lines + 7) / 8 * 8; }
constexpr std::int64_t box_bytes(std::int64_t lines) { return box_lines(lines) * box_line; }

} // namespace ricci::lowering
