// contraction_order: in which order to contract the factors of a product, pair by pair.
#include "lowering/contraction_order.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace ricci::lowering {

double size_of(const label_set& labels, const std::vector<double>& extents) {
    double product = 1;
    for (std::size_t a = 0; a < extents.size(); ++a)
        if (labels[a]) product *= extents[a];
    return product;
}

namespace {

struct cost {
    double flops = 0, bytes = 0;
    bool operator<(const cost& o) const { return flops != o.flops ? flops < o.flops : bytes < o.bytes; }
};

double flops_of(const label_set& x, const label_set& y, const label_set& result, const std::vector<double>& extents,
                const mirrored_axes& mirrored) {
    const double flops = 2 * size_of(x | y, extents);
    if (mirrored.first < 0) return flops;
    const auto first = static_cast<std::size_t>(mirrored.first), second = static_cast<std::size_t>(mirrored.second);
    const bool divides = result == mirrored.whole && x[first] != x[second] && y[first] != y[second];
    return divides ? mirrored.share * flops : flops;
}

/// Of contracting x with y, or, without a y, of summing the axes that x alone has.
cost cost_of(const label_set& x, const label_set* y, const label_set& result, const std::vector<double>& extents,
             double element_bytes, const mirrored_axes& mirrored) {
    const auto own = size_of(x, extents), kept = size_of(result, extents);
    if (y == nullptr) return {own, element_bytes * (own + kept)};
    return {flops_of(x, *y, result, extents, mirrored), element_bytes * (own + size_of(*y, extents) + kept)};
}

class orderer {
  public:
    orderer(const std::vector<label_set>& factors, const label_set& kept, const std::vector<double>& extents,
            double element_bytes, const mirrored_axes& mirrored)
        : factors_(factors), kept_(kept), extents_(extents), element_bytes_(element_bytes), mirrored_(mirrored) {
        out_.leaves = static_cast<int>(factors.size());
    }

    pair_order run() {
        reduce_leaves();
        if (items_.size() <= 12) exact();
        else greedy();
        return std::move(out_);
    }

  private:
    struct item {
        int number;
        label_set labels;
    };

    double size(const label_set& labels) const { return size_of(labels, extents_); }

    cost cost_of(const label_set& x, const label_set& y, const label_set& result) const {
        return lowering::cost_of(x, &y, result, extents_, element_bytes_, mirrored_);
    }

    int add(int left, int right, const label_set& result, cost c) {
        out_.pairs.push_back({left, right, result});
        out_.flops += c.flops;
        out_.bytes += c.bytes;
        return out_.leaves + static_cast<int>(out_.pairs.size()) - 1;
    }

    /// An axis that one factor alone has, and that is summed, is summed before the factor meets others.
    void reduce_leaves() {
        for (std::size_t f = 0; f < factors_.size(); ++f) {
            label_set needed = kept_;
            for (std::size_t g = 0; g < factors_.size(); ++g)
                if (g != f) needed |= factors_[g];
            const auto reduced = factors_[f] & needed;
            int number = static_cast<int>(f);
            if (size(reduced) * 2 <= size(factors_[f]))
                number = add(number, -1, reduced,
                             lowering::cost_of(factors_[f], nullptr, reduced, extents_, element_bytes_, mirrored_));
            items_.push_back({number, number == static_cast<int>(f) ? factors_[f] : reduced});
        }
    }

    void exact() {
        const auto count = items_.size();
        const std::size_t subsets = std::size_t{1} << count;
        std::vector<label_set> together(subsets), result(subsets);
        std::vector<double> result_size(subsets);
        std::vector<cost> best(subsets);
        std::vector<std::uint32_t> split(subsets, 0);
        for (std::size_t set = 1; set < subsets; ++set)
            for (std::size_t i = 0; i < count; ++i)
                if (set >> i & 1) together[set] |= items_[i].labels;
        for (std::size_t set = 1; set < subsets; ++set) {
            result[set] = together[set] & (kept_ | together[subsets - 1 - set]);
            if ((set & (set - 1)) == 0) { // a leaf keeps its own axes
                result[set] = together[set];
                result_size[set] = size(result[set]);
                continue;
            }
            result_size[set] = size(result[set]);
            best[set] = {std::numeric_limits<double>::infinity(), 0};
            const auto lowest = set & (~set + 1); // stands in the left part, so that each split is seen once
            for (std::size_t left = (set - 1) & set; left != 0; left = (left - 1) & set) {
                if (!(left & lowest)) continue;
                const auto right = set ^ left;
                cost c{best[left].flops + best[right].flops,
                       best[left].bytes + best[right].bytes +
                           element_bytes_ * (result_size[left] + result_size[right] + result_size[set])};
                if (c.flops > best[set].flops) continue;
                c.flops += flops_of(result[left], result[right], result[set], extents_, mirrored_);
                if (c < best[set]) best[set] = c, split[set] = static_cast<std::uint32_t>(left);
            }
        }
        emit(subsets - 1, split, result);
    }

