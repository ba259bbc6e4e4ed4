// chain_slots: slots that one phase reads for the last time and in which it can leave its results.
#include "lowering/chain_slots.hpp"

#include "lowering/chain_layout.hpp"
#include "lowering/chain_uses.hpp"
#include "lowering/slot_views.hpp"

#include <algorithm>
#include <optional>

namespace ricci::lowering {
namespace {

/// A slot that another one may become, and the dimension of it that each of the other's becomes; -1: it has one
/// value.
struct room {
    std::int32_t slot;
    std::vector<std::int32_t> dimension;
    std::vector<std::int64_t> extents; ///< of the box that has room for both
};

/// The dimension of its slot along which a view goes, from its first number on and one by one, where a step is
/// `stride`, and along which no other axis of its phase goes; -1: none. So what has one value of that axis has a part
/// of the slot for itself.
std::int32_t dimension_along(const chain_slot& s, const chain_phase& ph, const chain_view& v, std::int64_t stride) {
    const auto steps = coordinates(stride, s.strides, s.extents), begin = coordinates(v.offset, s.strides, s.extents);
    std::int32_t found = -1;
    for (std::size_t d = 0; steps && begin && d < steps->size(); ++d) {
        if ((*steps)[d] == 0) continue;
        if ((*steps)[d] != 1 || (*begin)[d] != 0 || found >= 0) return -1;
        found = static_cast<std::int32_t>(d);
    }
    if (found < 0) return -1;
    int along = 0;
    const auto count = [&](const std::vector<std::int64_t>& strides, const std::vector<std::int64_t>& extents) {
        for (std::size_t a = 0; a < strides.size(); ++a) {
            const auto other = coordinates(strides[a], s.strides, s.extents);
            along += extents[a] > 1 && (!other || (*other)[static_cast<std::size_t>(found)] != 0) ? 1 : 0;
        }
    };
    count(v.item, ph.items), count(v.stream, ph.stream), count(v.inner, v.inner_extent);
    return along == 1 ? found : -1;
}

/// Dimensions of a written slot, and those of the read one that they take the place of.
class pairing {
  public:
    pairing(const chain_slot& written, const chain_slot& read)
        : written_(written), read_(read), of_written_(written.extents.size(), -1), taken_(read.extents.size(), 0) {}

    /// False where one of them is none, or goes with another.
    bool add(std::int32_t written, std::int32_t read) {
        if (written < 0 || read < 0) return false;
        auto& known = of_written_[static_cast<std::size_t>(written)];
        auto& taken = taken_[static_cast<std::size_t>(read)];
        if (known == read) return true;
        if (known >= 0 || taken) return false;
        known = read, taken = 1;
        return true;
    }

    /// What is left over goes by its length.
    room finish(std::int32_t slot) && {
        room out{slot, {}, read_.extents};
        const auto left_of = [](const std::vector<std::int64_t>& extents, const auto& is_left) {
            std::vector<std::size_t> left;
            for (std::size_t d = 0; d < extents.size(); ++d)
                if (is_left(d)) left.push_back(d);
            std::stable_sort(left.begin(), left.end(),
                             [&](std::size_t a, std::size_t b) { return extents[a] > extents[b]; });
            return left;
        };
        const auto written =
            left_of(written_.extents, [&](std::size_t d) { return of_written_[d] < 0 && written_.extents[d] > 1; });
        const auto read = left_of(read_.extents, [&](std::size_t d) { return taken_[d] == 0; });
        for (std::size_t n = 0; n < written.size(); ++n) {
            if (n >= read.size()) out.extents.push_back(1);
            of_written_[written[n]] = static_cast<std::int32_t>(n < read.size() ? read[n] : out.extents.size() - 1);
        }
        for (std::size_t d = 0; d < of_written_.size(); ++d)
            if (of_written_[d] >= 0) {
                auto& extent = out.extents[static_cast<std::size_t>(of_written_[d])];
                extent = std::max(extent, written_.extents[d]);
            }
        out.dimension = std::move(of_written_);
        return out;
    }

