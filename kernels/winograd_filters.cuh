// winograd_filters: brings U into the order in which winograd.cuh's stages take it: for each block's filters, each
// stage's channels and each point the rows of 16 k after one another, and of these rows h and h + 8 side by side, as
// the lanes of a warp hold them for a product of the tensor cores (ptx_mma.cuh). What is behind the last k or c is zero.
//
// A thread has two rows and a stage's channels. Of a warp eight threads have rows that lie side by side in the end, and
// four channels that do so in U.
#pragma once

#include "winograd_parts.cuh"
#include "neighbors.cuh"

constexpr int filter_threads = 256;

extern "C" __global__ void __launch_bounds__(filter_threads)
    ricci_winograd_filters(const __grid_constant__ arguments a) {
    wait_for_stream();
    const int stage_count = stages_of_sum(a), filters = static_cast<int>(a.extent[filter_axis]),
              channels = static_cast<int>(a.extent[channel_axis]);
    constexpr int side_by_side = 8, stages_of_warp = 4;
    const long long item = block_number() * filter_threads + threadIdx.x;
    const int high = static_cast<int>(item % side_by_side), low_stage = static_cast<int>(item / 8 % stages_of_warp);
    auto rest = static_cast<unsigned>(item / (side_by_side * stages_of_warp));
    const int row_tile = static_cast<int>(rest % row_tiles), point = static_cast<int>(rest / row_tiles % points);
    rest /= row_tiles * points;
    const auto stage_groups = static_cast<unsigned>((stage_count + stages_of_warp - 1) / stages_of_warp);
    const int stage = static_cast<int>(rest % stage_groups) * stages_of_warp + low_stage,
              filter_block = static_cast<int>(rest / stage_groups);
    if (stage >= stage_count || filter_block >= a.teams) return;

    long long x[axis_count] = {};
    x[point_axis(0)] = point % point_extent[0];
    if constexpr (directions == 2) x[point_axis(1)] = point / point_extent[0];
    x[channel_axis] = stage * channels_of_stage;
    neighbors<transformed, 2 * channels_of_stage> out;
    RICCI_UNROLL
    for (int half_tile = 0; half_tile < 2; ++half_tile) {
        const int filter = filter_block * filters_of_block + 16 * row_tile + 8 * half_tile + high;
        x[filter_axis] = filter;
        const transformed* const from = element_at<filters_operand>(a, x);
        const auto put = [&](int c, transformed value) {
            constexpr int of_word = 4 / static_cast<int>(sizeof(transformed)); // channels: of 2 bytes two
            out.e[(c / of_word * 2 + half_tile) * of_word + c % of_word] = value;
        };
        const long long step = stride_along<filters_operand, channel_axis>(a);
        if (filter < filters && step == 1 && (stage + 1) * channels_of_stage <= channels &&
            have_aligned_lines<transformed, channels_of_stage>(from, 0)) {
            const auto all = load_neighbors<transformed, channels_of_stage>(from);
            RICCI_UNROLL
            for (int c = 0; c < channels_of_stage; ++c) put(c, all.at(c));
            continue;
        }
        RICCI_UNROLL
        for (int c = 0; c < channels_of_stage; ++c) {
            const bool exists = filter < filters && stage * channels_of_stage + c < channels;
            put(c, exists ? from[c * step] : store_as<transformed>(0.0f));
        }
    }
    const long long place =
        (((static_cast<long long>(filter_block) * stage_count + stage) * points + point) * row_tiles + row_tile) * 8 +
        high;
    store_neighbors(static_cast<transformed*>(a.data[packed_operand]) + place * 2 * channels_of_stage, out);
}
