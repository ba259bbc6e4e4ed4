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
std::int64_t registers_of(int warps) {
    return std::min<std::int64_t>(registers_of_an_sm / (32 * warps) / 8 * 8, 255);
}

constexpr std::int64_t beside_arrays = 32; ///< registers, for what is not an array

/// Of a thread that transforms: a channel's inputs, and what they are along one direction.
std::int64_t producer_registers(const step& st) {
    return winograd_extent(st, &winograd_roles::input, 1) *
               (winograd_extent(st, &winograd_roles::input, 0) + winograd_extent(st, &winograd_roles::point, 0)) +
           beside_arrays;
}

/// Warps that multiply, for each as many points as for any other, and none of the SM's quarters with more to do than
/// need be; more of them hide more of what they wait for. None where what they and the producers hold does not fit
/// their registers.
int consumer_warps_of(const step& st, std::int64_t filters, std::int64_t tiles) {
    constexpr std::int64_t most_warps = 16;
    const auto points = all_of(st, &winograd_roles::point);
    int best = 0;
    std::int64_t least = INT64_MAX;
    for (int warps = 1; warps <= most_warps && warps <= points; ++warps) {
        const auto of_warp = up(points, warps), sums = of_warp * filters * tiles / 32;
        if (std::max(sums + beside_arrays, producer_registers(st)) > registers_of(warps + producer_warps)) continue;
        const auto of_quarter = up(warps, 4) * of_warp;
        if (of_quarter <= least) least = of_quarter, best = warps;
    }
    return best;
}

