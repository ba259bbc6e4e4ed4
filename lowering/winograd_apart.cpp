// winograd_apart: a convolution by minimal filtering as three steps.
#include "lowering/winograd_apart.hpp"

#include "lowering/find_batches.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ricci::lowering {
namespace {

constexpr std::int64_t most_tiles = 1LL << 30; ///< of 32 bits that the kernel counts in

std::size_t at(std::int32_t n) { return static_cast<std::size_t>(n); }

/// A local's dimensions: by which axes of two steps an access goes through it.
struct dimensions {
    const std::vector<std::int32_t>&first, &second;

    /// The axis of the other step.
    std::int32_t second_of(std::int32_t axis) const {
        return second[at(static_cast<std::int32_t>(std::find(first.begin(), first.end(), axis) - first.begin()))];
    }
    std::int32_t first_of(std::int32_t axis) const { return dimensions{second, first}.second_of(axis); }
};

std::int64_t distance(const operand& o, std::int32_t axis) { return std::abs(o.stride[at(axis)]); }

/// Gives an access of a local strides: dense, `order` of its axes.
void lay_out(const step& st, operand& local, const std::vector<std::int32_t>& order) {
    std::int64_t next = 1;
    for (const auto axis : order) {
        local.stride[at(axis)] = next;
        next *= st.axes[at(axis)].extent;
    }
}

/// The tiles' axes and another: before them where its elements are the nearest ones.
std::vector<std::int32_t> beside(const std::vector<std::int32_t>& tiles, std::int32_t plane, bool is_nearest) {
    auto out = tiles;
    out.insert(is_nearest ? out.begin() : out.end(), plane);
    return out;
}

} // namespace

std::optional<winograd_apart> as_three_steps(winograd_statements all, const winograd_structure& of) {
    const dimensions v{all.v_read, all.v_written}, m{all.m_written, all.m_read}; // of M's step, of V's and O's
    // Points in the filters' order, whose places are given.
    std::vector<std::int32_t> points;
    for (const auto& t : of.behind) points.push_back(m.first_of(t.summed));
    const auto& u = all.product.operands[at(of.u)];
    std::sort(points.begin(), points.end(),
              [&](std::int32_t a, std::int32_t b) { return distance(u, a) < distance(u, b); });

    const auto& image = all.inputs.operands[at(of.d)];
    const auto& output = all.outputs.operands[0];
    const bool channels_nearest = std::all_of(of.tiles.begin(), of.tiles.end(), [&](std::int32_t t) {
        return distance(image, v.second_of(of.channel)) < distance(image, v.second_of(t));
    });
    const bool filters_nearest = distance(output, m.second_of(of.filter)) < distance(output, of.behind.front().kept);
    const auto of_v = beside(of.tiles, of.channel, channels_nearest),
               of_m = beside(of.tiles, of.filter, filters_nearest);

    const auto mapped = [](const std::vector<std::int32_t>& axes, const dimensions& d) {
        std::vector<std::int32_t> out;
        for (const auto a : axes) out.push_back(d.second_of(a));
        return out;
    };
    const auto with_points = [&](std::vector<std::int32_t> order) {
        order.insert(order.end(), points.begin(), points.end());
        return order;
    };
    lay_out(all.inputs, all.inputs.operands[0], mapped(with_points(of_v), v));
    lay_out(all.product, all.product.operands[all.v], with_points(of_v));
    lay_out(all.product, all.product.operands[0], with_points(of_m));
    lay_out(all.outputs, all.outputs.operands[all.m], mapped(with_points(of_m), m));
    winograd_apart out{as_tile_transform(all.inputs, of.d, of.before, mapped(of_v, v)),
                       {},
                       as_tile_transform(all.outputs, static_cast<std::int32_t>(all.m), of.behind, mapped(of_m, m)),
                       all.v,
                       all.m};
    if (std::max(transformed_tiles(out.inputs), transformed_tiles(out.outputs)) > most_tiles) return {};
    // How many tiles there are may change.
    plan product;
    product.steps.push_back(std::move(all.product));
    out.product = std::move(find_batches(std::move(product)).steps.front());
    return out;
}

} // namespace ricci::lowering
