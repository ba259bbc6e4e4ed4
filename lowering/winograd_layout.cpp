// winograd_layout: what stands where in a step of convolutions by minimal filtering, and how its kernel divides it.
#include "lowering/winograd_layout.hpp"

#include "lowering/sm_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace ricci::lowering {
namespace {

constexpr int producer_warps = 4;
constexpr std::int64_t header_bytes = 1024 + 128; ///< the matrices and barriers, as winograd.cuh has them
constexpr int most_stages = 4;



std::int64_t extent_at(const step& st, std::size_t axis) { return st.axes[axis].extent; }

std::int64_t all_of(const step& st, std::size_t (winograd_roles::*axis)(std::size_t) const) {
    return winograd_extent(st, axis, 0) * winograd_extent(st, axis, 1);
}

std::int64_t tile_count(const step& st) {
    const winograd_roles at(st);
    std::int64_t out = 1;
    for (std::size_t t = 0; t < at.tiles; ++t) out *= extent_at(st, at.tile(t));
    return out;
}

/// Registers of a thread where a block of so many warps is alone on an SM.
std::int64_t registers_of(int warps) { return std::min<std::int64_t>(registers_of_an_sm / (32 * warps) / 8 * 8, 255); }

/// Warps that multiply, for each as many points as for any other, and none of the SM's quarters with more to do than
/// need be; more of them hide more of what they wait for. None where what they and the producers hold does not fit
/// their registers.
int consumer_warps_of(const step& st, std::int64_t filters, std::int64_t tiles) {
    constexpr std::int64_t of_a_point = 32, most_warps = 16; ///< registers beside the sums
    const auto points = all_of(st, &winograd_roles::point);
    const auto producers = winograd_extent(st, &winograd_roles::input, 1) *
                               (winograd_extent(st, &winograd_roles::input, 0) +
                                winograd_extent(st, &winograd_roles::point, 0)) +
                           of_a_point;
    int best = 0;
    std::int64_t least = INT64_MAX;
    for (int warps = 1; warps <= most_warps && warps <= points; ++warps) {
        const auto of_warp = up(points, warps), sums = of_warp * filters * tiles / 32;
        if (std::max(sums + of_a_point, producers) > registers_of(warps + producer_warps)) continue;
        const auto of_quarter = up(warps, 4) * of_warp;
        if (of_quarter <= least) least = of_quarter, best = warps;
    }
    return best;
}

} // namespace

winograd_roles::winograd_roles(const step& st)
    : directions(static_cast<std::size_t>(st.tile[0])), tiles(st.axes.size() - 3 * directions - 2) {}

std::int64_t winograd_extent(const step& st, std::size_t (winograd_roles::*axis)(std::size_t) const, std::size_t d) {
    const winograd_roles at(st);
    return d < at.directions ? extent_at(st, (at.*axis)(d)) : 1;
}

std::int32_t winograd_sum(const step& st) {
    const winograd_roles at(st);
    const auto point = static_cast<std::int32_t>(at.point(0));
    for (std::size_t n = 0; n < st.nodes.size(); ++n)
        if (st.nodes[n].kind == operation::sum) {
            const auto& axes = st.sums[static_cast<std::size_t>(st.nodes[n].b)];
            if (std::find(axes.begin(), axes.end(), point) != axes.end()) return static_cast<std::int32_t>(n);
        }
    return -1;
}

scalar_type transformed_type(const step& st) { return st.operands[winograd_roles::filters].type; }

std::int64_t channels_of_stage(scalar_type transformed) { return transformed == scalar_type::f32 ? 8 : 16; }

winograd_layout winograd_layout_of(const step& st, const batched_tile& t) {
    const winograd_roles at(st);
    winograd_layout out;
    out.points = all_of(st, &winograd_roles::point);
    out.consumer_warps = t.threads / 32 - producer_warps;
    const auto bytes = channels_of_stage(transformed_type(st)) * size_of(transformed_type(st));
    out.filter_bytes = out.points * t.tile_m * bytes;
    out.stage_bytes = out.filter_bytes + out.points * t.tile_n * bytes;
    const auto& left = st.operands[0];
    const auto nearest_tile = [&] {
        std::int64_t least = INT64_MAX;
        for (std::size_t n = 0; n < at.tiles; ++n)
            if (left.stride[at.tile(n)] != 0) least = std::min(least, std::abs(left.stride[at.tile(n)]));
        return least;
    };
    out.filters_nearest = std::abs(left.stride[at.filter()]) < nearest_tile();
    const std::int64_t sums =
        4 * out.points * (out.filters_nearest ? t.tile_n * (t.tile_m + 4) : t.tile_m * t.tile_n);
    out.shared_bytes = header_bytes + std::max(t.stages * out.stage_bytes, sums);
    out.tiles = tile_count(st);
    out.tile_blocks = up(out.tiles, t.tile_n);
    out.filter_blocks = up(extent_at(st, at.filter()), t.tile_m);
    return out;
}

