// find_fills: which step sets what another one adds to.
#include "lowering/find_fills.hpp"

#include "lowering/gathers.hpp"
#include "lowering/same_memory.hpp"
#include "lowering/scatter_shape.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <utility>
#include <vector>

namespace ricci::lowering {
namespace {

/// Elements at offset + the sums of stride*n, n in [0, extent), in one form for each set: strides rise, and an axis
/// that goes on where the one before it ends is a part of it.
class element_set {
  public:
    explicit element_set(std::int64_t offset) : offset_(offset) {}

    void add(std::int64_t stride, std::int64_t extent) {
        if (extent < 2) return;
        if (stride < 0) offset_ += stride * (extent - 1), stride = -stride;
        axes_.emplace_back(stride, extent);
    }
    void join() {
        std::sort(axes_.begin(), axes_.end());
        std::vector<std::pair<std::int64_t, std::int64_t>> joined;
        for (const auto& a : axes_) {
            if (!joined.empty() && joined.back().first * joined.back().second == a.first)
                joined.back().second *= a.second;
            else
                joined.push_back(a);
        }
        axes_ = std::move(joined);
    }
    bool operator==(const element_set&) const = default;

  private:
    std::int64_t offset_;
    std::vector<std::pair<std::int64_t, std::int64_t>> axes_; ///< stride and extent
};

element_set set_by(const step& fill) {
    const auto& left = fill.operands[0];
    element_set out(left.offset);
    for (std::size_t a = 0; a < fill.axes.size(); ++a)
        if (left.present[a]) out.add(left.stride[a], fill.axes[a].extent);
    out.join();
    return out;
}

element_set added_to(const step& adding, const scatter_shape& shape) {
    const auto& left = adding.operands[0];
    element_set out(left.offset + shape.lowest);
    for (std::size_t a = 0; a < adding.axes.size(); ++a)
        if (left.present[a] && !shape.has_axis(a)) out.add(left.stride[a], adding.axes[a].extent);
    out.add(shape.unit, shape.keys);
    out.join();
    return out;
}

bool sets_to_scalar(const step& st) {
    return st.op == assignment::assign && st.operands.size() == 1 && st.nodes.size() == 1 &&
           st.nodes[0].kind == operation::scalar && st.operands[0].bounds.empty() && st.operands[0].gathers.empty();
}

std::optional<std::size_t> fill_of(const plan& p, std::size_t adding) {
    const auto& st = p.steps[adding];
    const auto& left = st.operands[0];
    if (collision_of(st) != collision::ordered || st.group >= 0 || left.source < 0 || !left.bounds.empty()) return {};
    const auto memory = memory_of(p, left.source);
    if (std::any_of(st.operands.begin() + 1, st.operands.end(),
                    [&](const operand& o) { return may_meet(p, o, memory); }))
        return {};
    for (auto n = adding; n-- > 0;) {
        const auto& before = p.steps[n];
        if (!may_meet(p, before, memory)) continue;
        const auto& set = before.operands[0];
        if (!sets_to_scalar(before) || before.group >= 0 || before.chain >= 0 || set.source != left.source ||
            set.type != left.type)
            return {};
        const auto shape = scatter_shape_of(st);
        const bool all_tables = shape.gathers.size() == left.gathers.size();
        return all_tables && set_by(before) == added_to(st, shape) ? std::optional(n) : std::nullopt;
    }
    return {};
}

} // namespace

plan find_fills(plan p) {
    for (std::size_t n = 0; n < p.steps.size(); ++n)
        if (const auto fill = fill_of(p, n)) {
            p.steps[n].fill = static_cast<std::int32_t>(*fill);
            p.notes.push_back(fmt::format("step {} sets what step {} adds to: one pass does both where it sets 0 and "
                                          "at least half of the elements get something",
                                          *fill + 1, n + 1));
        }
    return p;
}

} // namespace ricci::lowering
