// box_layout: an operand's matrix as the GPU's copy engine is told of it.
#include "lowering/box_layout.hpp"

#include "lowering/families.hpp"
#include "lowering/sm_limits.hpp"

namespace ricci::lowering {

std::optional<box_layout> boxes_of(const step& st, int o, axis_class along, axis_class across, const machine& chip) {
    constexpr std::int64_t most_lines = 256, largest_element = 8, most_length = std::int64_t{1} << 31,
                           most_between = std::int64_t{1} << 40;
    const auto& x = operand_of(st, o);
    const auto in_line = axes_of(st, along), of_lines = axes_of(st, across);
    if (!has_bulk_copies(chip) || in_line.size() != 1 || of_lines.size() != 1 || !x.gathers.empty())
        return std::nullopt;
    const auto a = static_cast<std::size_t>(in_line.front()), b = static_cast<std::size_t>(of_lines.front());
    const auto element = size_of(x.type), length = st.axes[a].extent, lines = st.axes[b].extent;
    const bool fits = x.stride[a] == 1 && element <= largest_element && length < most_length && lines <= most_lines &&
                      x.stride[b] * element < most_between && x.stride[b] >= length;
    if (!fits) return std::nullopt;
    return box_layout{element,
                      {length, lines, 1},
                      {x.stride[b] * element, 0},
                      {box_elements(element), lines, 1},
                      true};
}

} // namespace ricci::lowering
