// gett_product: products whose sides and sum have any axes, and whose operands may be padded.
#include "lowering/gett_product.hpp"

#include "lowering/families.hpp"
#include "lowering/gathers.hpp"
#include "lowering/gett_blocks.hpp"
#include "lowering/gett_packed.hpp"
#include "lowering/temporaries.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ricci::lowering {
namespace {

using enum axis_class;

/// The sum's axes the other way round than fuse_axes leaves them, for loops: the nearest in memory comes first, whose
/// steps are packed one after another.
step with_nearest_steps_first(step st) {
    const auto axes = axes_of(st, k);
    for (std::size_t n = 0; n < axes.size() / 2; ++n) {
        const auto a = static_cast<std::size_t>(axes[n]), b = static_cast<std::size_t>(axes[axes.size() - 1 - n]);
        std::swap(st.axes[a], st.axes[b]);
        for (auto& o : st.operands) {
            std::swap(o.stride[a], o.stride[b]);
            std::swap(o.present[a], o.present[b]);
            for (auto& of : o.bounds) std::swap(of.coefficient[a], of.coefficient[b]);
        }
    }
    return st;
}

} // namespace

bool fits_gett(const step& st, const machine& chip) {
    if (st.classes.empty() || is_gathered(st)) return false;
    if (std::find(st.classes.begin(), st.classes.end(), other) != st.classes.end()) return false;
    if (std::any_of(st.operands.begin(), st.operands.end(), [](const operand& o) { return o.in_place; }))
        return false;
    if (!st.operands[0].bounds.empty()) return false;
    if (element_count(st.axes, std::vector<char>(st.axes.size(), 1)) == 0) return false; // nothing to multiply
    return chip.kind == target::cuda ? fits_gett_blocks(st, chip) : fits_gett_packed(st, chip);
}

step as_gett(step st, const machine& chip) {
    st = with_nearest_steps_first(std::move(st));
    if (chip.kind == target::cuda) return with_long_rows(std::move(st));
    const auto least = [&](const step& s) {
        const auto seconds = gett_seconds(s, gett_tiles(s, chip), chip);
        return seconds.empty() ? INFINITY : *std::min_element(seconds.begin(), seconds.end());
    };
    auto other = with_sides_swapped(st);
    return least(other) < least(st) ? other : st;
}

std::vector<batched_tile> gett_tiles(const step& st, const machine& chip) {
    return chip.kind == target::cuda ? gett_block_tiles(st, chip) : gett_packed_tiles(st, chip);
}

std::vector<double> gett_seconds(const step& st, const std::vector<batched_tile>& tiles, const machine& chip) {
    return chip.kind == target::cuda ? gett_block_seconds(st, tiles, chip) : gett_packed_seconds(st, tiles, chip);
}

double gett_seconds_here(const step& st, const batched_tile& tile, const machine& chip) {
    return chip.kind == target::cuda ? gett_block_seconds_here(st, tile, chip)
                                     : gett_packed_seconds_here(st, tile, chip);
}

} // namespace ricci::lowering
