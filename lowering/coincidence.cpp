// coincidence: can two strided accesses touch the same byte?
#include "lowering/coincidence.hpp"

#include <algorithm>

namespace ricci::lowering {
namespace {

__extension__ typedef __int128 wide;

wide floor_divide(wide a, wide b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }
wide ceil_divide(wide a, wide b) { return -floor_divide(-a, b); }

/// Depth first over the terms, largest stride first: the smaller terms reach only so far, which leaves few values for
/// each.
class search {
  public:
    search(std::vector<bounded_term> terms, bool except_all_zero, bool unknown)
        : terms_(std::move(terms)), except_zero_(except_all_zero), unknown_(unknown) {
        std::sort(terms_.begin(), terms_.end(), [](const auto& a, const auto& b) { return a.stride > b.stride; });
        lowest_.assign(terms_.size() + 1, 0);
        highest_.assign(terms_.size() + 1, 0);
        for (std::size_t t = terms_.size(); t-- > 0;) {
            lowest_[t] = lowest_[t + 1] + static_cast<wide>(terms_[t].stride) * terms_[t].low;
            highest_[t] = highest_[t + 1] + static_cast<wide>(terms_[t].stride) * terms_[t].high;
        }
    }

    bool run(wide low, wide high) {
        const bool found = from(0, low, high, true);
        return steps_ > most_steps ? unknown_ : found;
    }

  private:
    bool from(std::size_t t, wide low, wide high, bool all_zero) {
        if (++steps_ > most_steps) return true; // ends the search; run() knows
        if (lowest_[t] > high || highest_[t] < low) return false;
        if (t == terms_.size()) return !(except_zero_ && all_zero); // lowest = highest = 0 lies within
        const auto& term = terms_[t];
        const wide first = std::max<wide>(term.low, ceil_divide(low - highest_[t + 1], term.stride));
        const wide last = std::min<wide>(term.high, floor_divide(high - lowest_[t + 1], term.stride));
        for (wide v = first; v <= last; ++v)
            if (from(t + 1, low - v * term.stride, high - v * term.stride, all_zero && v == 0)) return true;
        return false;
    }

    std::vector<bounded_term> terms_;
    std::vector<wide> lowest_, highest_; ///< what terms t, t + 1, ... can reach together
    static constexpr int most_steps = 100'000;
    bool except_zero_, unknown_;
    int steps_ = 0;
};

} // namespace

bool has_solution(std::vector<bounded_term> terms, std::int64_t low, std::int64_t high, bool except_all_zero,
                  bool unknown) {
    std::vector<bounded_term> kept;
    for (auto t : terms) {
        if (t.low > t.high) return false;
        if (t.stride == 0) {
            if (except_all_zero && t.low < t.high) return low <= 0 && high >= 0;
            continue;
        }
        if (t.stride < 0) t = {-t.stride, -t.high, -t.low};
        if (except_all_zero) {
            kept.push_back(t);
            continue;
        }
        // Equal strides add up to one term; with except_all_zero two of them could cancel, so they stay apart.
        const auto same = std::find_if(kept.begin(), kept.end(), [&](const auto& k) { return k.stride == t.stride; });
        if (same == kept.end()) kept.push_back(t);
        else same->low += t.low, same->high += t.high;
    }
    return search(std::move(kept), except_all_zero, unknown).run(low, high);
}

} // namespace ricci::lowering
