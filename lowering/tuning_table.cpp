// tuning_table: parameters that measured best, by key.
#include "lowering/tuning_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ricci::lowering {
namespace {

constexpr double farthest = 0.5; ///< of a neighbor, log2

double distance(const std::array<std::int64_t, 3>& a, const std::array<std::int64_t, 3>& b) {
    double out = 0;
    for (std::size_t n = 0; n < a.size(); ++n)
        if (a[n] != b[n])
            out = std::max(out, a[n] == 0 || b[n] == 0
                                    ? INFINITY
                                    : std::abs(std::log2(static_cast<double>(a[n]) / static_cast<double>(b[n]))));
    return out;
}

/// Up to which class entries serve a key: batches of any length take one kernel, whose blocks take fewer products;
/// but tall-skinny kernels have rows of a block as a constant, of which a low matrix would make few blocks.
int last_class(const tuning_key& key) {
    const bool tall = std::find(key.sizes.begin(), key.sizes.end(), 0) != key.sizes.end();
    return static_cast<int>(tall && key.batch == batch_class::few ? batch_class::few : batch_class::many);
}

} // namespace

const tuned_tile* tuning_table::find(const tuning_key& key) const {
    auto wanted = key;
    for (auto c = static_cast<int>(key.batch); c <= last_class(key); ++c) {
        wanted.batch = static_cast<batch_class>(c);
        if (const auto found = entries_.find(wanted); found != entries_.end()) return &found->second;
    }
    return nullptr;
}

std::vector<tuning_table::neighbor> tuning_table::near(const tuning_key& key, std::size_t most) const {
    std::vector<neighbor> out;
    for (auto c = static_cast<int>(key.batch); c <= last_class(key) && out.empty(); ++c) {
        const auto batch = static_cast<batch_class>(c);
        for (auto at = entries_.lower_bound({key.layout, batch, {}, {}});
             at != entries_.end() && at->first.layout == key.layout && at->first.batch == batch; ++at)
            if (const auto d = distance(at->first.sizes, key.sizes); d <= farthest)
                out.push_back({&at->first, &at->second, d});
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const neighbor& a, const neighbor& b) { return a.distance < b.distance; });
    out.resize(std::min(out.size(), most));
    return out;
}

} // namespace ricci::lowering