    item emit(std::size_t set, const std::vector<std::uint32_t>& split, const std::vector<label_set>& result) {
        if ((set & (set - 1)) == 0) {
            std::size_t i = 0;
            while (!(set >> i & 1)) ++i;
            return items_[i];
        }
        const auto left = emit(split[set], split, result);
        const auto right = emit(set ^ split[set], split, result);
        return {add(left.number, right.number, result[set], cost_of(left.labels, right.labels, result[set])),
                result[set]};
    }

    void greedy() {
        while (items_.size() > 1) {
            cost best{std::numeric_limits<double>::infinity(), 0};
            std::size_t at_x = 0, at_y = 1;
            label_set best_result;
            for (std::size_t x = 0; x < items_.size(); ++x)
                for (std::size_t y = x + 1; y < items_.size(); ++y) {
                    label_set needed = kept_;
                    for (std::size_t z = 0; z < items_.size(); ++z)
                        if (z != x && z != y) needed |= items_[z].labels;
                    const auto result = (items_[x].labels | items_[y].labels) & needed;
                    const auto c = cost_of(items_[x].labels, items_[y].labels, result);
                    if (c < best) best = c, at_x = x, at_y = y, best_result = result;
                }
            items_[at_x] = {add(items_[at_x].number, items_[at_y].number, best_result, best), best_result};
            items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(at_y));
        }
    }

    const std::vector<label_set>& factors_;
    const label_set& kept_;
    const std::vector<double>& extents_;
    double element_bytes_;
    const mirrored_axes& mirrored_;
    std::vector<item> items_;
    pair_order out_;
};

} // namespace

namespace {

/// An order in which each pair adds one factor to what there is, as the factors' numbers; empty where it is none.
std::vector<int> as_sequence(const pair_order& order) {
    std::vector<int> out;
    for (std::size_t p = 0; p < order.pairs.size(); ++p) {
        const auto &pair = order.pairs[p];
        const int last = order.leaves + static_cast<int>(p) - 1;
        if (p == 0) out = {pair.left, pair.right};
        else if (pair.left == last) out.push_back(pair.right);
        else if (pair.right == last) out.push_back(pair.left);
        else return {};
        if (out.back() < 0 || out.back() >= order.leaves || out.front() >= order.leaves) return {};
    }
    return out;
}

pair_order from_sequence(const std::vector<int>& sequence, const std::vector<label_set>& factors,
                         const label_set& kept) {
    pair_order out;
    out.leaves = static_cast<int>(factors.size());
    auto labels = factors[static_cast<std::size_t>(sequence[0])];
    int last = sequence[0];
    for (std::size_t n = 1; n < sequence.size(); ++n) {
        label_set needed = kept;
        for (auto later = n + 1; later < sequence.size(); ++later)
            needed |= factors[static_cast<std::size_t>(sequence[later])];
        labels = (labels | factors[static_cast<std::size_t>(sequence[n])]) & needed;
        out.pairs.push_back({last, sequence[n], labels});
        last = out.leaves + static_cast<int>(n) - 1;
    }
    return out;
}

/// Takes the sequence instead of `best`, if it costs no more. Whether it does.
bool take_if_as_cheap(pair_order& best, const std::vector<int>& sequence, const std::vector<label_set>& factors,
                      const label_set& kept, const std::vector<double>& extents, double element_bytes,
                      const mirrored_axes& mirrored) {
    auto again = at_extents(from_sequence(sequence, factors, kept), factors, extents, element_bytes, mirrored);
    if (again.flops > best.flops || again.bytes > best.bytes) return false;
    best = std::move(again);
    return true;
}

/// The pair that multiplies the axes there are by a factor point by point, between others: values at points are made,
/// multiplied, and summed again. 0: there is none.
std::size_t pair_at_points(const pair_order& order) {
    for (std::size_t p = 1; p + 1 < order.pairs.size(); ++p)
        if (order.pairs[p].result == order.pairs[p - 1].result) return p;
    return 0;
}

/// Of orders that cost the same, one in which the axis that was made last before a factor that is multiplied point by
/// point is summed first behind it: a chain then does the three without storing anything between (B*u along c, D times
/// that, B along c again).
pair_order around_points(const pair_order& order, const std::vector<label_set>& factors, const label_set& kept,
                         const std::vector<double>& extents, double element_bytes, const mirrored_axes& mirrored) {
    auto sequence = as_sequence(order);
    if (sequence.size() < 4 || sequence.size() != factors.size()) return order;
    auto best = order;
    for (std::size_t p = 2; p + 1 < sequence.size(); ++p) {
        label_set before = factors[static_cast<std::size_t>(sequence[0])], made;
        const auto now = from_sequence(sequence, factors, kept);
        if (p >= 3) before = now.pairs[p - 3].result;
        const auto here = now.pairs[p - 2].result;
        made = here & ~before;
        const bool is_pointwise = (factors[static_cast<std::size_t>(sequence[p])] & ~here).none() &&
                                  now.pairs[p - 1].result == here;
        if (!is_pointwise || made.none()) continue;
        for (auto n = p + 1; n < sequence.size(); ++n) {
            if ((factors[static_cast<std::size_t>(sequence[n])] & made).none()) continue;
            auto moved = sequence;
            const auto first = moved.begin() + static_cast<std::ptrdiff_t>(p) + 1,
                       chosen = moved.begin() + static_cast<std::ptrdiff_t>(n);
            std::rotate(first, chosen, chosen + 1);
            if (take_if_as_cheap(best, moved, factors, kept, extents, element_bytes, mirrored))
                sequence = std::move(moved);
            break;
        }
    }
    return best;
}

} // namespace

