// fewest_kernels: keeps, of what was measured for many sizes, the fewest kernels that are nearly the best at each.
#include "tools/fewest_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace ricci::tools {

using namespace lowering;
using runtime::candidate;
using outcome = candidate::outcome;

pattern_times times_of(const std::vector<tuned_job>& results, target where) {
    pattern_times out;
    for (const auto& each : results) {
        auto& row = out.emplace_back();
        for (const auto& c : each.last().candidates) {
            if (c.result != outcome::measured || !each.last().best) continue;
            auto& least = row.try_emplace(pattern_of(each.job->step(), c.tile, where), c.seconds).first->second;
            least = std::min(least, c.seconds);
        }
    }
    return out;
}

std::vector<batched_tile> tiles_of(const tuned_job& each, const std::set<std::string>& patterns, target where) {
    constexpr std::size_t most_of_pattern = 4;
    std::map<std::string, std::pair<std::vector<batched_tile>, std::vector<batched_tile>>> found; // measured, or not
    for (const auto& c : each.result.candidates) {
        auto pattern = pattern_of(each.job->step(), c.tile, where);
        if (!patterns.contains(pattern)) continue;
        auto& [measured, others] = found[std::move(pattern)];
        if (c.result == outcome::measured || c.result == outcome::abandoned) measured.push_back(c.tile);
        if ((c.result == outcome::pruned || c.result == outcome::alike) && others.size() < most_of_pattern)
            others.push_back(c.tile);
    }
    std::vector<batched_tile> out;
    for (const auto& [pattern, tiles] : found) {
        const auto& chosen = tiles.first.empty() ? tiles.second : tiles.first;
        out.insert(out.end(), chosen.begin(), chosen.end());
    }
    return out;
}

void keep_fewest(std::FILE* text, const std::vector<tuned_job>& results, double tolerance, target where,
                 runtime::tuning_database& database) {
    const auto times = times_of(results, where);
    const auto kept = cover(times, tolerance);
    const bool is_all = std::all_of(results.begin(), results.end(), [](const auto& each) { return each.again; });
    const std::string_view doubt = kept.patterns.size() < 2 ? ""
                                   : !is_all                ? "; fewer might do: not all were measured at every size"
                                   : !kept.is_fewest        ? "; fewer might do: to find out would take too long"
                                                            : "";
    fmt::print(text, "\n{}\n{} kernel{} for a tolerance of {:.3g}%, worst loss {:.1f}%, mean {:.1f}%{}:\n",
               trade_off(times, is_all ? tolerance : -1), kept.patterns.size(), kept.patterns.size() == 1 ? "" : "s",
               100 * tolerance, 100 * kept.worst, 100 * kept.mean, doubt);
    for (const auto& pattern : kept.patterns) fmt::print(text, "  {}\n", pattern);
    tuning_table table;
    for (const auto& each : results) {
        const candidate* best = nullptr;
        for (const auto& c : each.last().candidates) {
            const bool is_chosen = c.result == outcome::measured && each.last().best &&
                                   std::find(kept.patterns.begin(), kept.patterns.end(),
                                             pattern_of(each.job->step(), c.tile, where)) != kept.patterns.end();
            if (is_chosen && (best == nullptr || c.seconds < best->seconds)) best = &c;
        }
        if (best != nullptr) table.put(each.result.key, {best->tile, best->seconds});
    }
    database.keep(table);
}

} // namespace ricci::tools
