// winograd_outputs: M through shared memory, transformed into a part's outputs.
#pragma once

#include "tile_outputs.cuh"
#include "winograd_products.cuh"

/// Where an element of M lies, of the k that pass together: lanes that write sums, and those that read them, meet in
/// no bank.
RICCI_FUNCTION constexpr int sums_of_point() {
    return filters_nearest ? tiles_of_block * (filters_of_pass + 4) : filters_of_pass * tiles_of_block;
}
static_assert(4 * points * sums_of_point() <= stage_bytes, "M passes through a stage's memory");
RICCI_FUNCTION int place_of_sum(int filter, int tile) {
    if constexpr (filters_nearest) return tile * (filters_of_pass + 4) + filter;
    else if constexpr (tiles_of_block == 16) return filter * 16 + (tile ^ (filter & 2) << 2);
    else return filter * tiles_of_block + (tile ^ (filter & 3) << 3);
}

constexpr int passes_of_sums = filters_of_block / filters_of_pass, row_tiles_of_pass = filters_of_pass / 16;

/// Those of one pass, into the memory of a stage.
template <int Pass>
RICCI_FUNCTION void store_sums(float* memory, const warp_sums& sums) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    RICCI_UNROLL
    for (int i = 0; i < points_of_warp; ++i) {
        const int point = warp + i * consumer_warps;
        if (points % consumer_warps != 0 && point >= points) continue;
        float* const into = memory + point * sums_of_point();
        RICCI_UNROLL
        for (int r = 0; r < row_tiles_of_pass; ++r)
            RICCI_UNROLL
            for (int c = 0; c < column_tiles; ++c)
                RICCI_UNROLL
                for (int half_tile = 0; half_tile < 2; ++half_tile) {
                    const int filter = 16 * r + 8 * half_tile + lane / 4, tile = 8 * c + 2 * (lane % 4);
                    const float* const two = sums[i][Pass * row_tiles_of_pass + r][c] + 2 * half_tile;
                    if constexpr (filters_nearest) {
                        into[place_of_sum(filter, tile)] = two[0];
                        into[place_of_sum(filter, tile + 1)] = two[1];
                    } else {
                        *reinterpret_cast<neighbors<float, 2>*>(into + place_of_sum(filter, tile)) = {two[0], two[1]};
                    }
                }
    }
}

/// The outputs' transform of a tile's M.
RICCI_FUNCTION void transform_outputs(const block_memory& at, const float* m, tile_outputs& out) {
    float t[output_extent[0]][point_extent[1]] = {};
    RICCI_UNROLL
    for (int u = 0; u < point_extent[0]; ++u) {
        const matrix_row b(at.matrix(2) + u * matrix_line);
        RICCI_UNROLL
        for (int v = 0; v < point_extent[1]; ++v) {
            const float sum = m[(u + point_extent[0] * v) * sums_of_point()];
            RICCI_UNROLL
            for (int o = 0; o < output_extent[0]; ++o) t[o][v] += b.at(o) * sum;
        }
    }
    RICCI_UNROLL
    for (int e = 0; e < output_extent[1]; ++e)
        along_second<point_extent[1]>(at.matrix(3) + e * matrix_line, t,
                                      [&](int o, float sum) { out[e][o] = sum; });
}

/// The outputs of a tile for one k, whose sums begin at `m`.
RICCI_FUNCTION void finish_one(const arguments& a, const block_memory& at, const float* m, long long* x, int filter,
                               const output_places& to) {
    tile_outputs values;
    transform_outputs(at, m, values);
    x[filter_axis] = filter;
    evaluate_outputs(a, x, values);
    to.put(a, filter * stride_along<0, filter_axis>(a), values);
}

/// The outputs of some k of a part's tiles, whose sums are at `memory`: a thread has several k of one tile, or several
/// tiles and one k or more of them.
RICCI_FUNCTION void finish(const arguments& a, const block_memory& at, const float* memory, int first_tile,
                           int first_filter) {
    constexpr int own = 32 * consumer_warps; // threads
    const int filters = static_cast<int>(a.extent[filter_axis]) - first_filter;
    const long long left_tiles = a.work_items - first_tile;
    const auto finish_tile = [&](int tile, int filter, int step) {
        if (tile >= left_tiles) return;
        long long x[axis_count] = {};
        go_to_tile(a, first_tile + tile, x);
        const output_places to(a, x);
        RICCI_UNROLL_ONCE
        for (; filter < filters_of_pass && filter < filters; filter += step)
            finish_one(a, at, memory + place_of_sum(filter, tile), x, first_filter + filter, to);
    };
    if constexpr (filters_nearest) {
        RICCI_UNROLL_ONCE
        for (int item = threadIdx.x; item < filters_of_pass * tiles_of_block; item += own)
            finish_tile(item / filters_of_pass, item % filters_of_pass, filters_of_pass);
    } else {
        static_assert(own % tiles_of_block == 0);
        finish_tile(threadIdx.x % tiles_of_block, threadIdx.x / tiles_of_block, own / tiles_of_block);
    }
}