pair_order contraction_order(const std::vector<label_set>& factors, const label_set& kept,
                             const std::vector<double>& extents, double element_bytes,
                             const mirrored_axes& mirrored) {
    return around_points(orderer(factors, kept, extents, element_bytes, mirrored).run(), factors, kept, extents,
                         element_bytes, mirrored);
}

pair_order at_extents(pair_order order, const std::vector<label_set>& factors, const std::vector<double>& extents,
                      double element_bytes, const mirrored_axes& mirrored) {
    auto items = factors;
    order.flops = order.bytes = 0;
    for (const auto& pair : order.pairs) {
        const auto* right = pair.right < 0 ? nullptr : &items[static_cast<std::size_t>(pair.right)];
        const auto here =
            cost_of(items[static_cast<std::size_t>(pair.left)], right, pair.result, extents, element_bytes, mirrored);
        order.flops += here.flops, order.bytes += here.bytes;
        items.push_back(pair.result);
    }
    return order;
}

pair_order along_other_axes(const pair_order& order, const std::vector<label_set>& factors, const label_set& kept,
                            const std::vector<double>& extents, double element_bytes, const mirrored_axes& mirrored,
                            const neighbor_axes& neighbors) {
    auto sequence = as_sequence(order);
    if (sequence.size() < 3 || sequence.size() != factors.size()) return order;
    const auto points = pair_at_points(order);
    if (points == 0) return order;
    auto best = order;
    const auto try_swapped = [&](std::vector<int> moved, std::size_t a, std::size_t b) {
        std::swap(moved[a], moved[b]);
        take_if_as_cheap(best, moved, factors, kept, extents, element_bytes, mirrored);
    };
    const auto has = [](const label_set& labels, int axis) {
        return axis >= 0 && labels[static_cast<std::size_t>(axis)];
    };
    const auto at = [&](std::size_t n) { return static_cast<std::size_t>(sequence[n]); };

    const std::size_t large = factors[at(0)].count() >= factors[at(1)].count() ? 0 : 1;
    const bool may_begin = points > 2, may_end = order.pairs.size() > points + 3;
    if (may_begin && may_end) {
        // The one before the points, and the one behind that sums what it makes.
        const auto last = points, behind = points + 2;
        const auto make = [&](int axis) {
            for (auto n = last + 1; n-- > 0;)
                if (n != large && has(factors[at(n)], axis)) return n;
            return sequence.size();
        };
        const auto sum = [&](int axis) {
            for (auto n = behind; n < sequence.size(); ++n)
                if (has(factors[at(n)], axis)) return n;
            return sequence.size();
        };
        const auto of_points = at(points + 1);
        const auto& axes =
            of_points < neighbors.by_stride.size() ? neighbors.by_stride[of_points] : std::vector<int>{};
        for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
            const auto maker = make(*axis), summer = sum(*axis);
            if (maker == sequence.size() || summer == sequence.size()) continue;
            std::swap(sequence[maker], sequence[last]);
            try_swapped(sequence, summer, behind);
            sequence = as_sequence(best);
            break;
        }
    }

    // What was made last before the points is summed first behind them, in one phase: those two keep their places.
    const auto first = (factors[at(0)] | factors[at(1)]) & ~best.pairs.front().result;
    if (may_begin && has(first, neighbors.factors[at(large)]) && !has(factors[at(2)], neighbors.factors[at(large)]))
        try_swapped(sequence, 1 - large, 2);

    const auto now = as_sequence(best);
    const auto before = best.pairs[best.pairs.size() - 2].result;
    if (may_end && has(best.pairs.back().result & ~before, neighbors.result))
        try_swapped(now, now.size() - 2, now.size() - 1);
    return best;
}

} // namespace ricci::lowering
