// kernel_cover: the fewest parameter sets that are nearly the best at every size.
#include "tools/kernel_cover.hpp"

#include <ricci/lowering/families.hpp>
#include <ricci/lowering/print.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

namespace ricci::tools {

namespace {

using namespace lowering;

constexpr double rounding = 1e-12;
constexpr std::size_t most_nodes = 100'000; ///< of the search: about a second

double best_of(const std::map<std::string, double>& times) {
    return std::min_element(times.begin(), times.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->second;
}

using numbers = std::vector<std::size_t>; ///< ascending

/// Which patterns serve which sizes: are within the tolerance there.
struct service {
    std::vector<std::string> patterns;
    std::vector<numbers> of_size;                      ///< the patterns that serve a size; none where it has no times
    std::vector<std::map<std::size_t, double>> served; ///< by a pattern: sizes and losses

    service(const pattern_times& times, double tolerance) : of_size(times.size()) {
        std::set<std::string> names;
        for (const auto& row : times)
            for (const auto& each : row) names.insert(each.first);
        patterns.assign(names.begin(), names.end());
        served.resize(patterns.size());
        for (std::size_t n = 0; n < times.size(); ++n) {
            if (times[n].empty()) continue;
            const double best = best_of(times[n]);
            for (std::size_t p = 0; p < patterns.size(); ++p) {
                const auto found = times[n].find(patterns[p]);
                if (found == times[n].end()) continue;
                const auto loss = found->second / best - 1;
                if (loss > tolerance + rounding) continue;
                of_size[n].push_back(p);
                served[p].emplace(n, loss);
            }
        }
    }
};

/// Of `allowed`, in turn, the pattern that serves the most sizes not served yet; of equal ones the one that loses the
/// least there.
numbers greedy(const service& all, const numbers& allowed) {
    numbers out;
    std::vector<bool> is_served(all.of_size.size());
    for (;;) {
        std::size_t best = 0, most = 0;
        double least = INFINITY;
        for (const auto p : allowed) {
            std::size_t count = 0;
            double loss = 0;
            for (const auto& [size, its] : all.served[p])
                if (!is_served[size]) ++count, loss += its;
            if (count > most || (count == most && count > 0 && loss < least)) best = p, most = count, least = loss;
        }
        if (most == 0) return out;
        for (const auto& each : all.served[best]) is_served[each.first] = true;
        out.push_back(best);
    }
}

bool contains(const numbers& all, const numbers& part) {
    return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

/// Branch and bound for fewer patterns than a cover that is known: the size with the fewest patterns to choose from
/// is served first, and what is still to serve takes at least as many patterns as it has sizes that share none.
class search {
  public:
    search(const service& all, numbers known) : best_(std::move(known)) {
        std::set<numbers> rows(all.of_size.begin(), all.of_size.end());
        rows.erase(numbers{});
        for (const auto& row : rows) // who serves a size with fewer to choose from serves this one
            if (std::none_of(rows.begin(), rows.end(),
                             [&](const numbers& other) { return &other != &row && contains(row, other); }))
                rows_.push_back(row);
        std::sort(rows_.begin(), rows_.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
        served_by_.resize(all.patterns.size());
        for (std::size_t n = 0; n < rows_.size(); ++n)
            for (const auto p : rows_[n]) served_by_[p].push_back(n);
        times_served_.resize(rows_.size());
        touched_.resize(all.patterns.size());
    }

    /// The fewest; what `known` was, or the fewest found, where that takes too long: then is_exact() is false.
    const numbers& run() {
        descend();
        return best_;
    }
    bool is_exact() const { return nodes_ <= most_nodes; }

  private:
    void descend() {
        if (++nodes_ > most_nodes) return;
        const auto open = std::find(times_served_.begin(), times_served_.end(), 0) - times_served_.begin();
        if (static_cast<std::size_t>(open) == rows_.size()) {
            best_ = chosen_; // the bound let only fewer come here
            return;
        }
        if (chosen_.size() + least_to_come() >= best_.size()) return;
        auto patterns = rows_[static_cast<std::size_t>(open)];
        const auto gain = [&](std::size_t p) {
            return std::count_if(served_by_[p].begin(), served_by_[p].end(),
                                 [&](std::size_t n) { return times_served_[n] == 0; });
        };
        std::stable_sort(patterns.begin(), patterns.end(),
                         [&](std::size_t a, std::size_t b) { return gain(a) > gain(b); });
        for (const auto p : patterns) {
            for (const auto n : served_by_[p]) ++times_served_[n];
            chosen_.push_back(p);
            descend();
            chosen_.pop_back();
            for (const auto n : served_by_[p]) --times_served_[n];
        }
    }

    std::size_t least_to_come() {
        std::fill(touched_.begin(), touched_.end(), false);
        std::size_t out = 0;
        for (std::size_t n = 0; n < rows_.size(); ++n) {
            if (times_served_[n] > 0 ||
                std::any_of(rows_[n].begin(), rows_[n].end(), [&](std::size_t p) { return touched_[p]; }))
                continue;
            ++out;
            for (const auto p : rows_[n]) touched_[p] = true;
        }
        return out;
    }

    std::vector<numbers> rows_; ///< the patterns of each size that matters, those with the fewest first
    std::vector<numbers> served_by_;
    std::vector<int> times_served_;
    std::vector<bool> touched_;
    numbers chosen_, best_;
    std::size_t nodes_ = 0;
};

} // namespace

std::string pattern_of(const step& st, const batched_tile& tile, target where) {
    auto t = tile;
    t.k_unrolled = 1;
    if (where == target::cpu || st.kernel != family::batched_small) return to_string(t, st, where);
    constexpr double step_of_size = 12 << 10;
    const auto bytes = [&](std::int32_t o) { return size_of(st.operands[static_cast<std::size_t>(o)].type); };
    const auto em = extent_of(st, axis_class::m), en = extent_of(st, axis_class::n),
               ek = extent_of(st, axis_class::k);
    const auto block =
        static_cast<double>(t.products * (em * en * bytes(0) + em * ek * bytes(st.x) + ek * en * bytes(st.y)));
    t.products = 1;
    return fmt::format("{}, {} KB", to_string(t, where), 12 * std::max(1.0, std::round(block / step_of_size)));
}

kernel_cover cover(const pattern_times& times, double tolerance) {
    kernel_cover out;
    const service all(times, tolerance);
    numbers every(all.patterns.size());
    std::iota(every.begin(), every.end(), 0);
    search fewest(all, greedy(all, every));
    auto chosen = fewest.run();
    std::sort(chosen.begin(), chosen.end());
    for (const auto p : greedy(all, chosen)) out.patterns.push_back(all.patterns[p]);
    out.is_fewest = fewest.is_exact();
    const auto sizes =
        static_cast<double>(std::count_if(times.begin(), times.end(), [](const auto& row) { return !row.empty(); }));
    for (const auto& row : times) {
        if (row.empty()) continue;
        double least = INFINITY;
        for (const auto& pattern : out.patterns)
            if (const auto found = row.find(pattern); found != row.end()) least = std::min(least, found->second);
        const auto loss = least / best_of(row) - 1;
        out.worst = std::max(out.worst, loss);
        out.mean += loss / sizes;
    }
    return out;
}

std::set<std::string> near_best(const pattern_times& times, double tolerance) {
    std::set<std::string> out;
    for (const auto& row : times)
        for (const auto& [pattern, seconds] : row)
            if (seconds <= best_of(row) * (1 + tolerance + rounding)) out.insert(pattern);
    return out;
}

std::string trade_off(const pattern_times& times, double measured_to) {
    std::string out = "tolerance  kernels  worst loss  mean loss\n";
    for (const int percent : {0, 1, 2, 5, 10, 20}) {
        const auto c = cover(times, percent / 100.0);
        const bool is_fewest = c.patterns.size() < 2 || (c.is_fewest && percent / 100.0 <= measured_to + rounding);
        out +=
            fmt::format("{:>8}%  {:>7}  {:>9.1f}%  {:>8.1f}%\n", percent,
                        fmt::format("{}{}", is_fewest ? "" : "<= ", c.patterns.size()), 100 * c.worst, 100 * c.mean);
    }
    return out;
}

} // namespace ricci::tools
