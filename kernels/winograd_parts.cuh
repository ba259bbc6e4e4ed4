// winograd_parts: what stands where in a step of convolutions by minimal filtering, and how its kernels cut the work
// into parts.
//
// Constants: direct_tree.hpp's, of the tree in which an access of operand `sum_operand` stands for the sum; and
//   packed_operand             number of the memory that winograd_filters fills
//   directions, tile_axes      the step's axes: outputs a, e, the tiles', k, points u, v, c, inputs p, q;
//                              its operands: O, U as packed_filters has it, D, Bt for each direction, At for each
//   output_extent[2], point_extent[2], input_extent[2]       at most 8 each
//   transformed_type           of V and U
//   one_input_matrix           whether Bt is the same in both directions
//   rounds_to_tf32
//   consumer_registers, producer_registers     of a thread, where roles have not the same; or 0
//   filters_of_block, tiles_of_block (16, or 32), consumer_warps, stages
//   stage_bytes, filter_bytes  of a stage, or of what passes through it if that is more, and of U in it
//   input_vector, input_lead   neighbors that are loaded together, of those of a tile's inputs behind so many
//   filters_of_pass            k of M that pass through a stage's memory at a time
//   filters_nearest            whether neighbors in O are of neighboring k rather than tiles
#pragma once

#include "tile_places.cuh"

static_assert(compute_type == 2, "computes in f32");

constexpr int producer_warps = 4, producers = 32 * producer_warps, threads = 32 * consumer_warps + producers;
constexpr int points = point_extent[0] * point_extent[1], inputs = input_extent[0] * input_extent[1];

// ---- the step's axes and operands ----

constexpr int filter_axis = directions + tile_axes, channel_axis = filter_axis + 1 + directions;
RICCI_FUNCTION constexpr int point_axis(int d) { return filter_axis + 1 + d; }
RICCI_FUNCTION constexpr int input_axis(int d) { return channel_axis + 1 + d; }
constexpr int filters_operand = 1, image_operand = 2;
RICCI_FUNCTION constexpr int input_matrix(int d) { return 3 + d; }
RICCI_FUNCTION constexpr int output_matrix(int d) { return 3 + directions + d; }

using transformed = typename type_of<transformed_type>::type; ///< an element of U and V
constexpr int of_lane = sizeof(transformed) == 4 ? 2 : 4; ///< steps of a product of the tensor cores in a lane
constexpr int channels_of_stage = 4 * of_lane;
constexpr int row_tiles = filters_of_block / 16, column_tiles = tiles_of_block / 8;
constexpr int bytes_of_row_tile = 16 * channels_of_stage * static_cast<int>(sizeof(transformed)); ///< of U
constexpr int bytes_of_column_tile = 8 * channels_of_stage * static_cast<int>(sizeof(transformed)); ///< of V
static_assert(filter_bytes == points * row_tiles * bytes_of_row_tile);
static_assert(stage_bytes >= filter_bytes + points * column_tiles * bytes_of_column_tile);

// ---- the parts of the work ----

/// Part number `number` of those that this block has: all filters of some tiles one after another.
struct work_part {
    unsigned number = blockIdx.x;
    RICCI_FUNCTION bool exists(const arguments& a) const { return first_tile(a) < a.work_items; }
    RICCI_FUNCTION void move_on() { number += gridDim.x; }
    RICCI_FUNCTION int first_tile(const arguments& a) const {
        return static_cast<int>(number / static_cast<unsigned>(a.teams)) * tiles_of_block;
    }
    RICCI_FUNCTION int filter_block(const arguments& a) const {
        return static_cast<int>(number % static_cast<unsigned>(a.teams));
    }
};
RICCI_FUNCTION int stages_of_sum(const arguments& a) {
    return (static_cast<int>(a.extent[channel_axis]) + channels_of_stage - 1) / channels_of_stage;
}
