// tile_transform: takes tiles of an operand, which may overlap and reach outside of it, through a small matrix in
// each of one or two directions: the transforms of minimal filtering where the channels' products between them are a
// library's. A thread has a tile; neighboring threads have neighboring ones.
//
// Constants: tile_outputs.cuh's, where sum_operand is the operand that is transformed; and
//   matrix_operand[2]          of each direction, over a tile's elements in the output and those in the operand
//   input_extent[2]            the latter, at most 8; 1 in a direction that there is not
//   transform_threads          of a block
//   matrices_bytes             of its shared memory
#pragma once

#include "tile_matrices.cuh"
#include "tile_outputs.cuh"

static_assert(compute_type == 2, "computes in f32");
static_assert(2 * 4 * matrix_floats <= matrices_bytes);

RICCI_FUNCTION constexpr int input_axis(int d) { return directions + tile_axes + d; }

/// Column q of a tile's inputs.
RICCI_FUNCTION void load_column(const arguments& a, const typename type_of<operand_type[sum_operand]>::type* first,
                                unsigned long long inside, int q, float (&d)[input_extent[0]]) {
    const long long step = stride_along<sum_operand, input_axis(0)>(a),
                    line = second_stride<sum_operand, input_axis(directions - 1)>(a);
    RICCI_UNROLL
    for (int p = 0; p < input_extent[0]; ++p)
        d[p] = inside >> (p + input_extent[0] * q) & 1 ? load_as<float>(first[p * step + q * line]) : 0.0f;
}

extern "C" __global__ void __launch_bounds__(transform_threads)
    ricci_tile_transform(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    float* const matrices = reinterpret_cast<float*>(memory);
    load_matrix<matrix_operand[0], output_axis(0), input_axis(0), true, transform_threads>(
        a, matrices, output_extent[0], input_extent[0]);
    if constexpr (directions == 2)
        load_matrix<matrix_operand[1], output_axis(1), input_axis(1), false, transform_threads>(
            a, matrices + matrix_floats, output_extent[1], input_extent[1]);
    __syncthreads();
    const long long tile = block_number() * transform_threads + threadIdx.x;
    if (tile >= a.work_items) return;
    long long x[axis_count] = {};
    go_to_tile(a, static_cast<int>(tile), x);
    const auto* const first = element_at<sum_operand>(a, x);
    const auto inside = inside_of<sum_operand, input_axis(0), input_extent[0], input_extent[1]>(a, x);
    float t[output_extent[0]][input_extent[1]] = {};
    RICCI_UNROLL
    for (int q = 0; q < input_extent[1]; ++q) {
        float d[input_extent[0]];
        load_column(a, first, inside, q, d);
        RICCI_UNROLL
        for (int p = 0; p < input_extent[0]; ++p) {
            const matrix_row column(matrices + p * matrix_line);
            RICCI_UNROLL
            for (int o = 0; o < output_extent[0]; ++o) t[o][q] += column.at(o) * d[p];
        }
    }
    tile_outputs values;
    RICCI_UNROLL
    for (int e = 0; e < output_extent[1]; ++e)
        along_second<input_extent[1]>(matrices + matrix_floats + e * matrix_line, t,
                                      [&](int o, float sum) { values[e][o] = sum; });
    const output_places to(a, x);
    evaluate_outputs(a, x, values);
    to.put(a, 0, values);
}
