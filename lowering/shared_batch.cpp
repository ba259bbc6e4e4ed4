// shared_batch: whether several axes of one side are a batch.
#include "lowering/shared_batch.hpp"

#include "lowering/families.hpp"
#include "lowering/temporaries.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

/// Whether the matrices along `axis` follow one another in an operand: those of the axis `own` and of all axes that
/// are not of the side.
bool is_apart(const step& st, const operand& o, std::int32_t axis, std::int32_t own,
              const std::vector<std::int32_t>& side) {
    std::uint64_t span = 1;
    for (std::int32_t a = 0; a < static_cast<std::int32_t>(st.axes.size()); ++a) {
        const auto at = static_cast<std::size_t>(a);
        if (o.present[at] && (a == own || std::find(side.begin(), side.end(), a) == side.end()))
            span += static_cast<std::uint64_t>(st.axes[at].extent - 1) * magnitude(o.stride[at]);
    }
    return magnitude(o.stride[static_cast<std::size_t>(axis)]) >= span;
}

} // namespace

std::int32_t side_of_matrices(const step& st, const std::vector<std::int32_t>& side, std::int32_t x) {
    if (side.size() < 2) return -1;
    const auto& c = st.operands[0];
    const auto step_of = [&](std::int32_t a) { return magnitude(c.stride[static_cast<std::size_t>(a)]); };
    const auto own =
        *std::min_element(side.begin(), side.end(), [&](auto a, auto b) { return step_of(a) < step_of(b); });
    if (st.axes[static_cast<std::size_t>(own)].extent > largest_batched) return -1;
    for (const auto a : side) {
        if (a == own) continue;
        for (const auto o : {std::int32_t{0}, x})
            if (!is_apart(st, st.operands[static_cast<std::size_t>(o)], a, own, side)) return -1;
    }
    return own;
}

} // namespace ricci::lowering
