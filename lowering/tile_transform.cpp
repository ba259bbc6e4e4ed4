// tile_transform: steps that take tiles of an operand through a small matrix in each of one or two directions.
#include "lowering/tile_transform.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ricci::lowering {
namespace {

std::size_t directions_of(const step& st) { return static_cast<std::size_t>(st.tile[0]); }
const operand& image_of(const step& st) { return st.operands[static_cast<std::size_t>(st.tile[1])]; }
std::size_t tile_axes_of(const step& st) { return st.axes.size() - 2 * directions_of(st); }

/// The step with its axes in another order: new ones by old ones.
step permuted(const step& st, const std::vector<std::int32_t>& order) {
    step out = st;
    const auto in_order = [&](auto& values) {
        const auto before = values;
        for (std::size_t a = 0; a < order.size(); ++a) values[a] = before[static_cast<std::size_t>(order[a])];
    };
    in_order(out.axes);
    for (auto& o : out.operands) {
        in_order(o.stride), in_order(o.present);
        for (auto& b : o.bounds) in_order(b.coefficient);
    }
    for (auto& list : out.sums)
        for (auto& a : list) a = static_cast<std::int32_t>(std::find(order.begin(), order.end(), a) - order.begin());
    return out;
}

/// Elements of the image that a tile adds to those of its neighbors along a direction: tiles may overlap.
double own_elements(const step& st, std::size_t direction) {
    const auto& image = image_of(st);
    const auto summed = directions_of(st) + tile_axes_of(st) + direction;
    const auto step_of_element = std::abs(image.stride[summed]);
    auto own = st.axes[summed].extent;
    for (std::size_t t = 0; t < tile_axes_of(st); ++t)
        if (const auto further = std::abs(image.stride[directions_of(st) + t]);
            step_of_element > 0 && further > 0 && further % step_of_element == 0)
            own = std::min(own, further / step_of_element);
    return static_cast<double>(own);
}

} // namespace

step as_tile_transform(const step& st, std::int32_t image, const std::vector<transform_matrix>& matrices,
                       const std::vector<std::int32_t>& tiles) {
    std::vector<std::int32_t> order;
    for (const auto& m : matrices) order.push_back(m.kept);
    order.insert(order.end(), tiles.begin(), tiles.end());
    for (const auto& m : matrices) order.push_back(m.summed);
    auto out = permuted(st, order);
    out.kernel = family::tile_transform, out.shape = form::tile_transform;
    out.tile = {static_cast<std::int32_t>(matrices.size()), image, matrices.front().operand, matrices.back().operand};
    return out;
}

std::int64_t transformed_extent(const step& st, std::size_t direction) {
    return direction < directions_of(st) ? st.axes[direction].extent : 1;
}
std::int64_t source_extent(const step& st, std::size_t direction) {
    const auto first = directions_of(st) + tile_axes_of(st);
    return direction < directions_of(st) ? st.axes[first + direction].extent : 1;
}

std::int32_t transform_sum(const step& st) {
    const auto found =
        std::find_if(st.nodes.begin(), st.nodes.end(), [](const node& n) { return n.kind == operation::sum; });
    return static_cast<std::int32_t>(found - st.nodes.begin());
}

std::int64_t transformed_tiles(const step& st) {
    std::int64_t tiles = 1;
    for (std::size_t t = 0; t < tile_axes_of(st); ++t) tiles *= st.axes[directions_of(st) + t].extent;
    return tiles;
}

estimate tile_transform_cost(const step& st, const machine& chip) {
    const auto n = [](std::int64_t x) { return static_cast<double>(x); };
    const double tiles = n(transformed_tiles(st));
    const double outputs = n(transformed_extent(st, 0) * transformed_extent(st, 1));
    double read = 1;
    for (std::size_t d = 0; d < directions_of(st); ++d) read *= own_elements(st, d);
    estimate out;
    out.bytes = tiles * (read * n(size_of(image_of(st).type)) +
                         outputs * n(size_of(st.operands[0].type)) * (st.op == assignment::assign ? 1 : 2));
    out.flops = 2 * tiles * n(transformed_extent(st, 0) * source_extent(st, 1)) *
                n(source_extent(st, 0) + transformed_extent(st, 1));
    out.seconds = std::max(out.bytes / chip.bandwidth, out.flops / chip.flops_f32) + chip.launch_seconds;
    return out;
}

double tile_transform_seconds(const step& st, const machine& chip) {
    constexpr double of_memory = 0.75, of_arithmetic = 0.4;
    const auto cost = tile_transform_cost(st, chip);
    return std::max(cost.bytes / (of_memory * chip.bandwidth), cost.flops / (of_arithmetic * chip.flops_f32)) +
           chip.launch_seconds;
}

} // namespace ricci::lowering
