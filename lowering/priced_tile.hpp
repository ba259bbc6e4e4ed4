// priced_tile: parameters of a kernel with what a model expects them to cost, and their order.
#pragma once

#include "lowering/plan.hpp"

#include <algorithm>
#include <vector>

namespace ricci::lowering {

struct priced_tile {
    batched_tile tile;
    double seconds = 0;
};

/// The cheapest first; those that cost the same as they come.
inline void sort_by_price(std::vector<priced_tile>& all) {
    std::stable_sort(all.begin(), all.end(),
                     [](const priced_tile& a, const priced_tile& b) { return a.seconds < b.seconds; });
}

inline std::vector<batched_tile> cheapest_first(std::vector<priced_tile> all) {
    sort_by_price(all);
    std::vector<batched_tile> out;
    for (const auto& p : all) out.push_back(p.tile);
    return out;
}

} // namespace ricci::lowering
