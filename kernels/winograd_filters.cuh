// winograd_filters: brings U into the order in which winograd.cuh's stages take it: for each block's filters, each
// stage's channels and each point the rows of 16 k after one another, and of these rows h and h + 8 side by side, as
// the lanes of a warp hold them for a product of the tensor cores (ptx_mma.cuh). What is behind the last k or c is
// zero.
//
// A warp has 16 rows and a stage's channels, each lane a quarter of two rows' channels; the warps of a block take
// stages that follow one another. What leaves a warp is in one piece: where each thread stored four pieces of its own,
// 512 to 512 channels took 37 us instead of 25 on an H100.
#pragma once

#include "neighbors.cuh"
#include "winograd_parts.cuh"

constexpr int filter_threads = 256;

/// Channels [first, first + channels_of_stage / 4) of a row of U as two words, zero where there are none.
RICCI_FUNCTION void load_quarter(const arguments& a, long long* x, int first, unsigned (&words)[2]) {
    constexpr int count = channels_of_stage / 4, of_word = 4 / static_cast<int>(sizeof(transformed));
    const int filters = static_cast<int>(a.extent[filter_axis]), channels = static_cast<int>(a.extent[channel_axis]);
    const long long step = stride_along<filters_operand, channel_axis>(a);
    x[channel_axis] = first;
    const transformed* const from = element_at<filters_operand>(a, x);
    const bool exists = x[filter_axis] < filters;
    if (exists && step == 1 && first + count <= channels && have_aligned_lines<unsigned, 2>(from, 0)) {
        const auto two = load_neighbors<unsigned, 2>(reinterpret_cast<const unsigned*>(from));
        words[0] = two.at(0), words[1] = two.at(1);
        return;
    }
    neighbors<transformed, of_word> parts[2];
    RICCI_UNROLL
    for (int c = 0; c < count; ++c)
        parts[c / of_word].e[c % of_word] =
            exists && first + c < channels ? from[c * step] : store_as<transformed>(0.0f);
    RICCI_UNROLL
    for (int w = 0; w < 2; ++w)
        words[w] = load_neighbors<unsigned, 1>(reinterpret_cast<const unsigned*>(&parts[w])).at(0);
}

extern "C" __global__ void __launch_bounds__(filter_threads)
    ricci_winograd_filters(const __grid_constant__ arguments a) {
    wait_for_stream();
    const auto stage_count = static_cast<unsigned>(stages_of_sum(a));
    const long long item = block_number() * (filter_threads / 32) + threadIdx.x / 32;
    const auto stage = static_cast<unsigned>(item % stage_count);
    auto rest = static_cast<unsigned>(item / stage_count);
    const unsigned row_tile = rest % row_tiles, point = rest / row_tiles % points;
    rest /= row_tiles * points;
    if (rest >= a.teams) return;

    const int lane = threadIdx.x % 32, high = lane / 4, quarter = lane % 4;
    long long x[axis_count] = {};
    x[point_axis(0)] = point % point_extent[0];
    if constexpr (directions == 2) x[point_axis(1)] = point / point_extent[0];
    unsigned words[2][2];
    RICCI_UNROLL
    for (int lower = 0; lower < 2; ++lower) {
        x[filter_axis] = static_cast<long long>(rest) * filters_of_block + 16 * row_tile + 8 * lower + high;
        const int first = static_cast<int>(stage) * channels_of_stage + channels_of_stage / 4 * quarter;
        load_quarter(a, x, first, words[lower]);
    }
    const long long place =
        ((static_cast<long long>(rest) * stage_count + stage) * points + point) * row_tiles + row_tile;
    auto* const into = static_cast<unsigned char*>(a.data[packed_operand]) + place * bytes_of_row_tile + 16 * lane;
    store_words(into, {words[0][0], words[1][0], words[0][1], words[1][1]});
}
