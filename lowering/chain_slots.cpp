// chain_slots: slots that one phase reads for the last time and in which it can leave its results; their banks.
#include "lowering/chain_slots.hpp"

#include "lowering/bank_conflicts.hpp"
#include "lowering/chain_uses.hpp"

#include <algorithm>
#include <utility>

namespace ricci::lowering {
namespace {

using strides_and_extents = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Along the stream and the pencil's own axes, in no order.
strides_and_extents of_item(const chain& c, const chain_view& v) {
    const auto& ph = c.phases[static_cast<std::size_t>(v.phase)];
    strides_and_extents out;
    const auto add = [&](const std::vector<std::int64_t>& strides, const std::vector<std::int64_t>& extents) {
        for (std::size_t a = 0; a < strides.size(); ++a)
            if (strides[a] != 0 && extents[a] > 1) out.emplace_back(strides[a], extents[a]);
    };
    add(v.stream, ph.stream), add(v.inner, v.inner_extent);
    std::sort(out.begin(), out.end());
    return out;
}

class slot_user {
  public:
    slot_user(const chain& c, std::int32_t phase) : c_(c), phase_(phase) {}

    /// The slot that slot `written` may become; -1: none.
    std::int32_t place_for(std::int32_t written) const {
        const auto uses = uses_of(written);
        if (uses.size() != 1 || !uses[0].writes || uses[0].reads) return -1;
        for (std::int32_t s = 0; s < static_cast<std::int32_t>(c_.slots.size()); ++s) {
            const auto& slot = c_.slots[static_cast<std::size_t>(s)];
            if (s != written && slot.last_phase == phase_ && slot.first_phase < phase_ &&
                slot.length == c_.slots[static_cast<std::size_t>(written)].length && is_read_before(s, uses[0]))
                return s;
        }
        return -1;
    }

  private:
    using when = chain_use::when;

    std::vector<chain_use> uses_of(std::int32_t slot) const {
        std::vector<chain_use> out;
        for_each_use(c_, static_cast<std::size_t>(phase_), [&](const chain_use& use) {
            if (use.view.where == chain_view::space::slot && use.view.number == slot) out.push_back(use);
        });
        return out;
    }

    /// Whether every item has read what it replaces: pencils when it begins, others a point at a time.
    bool is_read_before(std::int32_t slot, const chain_use& store) const {
        const auto uses = uses_of(slot);
        return std::all_of(uses.begin(), uses.end(), [&](const chain_use& use) {
            const auto& v = use.view;
            const bool same_items = v.offset == store.view.offset && v.item == store.view.item &&
                                    of_item(c_, v) == of_item(c_, store.view);
            const bool same_points = use.op <= store.op && v.stream == store.view.stream;
            return !use.writes && use.how != when::as_rows && same_items &&
                   (use.how == when::around_points || store.how == when::around_points || same_points);
        });
    }

    const chain& c_;
    std::int32_t phase_;
};

/// Slot `from` becomes slot `to`, and numbers behind it move down.
void merge_slots(chain& c, std::int32_t from, std::int32_t to) {
    auto& kept = c.slots[static_cast<std::size_t>(to)];
    kept.last_phase = c.slots[static_cast<std::size_t>(from)].last_phase;
    for (auto& v : c.views) {
        if (v.where != chain_view::space::slot) continue;
        if (v.number == from) v.number = to;
        if (v.number > from) --v.number;
    }
    c.slots.erase(c.slots.begin() + from);
}

/// Passes through shared memory of the first warps of a phase, for a view of elements that lie `step` apart.
double passes(const chain& c, const chain_view& v, std::int64_t step) {
    constexpr int warps = 4;
    const auto& ph = c.phases[static_cast<std::size_t>(v.phase)];
    const auto bytes = size_of(c.compute);
    double out = 0;
    for (int w = 0; w < warps; ++w)
        out += wavefronts(static_cast<int>(bytes), [&](int lane) {
            const std::int64_t thread = w * warp + lane, items = ph.item_count();
            auto at = thread / items * step, rest = thread % items;
            for (std::size_t a = 0; a < ph.items.size(); ++a)
                at += rest % ph.items[a] * v.item[a], rest /= ph.items[a];
            return at * bytes;
        });
    const auto of_item = v.inner_extent.empty() ? ph.point_count() : product_of(v.inner_extent);
    return out * static_cast<double>(of_item) * static_cast<double>(ph.item_count());
}

} // namespace

void space_slots(chain& c) {
    constexpr std::int64_t most_apart = 16; // numbers more
    for (std::size_t s = 0; s < c.slots.size(); ++s) {
        auto& slot = c.slots[s];
        double least = 0;
        for (auto step = slot.length; step < slot.length + most_apart; ++step) {
            double all = 0;
            for (const auto& v : c.views)
                if (v.where == chain_view::space::slot && v.number == static_cast<std::int32_t>(s))
                    all += passes(c, v, step);
            if (step == slot.length || all < least) least = all, slot.step = step;
        }
    }
}

void reuse_slots(chain& c) {
    for (std::int32_t phase = 0; phase < static_cast<std::int32_t>(c.phases.size()); ++phase)
        for (std::int32_t s = 0; s < static_cast<std::int32_t>(c.slots.size()); ++s) {
            if (c.slots[static_cast<std::size_t>(s)].first_phase != phase) continue;
            if (const auto to = slot_user(c, phase).place_for(s); to >= 0) {
                merge_slots(c, s, to);
                s = -1; // numbers have changed
            }
        }
}

} // namespace ricci::lowering
