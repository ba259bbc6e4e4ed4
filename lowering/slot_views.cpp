// slot_views: how views go through a chain's slots.
#include "lowering/slot_views.hpp"

#include <algorithm>
#include <numeric>

namespace ricci::lowering {

std::optional<std::vector<std::int64_t>> coordinates(std::int64_t distance, const std::vector<std::int64_t>& strides,
                                                     const std::vector<std::int64_t>& extents) {
    std::vector<std::size_t> order(strides.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return strides[a] > strides[b]; });
    std::vector<std::int64_t> out(strides.size(), 0);
    for (const auto d : order) {
        if (extents[d] == 1) continue;
        out[d] = distance / strides[d];
        distance -= out[d] * strides[d];
    }
    if (distance != 0) return {};
    return out;
}

void go_by(chain& c, std::int32_t slot, const std::vector<std::int64_t>& strides) {
    std::vector<std::int32_t> same(strides.size());
    std::iota(same.begin(), same.end(), 0);
    go_by(c, slot, strides, same);
}

void go_by(chain& c, std::int32_t slot, const std::vector<std::int64_t>& strides,
           const std::vector<std::int32_t>& dimension) {
    const auto& s = c.slots[static_cast<std::size_t>(slot)];
    const auto moved = [&](std::int64_t distance) {
        const auto steps = coordinates(distance, s.strides, s.extents).value();
        std::int64_t out = 0;
        for (std::size_t d = 0; d < steps.size(); ++d)
            if (dimension[d] >= 0) out += steps[d] * strides[static_cast<std::size_t>(dimension[d])];
        return out;
    };
    for (auto& v : c.views) {
        if (v.where != chain_view::space::slot || v.number != slot) continue;
        v.offset = moved(v.offset);
        for (auto* list : {&v.item, &v.stream, &v.inner})
            for (auto& stride : *list) stride = moved(stride);
    }
}

} // namespace ricci::lowering