/// As winograd_inputs.cuh has it.
bool keeps_input_matrix(const step& st) {
    return has_one_input_matrix(st) && all_of(st, &winograd_roles::input) <= 36;
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

bool has_one_input_matrix(const step& st) {
    const winograd_roles at(st);
    if (at.directions < 2) return false;
    const auto &x = st.operands[at.input_matrix(0)], &y = st.operands[at.input_matrix(1)];
    return x.source == y.source && x.type == y.type && x.offset == y.offset &&
           x.stride[at.point(0)] == y.stride[at.point(1)] && x.stride[at.input(0)] == y.stride[at.input(1)] &&
           extent_at(st, at.point(0)) == extent_at(st, at.point(1)) &&
           extent_at(st, at.input(0)) == extent_at(st, at.input(1));
}

scalar_type transformed_type(const step& st) { return st.operands[winograd_roles::filters].type; }

std::int64_t channels_of_stage(scalar_type transformed) { return transformed == scalar_type::f32 ? 8 : 16; }

winograd_layout winograd_layout_of(const step& st, const batched_tile& t) {
    const winograd_roles at(st);
    winograd_layout out;
    out.points = all_of(st, &winograd_roles::point);
    out.consumer_warps = t.threads / 32 - producer_warps;
    // Registers change hands in groups of four warps, eight for each thread or a multiple.
    const auto own = registers_of(t.threads / 32), given = (own - producer_registers(st)) / 8 * 8;
    const auto taken = given * producer_warps / std::max(out.consumer_warps, 1) / 8 * 8;
    constexpr std::int64_t most = 168; // with more each has enough
    if (out.consumer_warps % 4 == 0 && given > 0 && taken > 0 && own < most) {
        out.consumer_registers = static_cast<int>(own + taken);
        out.producer_registers = static_cast<int>(own - taken * out.consumer_warps / producer_warps);
    }
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
    const auto pass_bytes = [&](std::int64_t k) {
        return 4 * out.points * t.tile_n * (out.filters_nearest ? k + 4 : k);
    };
    out.filters_of_pass = t.tile_m;
    while (out.filters_of_pass > 16 && pass_bytes(out.filters_of_pass) > out.stage_bytes) out.filters_of_pass /= 2;
    out.stage_bytes = std::max(out.stage_bytes, pass_bytes(out.filters_of_pass));
    out.shared_bytes = header_bytes + t.stages * out.stage_bytes;
    out.tiles = tile_count(st);
    out.tile_blocks = up(out.tiles, t.tile_n);
    out.filter_blocks = up(extent_at(st, at.filter()), t.tile_m);
    out.stage_count = up(extent_at(st, at.channel()), channels_of_stage(transformed_type(st)));
    return out;
}

input_vectors input_vectors_of(const step& st) {
    const winograd_roles at(st);
    const auto& image = st.operands[winograd_roles::image];
    if (size_of(image.type) != 4 || image.stride[at.input(0)] != 1) return {};
    for (const std::int64_t length : {4, 2}) {
        const auto lead = ((-image.offset) % length + length) % length;
        const auto is_multiple = [&](std::int64_t x) { return x % length == 0; };
        bool fits = true;
        for (std::size_t a = 0; a < st.axes.size(); ++a)
            fits = fits && (a == at.input(0) || is_multiple(image.stride[a]));
        for (const auto& b : image.bounds) {
            if (b.coefficient[at.input(0)] == 0) continue;
            fits = fits && b.coefficient[at.input(0)] == 1 && is_multiple(b.offset + lead) && is_multiple(b.extent);
            for (std::size_t a = 0; a < st.axes.size(); ++a)
                fits = fits && (a == at.input(0) || is_multiple(b.coefficient[a]));
        }
        if (fits) return {static_cast<int>(length), static_cast<int>(lead)};
    }
    return {};
}

std::int64_t winograd_workspace_bytes(const step& st, const batched_tile& t) {
    const auto layout = winograd_layout_of(st, t);
    return layout.filter_blocks * layout.stage_count * layout.filter_bytes;
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

bool winograd_pays(const step& st) {
    constexpr std::int64_t least_filters = 16, most_padding = 8; // 64 channels to 3 are padded 5 times
    const winograd_roles at(st);
    const auto channels = channels_of_stage(transformed_type(st));
    const auto padded = [](std::int64_t extent, std::int64_t unit) { return up(extent, unit) * unit; };
    const auto filters = extent_at(st, at.filter()), own = extent_at(st, at.channel());
    return padded(filters, least_filters) * padded(own, channels) <= most_padding * filters * own;
}

estimate winograd_cost(const step& st, const machine& chip) {
    const winograd_roles at(st);
    const auto n = [](std::int64_t x) { return static_cast<double>(x); };
    const auto extent = [&](std::size_t (winograd_roles::*axis)(std::size_t) const, std::size_t d) {
        return n(winograd_extent(st, axis, d));
    };
    using r = winograd_roles;
    const double tiles = n(tile_count(st)), filters = n(extent_at(st, at.filter())),
                 channels = n(extent_at(st, at.channel())), points = n(all_of(st, &r::point)),
                 outputs = n(all_of(st, &r::output));
    const auto bytes = [&](std::size_t o) { return n(size_of(st.operands[o].type)); };
    estimate out;
    // Of the image as much as there are outputs: tiles overlap.
    out.bytes =
        tiles * outputs * (channels * bytes(r::image) + filters * bytes(0) * (st.op == assignment::assign ? 1 : 2)) +
        points * filters * channels * bytes(r::filters);
    const double before = (points + extent(&r::point, 0) * extent(&r::input, 1)) * extent(&r::input, 0),
                 behind = (outputs + extent(&r::output, 0) * extent(&r::point, 1)) * extent(&r::point, 0);
    out.flops = 2 * tiles * (points * filters * channels + channels * before + filters * behind);
    // Of an SM and a cycle, measured on an H100: a product of 16 x 8 x 8 TF32 numbers each 5.9 cycles of a quarter.
    const double rate = 2 * 690 * sm_clock(chip) * chip.processors *
                        (transformed_type(st) != scalar_type::f32 ? 2.0
                         : st.math == math_mode::tf32             ? 1.0
                                                                  : 1.0 / 3);
    out.seconds =
        std::max(out.bytes / chip.bandwidth, 2 * tiles * points * filters * channels / rate) + chip.launch_seconds;
    return out;
}

/// Fitted to an H100's times (2026-11-26, 128 to 512 channels, F(2,3), F(4,3), F(6,3), blocks of 16 to 128 filters):
/// a stage takes as long as the producers need for their channels, half of it waiting for inputs, and so many cycles
/// more for each point and filter.
double winograd_seconds(const step& st, const batched_tile& t, const machine& chip) {
    const auto layout = winograd_layout_of(st, t);
    const bool floats = transformed_type(st) == scalar_type::f32;
    const auto n = [](std::int64_t x) { return static_cast<double>(x); };
    const double points = n(layout.points), inputs = n(all_of(st, &winograd_roles::input));
    const double turns = n(t.tile_n * channels_of_stage(transformed_type(st))) / (32 * producer_warps);
    const double turn = floats ? (keeps_input_matrix(st) ? 380 + 35 * inputs : 62 * inputs) : 140 * inputs;
    const double of_filter = (floats && st.math == math_mode::full ? 0.63 : 0.45) * points;
    const double stage = turns * turn + of_filter * t.tile_m, part = 4000; // what M passes through, and the end
    const auto rounds = up(layout.tile_blocks * layout.filter_blocks, chip.processors);
    const double packing = 2 * n(winograd_workspace_bytes(st, t)) / chip.bandwidth + chip.launch_seconds;
    return n(rounds) * (n(layout.stage_count) * stage + part) / sm_clock(chip) + packing + chip.launch_seconds;
}

std::optional<batched_tile> choose_winograd_tile(const step& st, const machine& chip) {
    std::optional<batched_tile> best;
    double least = INFINITY;
    for (const auto& t : winograd_candidates(st, chip))
        if (const auto seconds = winograd_seconds(st, t, chip); seconds < least) least = seconds, best = t;
    return best;
}

} // namespace ricci::lowering
