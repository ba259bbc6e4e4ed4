// kernel_cover: the fewest parameter sets that are nearly the best at every size.
#include "tools/kernel_cover.hpp"

#include <ricci/lowering/families.hpp>
#include <ricci/lowering/print.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace ricci::tools {

namespace {

using namespace lowering;

double best_of(const std::map<std::string, double>& times) {
    return std::min_element(times.begin(), times.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->second;
}

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
    constexpr double rounding = 1e-12;
    std::set<std::string> all;
    std::set<std::size_t> open;
    for (std::size_t n = 0; n < times.size(); ++n) {
        if (!times[n].empty()) open.insert(n);
        for (const auto& [pattern, seconds] : times[n]) all.insert(pattern);
    }
    const auto sizes = static_cast<double>(open.size());
    while (!open.empty()) {
        std::string best;
        std::size_t most = 0;
        double least = INFINITY; // summed losses, among those that serve as many
        for (const auto& pattern : all) {
            std::size_t served = 0;
            double loss = 0;
            for (const auto n : open) {
                const auto found = times[n].find(pattern);
                if (found == times[n].end()) continue;
                const auto ratio = found->second / best_of(times[n]);
                if (ratio > 1 + tolerance + rounding) continue;
                ++served;
                loss += ratio - 1;
            }
            if (served > most || (served == most && served > 0 && loss < least))
                best = pattern, most = served, least = loss;
        }
        std::erase_if(open, [&](std::size_t n) {
            const auto found = times[n].find(best);
            return found != times[n].end() && found->second <= best_of(times[n]) * (1 + tolerance + rounding);
        });
        out.patterns.push_back(best);
    }
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

std::string trade_off(const pattern_times& times) {
    std::string out = "tolerance  kernels  worst loss  mean loss\n";
    for (const int percent : {0, 1, 2, 5, 10, 20}) {
        const auto c = cover(times, percent / 100.0);
        out += fmt::format("{:>8}%  {:>7}  {:>9.1f}%  {:>8.1f}%\n", percent, c.patterns.size(), 100 * c.worst,
                           100 * c.mean);
    }
    return out;
}

} // namespace ricci::tools