std::vector<batched_tile> winograd_candidates(const step& st, const machine& chip) {
    std::vector<batched_tile> out;
    if (chip.kind != target::cuda || !has_bulk_copies(chip)) return out;
    const auto filters = up(extent_at(st, winograd_roles(st).filter()), 16) * 16;
    for (const int of_block : {16, 32, 64, 128})
        for (const int tiles : {16, 32}) {
            if (of_block > 16 && of_block / 2 >= filters) continue;
            const int warps = consumer_warps_of(st, of_block, tiles);
            if (warps == 0) continue;
            batched_tile t;
            t.core = batched_core::mma;
            t.tile_m = of_block, t.tile_n = tiles, t.threads = 32 * (warps + producer_warps);
            for (t.stages = most_stages; t.stages > 1; --t.stages)
                if (winograd_layout_of(st, t).shared_bytes <= chip.shared_bytes) break;
            if (t.stages > 1) out.push_back(t);
        }
    return out;
}

double winograd_seconds(const step& st, const batched_tile& t, const machine& chip) {
    const winograd_roles at(st);
    const auto layout = winograd_layout_of(st, t);
    const auto type = transformed_type(st);
    const auto channels = channels_of_stage(type);
    const auto n = [](std::int64_t x) { return static_cast<double>(x); };
    const double points = n(layout.points), inputs = n(all_of(st, &winograd_roles::input));
    // Of an SM: cycles a tensor cores' product of 16 x 8, of its quarter; bytes a cycle from L2; multiply-adds.
    constexpr double of_product = 8, from_l2 = 28, multiply_adds = 128, not_overlapped = 300, before = 2500;
    const double passes = type == scalar_type::f32 && st.math == math_mode::full ? 3 : 1;
    const auto quarters = up(layout.consumer_warps, 4) * up(layout.points, layout.consumer_warps);
    const double products = n(quarters) * (t.tile_m / 16.0) * (t.tile_n / 8.0) * passes * of_product;
    constexpr double read_again = 0.7; // of a tile's inputs, which overlap, not all come from L1
    const double bytes = n(layout.filter_bytes) +
                         read_again * inputs * t.tile_n * n(channels * size_of(st.operands[winograd_roles::image].type));
    const auto in = [&](std::size_t d) { return n(winograd_extent(st, &winograd_roles::input, d)); };
    const auto point = [&](std::size_t d) { return n(winograd_extent(st, &winograd_roles::point, d)); };
    const auto outputs = [&](std::size_t d) { return n(winograd_extent(st, &winograd_roles::output, d)); };
    const double transform =
        t.tile_n * n(channels) * (point(0) * in(0) * in(1) + (at.directions > 1 ? points * in(1) : 0) + 2 * points);
    const double stage = std::max({products, bytes / from_l2, 1.5 * transform / multiply_adds}) + not_overlapped;
    const double back = t.tile_m * t.tile_n * (points * outputs(0) + outputs(0) * outputs(1) * point(1) + 2 * points);
    const double cycles = n(up(extent_at(st, at.channel()), channels)) * stage + before + 2 * back / multiply_adds;
    const auto rounds = up(layout.tile_blocks * layout.filter_blocks, chip.processors);
    return n(rounds) * cycles / sm_clock(chip) + chip.launch_seconds;
}

std::optional<batched_tile> choose_winograd_tile(const step& st, const machine& chip) {
    std::optional<batched_tile> best;
    double least = INFINITY;
    for (const auto& t : winograd_candidates(st, chip))
        if (const auto seconds = winograd_seconds(st, t, chip); seconds < least) least = seconds, best = t;
    return best;
}

} // namespace ricci::lowering
