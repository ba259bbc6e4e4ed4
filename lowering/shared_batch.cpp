// shared_batch: whether several axes of one side are a batch.
#include "lowering/shared_batch.hpp"

#include "lowering/families.hpp"
#include "lowering/temporaries.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

bool holds(const std::vector<std::int32_t>& axes, std::int32_t axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// Whether the matrices along `axis` follow one another in an operand: those of the axes `own` and of all axes that
/// are not of the side.
bool is_apart(const step& st, const operand& o, std::int32_t axis, const std::vector<std::int32_t>& own,
              const std::vector<std::int32_t>& side) {
    std::uint64_t span = 1;
    for (std::int32_t a = 0; a < static_cast<std::int32_t>(st.axes.size()); ++a) {
        const auto at = static_cast<std::size_t>(a);
        if (o.present[at] && (holds(own, a) || !holds(side, a)))
            span += static_cast<std::uint64_t>(st.axes[at].extent - 1) * magnitude(o.stride[at]);
    }
    return magnitude(o.stride[static_cast<std::size_t>(axis)]) >= span;
}

/// Whether stepping past the end of `inner` is one step of `outer`.
bool follows(const step& st, const operand& o, std::int32_t inner, std::int32_t outer) {
    const auto in = static_cast<std::size_t>(inner), out = static_cast<std::size_t>(outer);
    std::int64_t reach = 0;
    return !__builtin_mul_overflow(o.stride[in], st.axes[in].extent, &reach) && o.stride[out] == reach;
}

} // namespace

std::vector<std::int32_t> side_of_matrices(const step& st, const std::vector<std::int32_t>& side, std::int32_t x) {
    if (side.size() < 2) return {};
    const auto &c = st.operands[0], &from = st.operands[static_cast<std::size_t>(x)];
    const auto step_of = [&](std::int32_t a) { return magnitude(c.stride[static_cast<std::size_t>(a)]); };
    auto ordered = side;
    std::stable_sort(ordered.begin(), ordered.end(), [&](auto a, auto b) { return step_of(a) < step_of(b); });
    std::vector<std::int32_t> own;
    std::int64_t rows = 1;
    for (std::size_t n = 0; n + 1 < ordered.size(); ++n) {
        const auto a = ordered[n];
        if (n > 0 && !(follows(st, c, own.back(), a) && follows(st, from, own.back(), a))) return {};
        own.push_back(a);
        const auto extent = st.axes[static_cast<std::size_t>(a)].extent;
        if (__builtin_mul_overflow(rows, extent, &rows) || rows > largest_batched) return {};
        const bool apart =
            std::all_of(ordered.begin() + static_cast<std::ptrdiff_t>(n) + 1, ordered.end(), [&](auto b) {
                return is_apart(st, c, b, own, side) && is_apart(st, from, b, own, side);
            });
        if (apart) return own;
    }
    return {};
}

} // namespace ricci::lowering