  private:
    const chain_slot &written_, &read_;
    std::vector<std::int32_t> of_written_;
    std::vector<char> taken_;
};

class slot_user {
  public:
    slot_user(const chain& c, std::int32_t phase) : c_(c), phase_(phase) {}

    std::optional<room> room_for(std::int32_t written) const {
        const auto uses = uses_of(written);
        if (uses.size() != 1 || !uses[0].writes || uses[0].reads) return {};
        for (std::int32_t s = 0; s < static_cast<std::int32_t>(c_.slots.size()); ++s)
            if (s != written && at(s).last_phase == phase_ && at(s).first_phase < phase_)
                if (auto found = room_in(s, written, uses[0])) return found;
        return {};
    }

  private:
    using when = chain_use::when;

    const chain_slot& at(std::int32_t slot) const { return c_.slots[static_cast<std::size_t>(slot)]; }

    std::vector<chain_use> uses_of(std::int32_t slot) const {
        std::vector<chain_use> out;
        for_each_use(c_, static_cast<std::size_t>(phase_), [&](const chain_use& use) {
            if (use.view.where == chain_view::space::slot && use.view.number == slot) out.push_back(use);
        });
        return out;
    }

    /// Every item writes only where it alone has read, and after it has: pencils are read when it begins and written
    /// when it ends, others a point at a time.
    std::optional<room> room_in(std::int32_t read, std::int32_t written, const chain_use& store) const {
        const auto& ph = c_.phases[static_cast<std::size_t>(phase_)];
        pairing pairs(at(written), at(read));
        for (const auto& use : uses_of(read)) {
            if (use.writes || use.how == when::as_rows) return {};
            const auto pair = [&](const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& to,
                                  const std::vector<std::int64_t>& from) {
                for (std::size_t a = 0; a < extents.size(); ++a)
                    if (extents[a] > 1 && !pairs.add(dimension_along(at(written), ph, store.view, to[a]),
                                                     dimension_along(at(read), ph, use.view, from[a])))
                        return false;
                return true;
            };
            if (!pair(ph.items, store.view.item, use.view.item)) return {};
            if (use.how == when::around_points || store.how == when::around_points) continue;
            if (use.op > store.op || !pair(ph.stream, store.view.stream, use.view.stream)) return {};
        }
        return std::move(pairs).finish(read);
    }

    const chain& c_;
    std::int32_t phase_;
};

/// The slot becomes that with room for it, and numbers behind it move down.
void merge_slots(chain& c, std::int32_t from, const room& to) {
    auto &kept = c.slots[static_cast<std::size_t>(to.slot)], &gone = c.slots[static_cast<std::size_t>(from)];
    const auto strides = dense_strides(to.extents);
    go_by(c, from, strides, to.dimension);
    go_by(c, to.slot, strides);
    kept.extents = to.extents, kept.strides = strides;
    kept.last_phase = gone.last_phase;
    for (auto& v : c.views) {
        if (v.where != chain_view::space::slot) continue;
        if (v.number == from) v.number = to.slot;
        if (v.number > from) --v.number;
    }
    c.slots.erase(c.slots.begin() + from);
}

} // namespace

void reuse_slots(chain& c, const machine& chip) {
    const auto bytes_of = [&](const chain& of) { return vector_layout_of(of, 1, chip).bytes; };
    for (std::int32_t phase = 0; phase < static_cast<std::int32_t>(c.phases.size()); ++phase)
        for (std::int32_t s = 0; s < static_cast<std::int32_t>(c.slots.size()); ++s) {
            if (c.slots[static_cast<std::size_t>(s)].first_phase != phase) continue;
            const auto to = slot_user(c, phase).room_for(s);
            if (!to) continue;
            auto merged = c;
            merge_slots(merged, s, *to);
            if (bytes_of(merged) > bytes_of(c)) continue; // a box is there for both lives
            c = std::move(merged);
            s = -1; // numbers have changed
        }
}

} // namespace ricci::lowering
