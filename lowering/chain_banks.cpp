// chain_banks: how a chain's slots lie in a GPU's shared memory.
#include "lowering/chain_banks.hpp"

#include "lowering/bank_conflicts.hpp"
#include "lowering/chain_call_work.hpp"
#include "lowering/slot_views.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ricci::lowering {
namespace {

/// A slot's strides, and the numbers from one element to the next.
struct spacing {
    std::vector<std::int64_t> strides;
    std::int64_t step = 0;
};

/// The first warps' accesses through the views of a slot.
class slot_accesses {
  public:
    slot_accesses(const chain& c, std::int32_t slot) : bytes_(static_cast<int>(size_of(c.compute))) {
        const auto& s = c.slots[static_cast<std::size_t>(slot)];
        for (const auto& v : c.views) {
            if (v.where != chain_view::space::slot || v.number != slot) continue;
            const auto& ph = c.phases[static_cast<std::size_t>(v.phase)];
            // Of a call an item's lanes go along the rows.
            const std::int64_t lanes = ph.call ? lanes_of(*ph.call) : 1,
                               rows = ph.call && !v.inner.empty() ? v.inner_extent[0] : 1;
            accesses here{threads_of(ph), 0, {}};
            for (std::int64_t thread = 0; thread < threads; ++thread) {
                auto rest = thread % here.items / lanes, at = v.offset;
                if (rows > 1) at += v.inner[0] * std::min(thread % lanes, rows - 1);
                for (std::size_t a = 0; a < ph.items.size(); ++a)
                    at += rest % ph.items[a] * v.item[a], rest /= ph.items[a];
                here.coordinates.push_back(coordinates(at, s.strides, s.extents).value());
            }
            const auto same = std::ranges::find_if(all_, [&](const accesses& known) {
                return known.items == here.items && known.coordinates == here.coordinates;
            });
            auto& kept = same == all_.end() ? all_.emplace_back(std::move(here)) : *same;
            kept.count += static_cast<double>(kept.items) *
                          static_cast<double>(v.inner_extent.empty() ? ph.point_count() : product_of(v.inner_extent));
        }
    }

    /// Passes through shared memory; of more than `most` at least as many.
    double passes(const spacing& to, double most) const {
        double out = 0;
        for (const auto& v : all_)
            for (int first = 0; first < threads && out <= most; first += warp)
                out += v.count * wavefronts(bytes_, [&](int lane) {
                           const auto& at = v.coordinates[static_cast<std::size_t>(first + lane)];
                           return bytes_ * std::inner_product(at.begin(), at.end(), to.strides.begin(),
                                                              (first + lane) / v.items * to.step);
                       });
        return out;
    }

  private:
    static constexpr int threads = 4 * warp;
    struct accesses {
        std::int64_t items = 0;
        double count = 0;                                   ///< numbers of an element
        std::vector<std::vector<std::int64_t>> coordinates; ///< by thread
    };
    int bytes_;
    std::vector<accesses> all_;
};

/// Dense ones in every order of up to three dimensions, and with gaps behind the nearest two.
std::vector<spacing> spacings_of(const chain_slot& s) {
    constexpr std::int64_t most_gap[] = {3, 7};
    std::vector<std::size_t> order(s.extents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<spacing> out;
    do {
        const auto gaps_behind = [&](std::size_t n) { return order.size() > n + 1 ? most_gap[n] : 0; };
        for (std::int64_t first = 0; first <= gaps_behind(0); ++first)
            for (std::int64_t second = 0; second <= gaps_behind(1); ++second) {
                spacing one{std::vector<std::int64_t>(order.size()), 1};
                for (std::size_t n = 0; n < order.size(); ++n) {
                    one.strides[order[n]] = one.step;
                    one.step *= s.extents[order[n]];
                    one.step += n == 0 ? first : n == 1 ? second : 0;
                }
                out.push_back(std::move(one));
            }
    } while (order.size() <= 3 && std::next_permutation(order.begin(), order.end()));
    return out;
}

/// The shortest of those with few passes.
spacing best_of(const std::vector<spacing>& all, const slot_accesses& accesses) {
    constexpr double as_good = 1.05;
    double least = std::numeric_limits<double>::infinity();
    std::vector<double> passes;
    for (const auto& one : all) {
        passes.push_back(accesses.passes(one, as_good * least));
        least = std::min(least, passes.back());
    }
    const spacing* best = nullptr;
    for (std::size_t n = 0; n < all.size(); ++n)
        if (passes[n] <= as_good * least && (best == nullptr || all[n].step < best->step)) best = &all[n];
    return *best;
}

} // namespace

void space_slots(chain& c) {
    constexpr std::int64_t most_apart = 12; // numbers more
    for (std::size_t n = 0; n < c.slots.size(); ++n) {
        const auto number = static_cast<std::int32_t>(n);
        const slot_accesses accesses(c, number);
        std::vector<spacing> all;
        for (const auto& one : spacings_of(c.slots[n]))
            for (std::int64_t more = 0; more < most_apart; ++more) all.push_back({one.strides, one.step + more});
        const auto best = best_of(all, accesses);
        auto& slot = c.slots[n];
        go_by(c, number, best.strides);
        slot.strides = best.strides, slot.step = best.step;
    }
}

} // namespace ricci::lowering
