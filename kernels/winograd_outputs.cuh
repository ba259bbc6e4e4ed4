// winograd_outputs: M through shared memory, transformed into a part's outputs.
#pragma once

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
/// Evaluates the tree around the sum.
struct around_sum : alone {
    compute value;
    RICCI_FUNCTION explicit around_sum(compute sum) : value(sum) {}
    template <int Operand> RICCI_FUNCTION compute load(const arguments& a, const long long* x) const {
        if constexpr (Operand == sum_operand) return value;
        else return ::load<Operand>(a, x);
    }
};

using tile_outputs = compute[output_extent[1]][output_extent[0]];

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

/// Neighbors that a store has, of a line of outputs.
constexpr int outputs_of_store =
    operand_stride[0][output_axis(0)] != 1 ? 1 : output_extent[0] % 4 == 0 ? 4 : output_extent[0] % 2 == 0 ? 2 : 1;

/// Where the outputs of a tile go, for the first k, and which there are.
struct output_places {
    using element = typename type_of<operand_type[0]>::type;
    element* first;
    long long line_step;
    unsigned long long inside;

    RICCI_FUNCTION output_places(const arguments& a, const long long* x)
        : first(element_at<0>(a, x)), line_step(second_stride<0, output_axis(directions - 1)>(a)),
          inside(inside_of<0, output_axis(0), output_extent[0], output_extent[1]>(a, x)) {}

    RICCI_FUNCTION void put(const arguments& a, int filter, const tile_outputs& values) const {
        const long long step = stride_along<0, output_axis(0)>(a);
        element* const of_filter = first + filter * stride_along<0, filter_axis>(a);
        const bool aligned = have_aligned_lines<element, outputs_of_store>(of_filter, line_step);
        RICCI_UNROLL
        for (int e = 0; e < output_extent[1]; ++e) {
            element* const line = of_filter + e * line_step;
            constexpr unsigned whole = (1u << output_extent[0]) - 1;
            const unsigned exist = static_cast<unsigned>(inside >> (output_extent[0] * e)) & whole;
            if (outputs_of_store > 1 && aligned && exist == whole) {
                RICCI_UNROLL
                for (int o = 0; o < output_extent[0]; o += outputs_of_store) {
                    neighbors<element, outputs_of_store> several;
                    RICCI_UNROLL
                    for (int i = 0; i < outputs_of_store; ++i) several.e[i] = store_as<element>(values[e][o + i]);
                    store_neighbors(line + o, several);
                }
                continue;
            }
            RICCI_UNROLL
            for (int o = 0; o < output_extent[0]; ++o)
                if (exist >> o & 1) line[o * step] = store_as<element>(values[e][o]);
        }
    }
};

/// The outputs of a tile for one k, whose sums begin at `m`.
RICCI_FUNCTION void finish_one(const arguments& a, const block_memory& at, const float* m, long long* x, int filter,
                               const output_places& to) {
    tile_outputs values;
    transform_outputs(at, m, values);
    x[filter_axis] = filter;
    // All before the first store, which might be to the same memory.
    RICCI_UNROLL
    for (int e = 0; e < output_extent[1]; ++e)
        RICCI_UNROLL
        for (int o = 0; o < output_extent[0]; ++o) {
            x[output_axis(0)] = o;
            if constexpr (directions == 2) x[output_axis(1)] = e;
            const around_sum team(values[e][o]);
            values[e][o] = updated(a, x, evaluate<node_count - 1>(a, x, team), team);
        }
    to.put(a, filter, values);
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
