// winograd: convolutions by minimal filtering in one kernel, V and M of which never leave an SM:
//
//   V(u, v, c, tile) = sum over p, q of Bt(u, p)*Bt(v, q)*D(c, tile's inputs p, q)
//   M(u, v, k, tile) = sum over c of U(u, v, k, c)*V(u, v, c, tile)
//   O(k, tile's outputs a, e) = tree(sum over u, v of At(a, u)*At(e, v)*M(u, v, k, tile))
//
// A block computes filters_of_block k of tiles_of_block tiles. Its last four warps load and transform the inputs of
// the tiles, channels_of_stage channels at a time, and have U copied in bulk; the others multiply, each for points
// (u, v) of its own, and keep M in registers until the sum is complete. Then M passes through the shared memory that
// the stages had, and all threads transform it. In one direction there is no v, q and e: their extents are 1.
// The tensor cores' products of f32 are three of TF32 each, of numbers split by truncation (two instructions instead
// of three: 0.68 ms instead of 0.81 in a prototype on an H100, 64 to 64 channels, 32 pictures of 224 x 224).
// Infinite U or V make their outputs infinite or NaN, not always what the statements would; of f32 below 2^-114 a
// product loses digits.
//
// Constants: direct_tree.hpp's, of the tree in which an access of operand `sum_operand` stands for the sum; and
//   directions, tile_axes      the step's axes: outputs a, e, the tiles', k, points u, v, c, inputs p, q;
//                              its operands: O, U as packed_filters has it, D, Bt for each direction, At for each
//   output_extent[2], point_extent[2], input_extent[2]       at most 8 each
//   transformed_type           of V and U
//   rounds_to_tf32
//   filters_of_block, tiles_of_block (16, or 32), consumer_warps, stages
//   stage_bytes, filter_bytes  of a stage, and of U in it
//   filters_nearest            whether neighbors in O are of neighboring k rather than tiles
#pragma once

#include "direct_tree.hpp"
#include "mma_numbers.cuh"
#include "neighbors.cuh"
#include "ptx_copy.cuh"

static_assert(compute_type == 2, "computes in f32");

constexpr int producer_warps = 4, producers = 32 * producer_warps, threads = 32 * consumer_warps + producers;
constexpr int points = point_extent[0] * point_extent[1], inputs = input_extent[0] * input_extent[1];
constexpr int outputs = output_extent[0] * output_extent[1];

// ---- the step's axes and operands ----

constexpr int filter_axis = directions + tile_axes, channel_axis = filter_axis + 1 + directions;
RICCI_FUNCTION constexpr int output_axis(int d) { return d; }
RICCI_FUNCTION constexpr int tile_axis(int t) { return directions + t; }
RICCI_FUNCTION constexpr int point_axis(int d) { return filter_axis + 1 + d; }
RICCI_FUNCTION constexpr int input_axis(int d) { return channel_axis + 1 + d; }
constexpr int filters_operand = 1, image_operand = 2;
RICCI_FUNCTION constexpr int input_matrix(int d) { return 3 + d; }
RICCI_FUNCTION constexpr int output_matrix(int d) { return 3 + directions + d; }

template <int Operand, int Axis> RICCI_FUNCTION long long stride_along(const arguments& a) {
    if constexpr (Axis >= axis_count) return 0;
    else if constexpr (operand_stride[Operand][Axis] == argument) return a.stride[Operand][Axis];
    else return operand_stride[Operand][Axis];
}
/// Along the second direction, which may be absent.
template <int Operand, int Axis> RICCI_FUNCTION long long second_stride(const arguments& a) {
    if constexpr (directions == 1) return 0;
    else return stride_along<Operand, Axis>(a);
}

/// Sets the tiles' axes to those of tile number `tile`, which the arguments' work_items are.
RICCI_FUNCTION void go_to_tile(const arguments& a, int tile, long long* x) {
    unsigned rest = static_cast<unsigned>(tile);
    RICCI_UNROLL
    for (int t = 0; t < tile_axes; ++t) {
        const auto length = static_cast<unsigned>(a.extent[tile_axis(t)]);
        x[tile_axis(t)] = t + 1 == tile_axes ? rest : rest % length;
        rest /= length;
    }
}

/// Which of a tile's elements, `Along` axes 0 and 1 of extents n0 and n1, are inside of a padded operand: bit i + n0*j.
template <int Operand, int First, int N0, int N1>
RICCI_FUNCTION unsigned long long inside_of(const arguments& a, const long long* x) {
    static_assert(N0 * N1 <= 64, "a bit each");
    unsigned long long out = ~0ull >> (64 - N0 * N1);
    RICCI_UNROLL
    for (int b = 0; b < bound_count; ++b) {
        if (bound_operand[b] != Operand) continue;
        int first = static_cast<int>(a.bound_offset[b]);
        RICCI_UNROLL
        for (int t = 0; t < tile_axes; ++t)
            first += static_cast<int>(a.bound_coefficient[b][tile_axis(t)]) * static_cast<int>(x[tile_axis(t)]);
        const int step = static_cast<int>(a.bound_coefficient[b][First]),
                  other_step = directions == 1 ? 0 : static_cast<int>(a.bound_coefficient[b][First + directions - 1]);
        const auto extent = static_cast<unsigned>(a.bound_extent[b]);
        RICCI_UNROLL
        for (int j = 0; j < N1; ++j)
            RICCI_UNROLL
            for (int i = 0; i < N0; ++i)
                if (static_cast<unsigned>(first + i * step + j * other_step) >= extent)
                    out &= ~(1ull << (i + N0 * j));
    }
    return out;
}

// ---- numbers that the tensor cores multiply ----

/// Products of 16 x 8 of `of_lane` steps of the sum in each of four lanes: words of U and V as they lie in shared
/// memory.
template <int Type> struct mma_words {
    using element = typename type_of<Type>::type;
    static constexpr int of_lane = 4;
    template <int Words> struct numbers {
        unsigned w[Words];
        numbers() = default;
        RICCI_FUNCTION explicit numbers(const unsigned (&words)[Words]) {
            RICCI_UNROLL
            for (int i = 0; i < Words; ++i) w[i] = words[i];
        }
    };
    using left = numbers<4>;
    using right = numbers<2>;
    static constexpr int passes = 1;
    template <int> static RICCI_FUNCTION void multiply(float (&d)[4], const left& a, const right& b) {
        if constexpr (Type == 0) mma_f16(d, a.w, b.w);
        else mma_bf16(d, a.w, b.w);
    }
};
/// Of f32, rounded to TF32 or not.
template <> struct mma_words<2> {
    using element = float;
    static constexpr int of_lane = 2, parts = rounds_to_tf32 ? 1 : 2;
    template <int Words> struct numbers {
        unsigned high[Words], low[Words];
        numbers() = default;
        RICCI_FUNCTION explicit numbers(const unsigned (&words)[Words]) {
            RICCI_UNROLL
            for (int i = 0; i < Words; ++i) {
                if constexpr (rounds_to_tf32) {
                    high[i] = rounded_to_tf32(float_of(words[i]));
                } else {
                    high[i] = words[i] & 0xffffe000u;
                    low[i] = bits_of(float_of(words[i]) - float_of(high[i]));
                }
            }
        }
    };
    using left = numbers<4>;
    using right = numbers<2>;
    static constexpr int passes = rounds_to_tf32 ? 1 : 3;
    template <int Pass> static RICCI_FUNCTION void multiply(float (&d)[4], const left& a, const right& b) {
        if constexpr (Pass + 1 == passes) mma_tf32(d, a.high, b.high);
        else if constexpr (Pass == 0) mma_tf32(d, a.low, b.high);
        else mma_tf32(d, a.high, b.low);
    }
};
using mma = mma_words<transformed_type>;
using transformed = mma::element;

constexpr int channels_of_stage = 4 * mma::of_lane;
constexpr int row_tiles = filters_of_block / 16, column_tiles = tiles_of_block / 8;
constexpr int lane_words = 4, bytes_of_row_tile = 32 * lane_words * 4; ///< of U, for one point and stage
constexpr int bytes_of_column_tile = 8 * channels_of_stage * static_cast<int>(sizeof(transformed)); ///< of V
static_assert(filter_bytes == points * row_tiles * bytes_of_row_tile);
static_assert(stage_bytes == filter_bytes + points * column_tiles * bytes_of_column_tile);

// ---- shared memory: matrices, barriers, stages; then M in their place ----

constexpr int matrix_line = 8, matrix_floats = 8 * matrix_line, matrix_bytes = 4 * matrix_floats * 4;
constexpr int header_bytes = matrix_bytes + 128;
static_assert(2 * stages * static_cast<int>(sizeof(copy_barrier)) <= 128, "the barriers' room");

struct block_memory {
    unsigned char* memory;

    /// Number of a matrix: Bt of the first direction as [p][u], of the second as [v][q], At as [u][a] and [e][v].
    RICCI_FUNCTION float* matrix(int number) const { return reinterpret_cast<float*>(memory) + number * matrix_floats; }
    RICCI_FUNCTION copy_barrier& full(int stage) const {
        return reinterpret_cast<copy_barrier*>(memory + matrix_bytes)[stage];
    }
    RICCI_FUNCTION copy_barrier& empty(int stage) const { return (&full(stages))[stage]; }
    RICCI_FUNCTION unsigned char* filters(int stage) const { return memory + header_bytes + stage * stage_bytes; }
    RICCI_FUNCTION unsigned char* tiles(int stage) const { return filters(stage) + filter_bytes; }
    RICCI_FUNCTION float* sums() const { return reinterpret_cast<float*>(memory + header_bytes); }
};

/// Where an element of M lies: lanes that write sums, and those that read them, meet in no bank.
RICCI_FUNCTION constexpr int sums_of_point() {
    return filters_nearest ? tiles_of_block * (filters_of_block + 4) : filters_of_block * tiles_of_block;
}
RICCI_FUNCTION int place_of_sum(int filter, int tile) {
    if constexpr (filters_nearest) return tile * (filters_of_block + 4) + filter;
    else if constexpr (tiles_of_block == 16) return filter * 16 + (tile ^ (filter & 2) << 2);
    else return filter * tiles_of_block + (tile ^ (filter & 3) << 3);
}

/// One matrix into shared memory, zeros around it.
template <int Operand, int Row, int Column, bool Transposed>
RICCI_FUNCTION void load_matrix(const arguments& a, float* into, int rows, int columns) {
    for (int e = threadIdx.x; e < matrix_floats; e += threads) {
        const int line = e / matrix_line, place = e % matrix_line, row = Transposed ? place : line,
                  column = Transposed ? line : place;
        long long x[axis_count] = {};
        x[Row] = row, x[Column] = column;
        into[e] = row < rows && column < columns ? load<Operand>(a, x) : 0.0f;
    }
}
RICCI_FUNCTION void load_matrices_of_transforms(const arguments& a, const block_memory& at) {
    load_matrix<input_matrix(0), point_axis(0), input_axis(0), true>(a, at.matrix(0), point_extent[0],
                                                                     input_extent[0]);
    load_matrix<output_matrix(0), output_axis(0), point_axis(0), true>(a, at.matrix(2), output_extent[0],
                                                                       point_extent[0]);
    if constexpr (directions == 2) {
        load_matrix<input_matrix(1), point_axis(1), input_axis(1), false>(a, at.matrix(1), point_extent[1],
                                                                          input_extent[1]);
        load_matrix<output_matrix(1), output_axis(1), point_axis(1), false>(a, at.matrix(3), output_extent[1],
                                                                            point_extent[1]);
    }
}

/// A line of a matrix in shared memory.
struct matrix_row {
    kept_neighbors<float, 4> low, high;
    RICCI_FUNCTION explicit matrix_row(const float* line)
        : low(load_neighbors<float, 4>(line)), high(load_neighbors<float, 4>(line + 4)) {}
    RICCI_FUNCTION float at(int i) const { return i < 4 ? low.at(i) : high.at(i - 4); }
};

/// Calls take(i, sum over j of line[j]*t[i][j]); in one direction t[i][0].
template <int Length, int Count, int Columns, class Take>
RICCI_FUNCTION void along_second(const float* line, const float (&t)[Count][Columns], const Take& take) {
    static_assert(Length == Columns);
    if constexpr (directions == 1) {
        RICCI_UNROLL
        for (int i = 0; i < Count; ++i) take(i, t[i][0]);
    } else {
        const matrix_row b(line);
        RICCI_UNROLL
        for (int i = 0; i < Count; ++i) {
            float sum = 0;
            RICCI_UNROLL
            for (int j = 0; j < Length; ++j) sum += b.at(j) * t[i][j];
            take(i, sum);
        }
    }
}

// ---- the warps that transform inputs ----

/// Tiles and channels of a stage that the lanes of a warp have: tiles 8g + lane / 4, channels 4e + lane % 4.
constexpr int group_warps = column_tiles < producer_warps ? column_tiles : producer_warps;
constexpr int channel_warps = producer_warps / group_warps, channel_turns = mma::of_lane / channel_warps;
static_assert(column_tiles == group_warps && channel_turns * channel_warps == mma::of_lane);

class input_transform {
    using element = typename type_of<operand_type[image_operand]>::type;

  public:
    RICCI_FUNCTION input_transform(const arguments& a, int first_tile)
        : column_step_(stride_along<image_operand, input_axis(0)>(a)),
          row_step_(second_stride<image_operand, input_axis(directions - 1)>(a)),
          channel_step_(stride_along<image_operand, channel_axis>(a)),
          channels_(static_cast<int>(a.extent[channel_axis])) {
        const int warp = static_cast<int>(threadIdx.x) / 32 - consumer_warps, lane = threadIdx.x % 32;
        group_ = warp % group_warps, first_e_ = warp / group_warps;
        const int tile = first_tile + 8 * group_ + lane / 4;
        long long x[axis_count] = {};
        const bool exists = tile < a.work_items;
        go_to_tile(a, exists ? tile : 0, x);
        inside_ = exists ? inside_of<image_operand, input_axis(0), input_extent[0], input_extent[1]>(a, x) : 0;
        first_ = element_at<image_operand>(a, x);
    }

    /// The inputs of a channel, and its transform along p into `t_`.
    RICCI_FUNCTION void load(int stage, int turn) {
        const int channel = stage * channels_of_stage + 4 * e_of(turn) + static_cast<int>(threadIdx.x) % 4;
        const bool exists = channel < channels_;
        const element* const first = first_ + (exists ? channel : 0) * channel_step_;
        const auto inside = exists ? inside_ : 0;
        RICCI_UNROLL
        for (int q = 0; q < input_extent[1]; ++q)
            RICCI_UNROLL
            for (int p = 0; p < input_extent[0]; ++p) {
                d_[p][q] = 0;
                if (inside >> (p + input_extent[0] * q) & 1)
                    d_[p][q] = load_as<float>(first[p * column_step_ + q * row_step_]);
            }
    }
    RICCI_FUNCTION void transform_columns(const block_memory& at) {
        RICCI_UNROLL
        for (int u = 0; u < point_extent[0]; ++u)
            RICCI_UNROLL
            for (int q = 0; q < input_extent[1]; ++q) t_[u][q] = 0;
        RICCI_UNROLL
        for (int p = 0; p < input_extent[0]; ++p) {
            const matrix_row b(at.matrix(0) + p * matrix_line);
            RICCI_UNROLL
            for (int u = 0; u < point_extent[0]; ++u)
                RICCI_UNROLL
                for (int q = 0; q < input_extent[1]; ++q) t_[u][q] += b.at(u) * d_[p][q];
        }
    }
    /// The transform along q, into a stage.
    RICCI_FUNCTION void transform_rows(const block_memory& at, int slot, int turn) const {
        const int lane = threadIdx.x % 32, e = e_of(turn);
        // Of f32 the upper half of the lanes have their two channels the other way round: no two meet in a bank.
        const int place = mma::of_lane * lane + (mma::of_lane == 2 ? e ^ lane >> 4 : e);
        auto* const into = reinterpret_cast<transformed*>(at.tiles(slot) + group_ * bytes_of_column_tile) + place;
        RICCI_UNROLL
        for (int v = 0; v < point_extent[1]; ++v)
            along_second<input_extent[1]>(at.matrix(1) + v * matrix_line, t_, [&](int u, float sum) {
                constexpr int of_point = column_tiles * bytes_of_column_tile / static_cast<int>(sizeof(transformed));
                into[(u + point_extent[0] * v) * of_point] = store_as<transformed>(sum);
            });
    }

  private:
    RICCI_FUNCTION int e_of(int turn) const { return first_e_ + channel_warps * turn; }

    const element* first_;
    long long column_step_, row_step_, channel_step_;
    unsigned long long inside_;
    int channels_, group_, first_e_;
    float d_[input_extent[0]][input_extent[1]], t_[point_extent[0]][input_extent[1]];
};

/// U of a stage, by the lanes of a warp: see find_winograd's packed filters.
RICCI_FUNCTION void copy_filters(const arguments& a, const block_memory& at, int stage, int first_row_tile,
                                 int own_row_tiles) {
    const int all_row_tiles = static_cast<int>((a.extent[filter_axis] + 15) / 16), slot = stage % stages;
    const int lane = threadIdx.x % 32, bytes = own_row_tiles * bytes_of_row_tile;
    if (lane == 0) arrive_expecting(at.full(slot), points * bytes);
    __syncwarp();
    const auto* const from = static_cast<const unsigned char*>(a.data[filters_operand]);
    for (int point = lane; point < points; point += 32) {
        const long long row_tile =
            (static_cast<long long>(stage) * points + point) * all_row_tiles + first_row_tile;
        bulk_load(at.filters(slot) + point * row_tiles * bytes_of_row_tile, from + row_tile * bytes_of_row_tile,
                  bytes, at.full(slot));
    }
}

RICCI_FUNCTION void produce(const arguments& a, const block_memory& at, int first_tile, int first_row_tile,
                            int own_row_tiles, int stage_count) {
    const bool copies = threadIdx.x / 32 == consumer_warps;
    input_transform inputs_of_tile(a, first_tile);
    if (stage_count > 0) inputs_of_tile.load(0, 0);
    RICCI_UNROLL_ONCE
    for (int stage = 0; stage < stage_count; ++stage) {
        const int slot = stage % stages;
        if (stage >= stages) wait_barrier(at.empty(slot), (stage / stages - 1) % 2);
        if (copies) copy_filters(a, at, stage, first_row_tile, own_row_tiles);
        RICCI_UNROLL
        for (int turn = 0; turn < channel_turns; ++turn) {
            inputs_of_tile.transform_columns(at);
            // What comes next is under way while this is transformed.
            if (turn + 1 < channel_turns) inputs_of_tile.load(stage, turn + 1);
            else if (stage + 1 < stage_count) inputs_of_tile.load(stage + 1, 0);
            inputs_of_tile.transform_rows(at, slot, turn);
        }
        arrive_expecting(at.full(slot), 0);
    }
}

// ---- the warps that multiply ----

constexpr int points_of_warp = (points + consumer_warps - 1) / consumer_warps;
using warp_sums = float[points_of_warp][row_tiles][column_tiles][4];

template <int Pass, int Rows>
RICCI_FUNCTION void multiply_passes(float (*sums)[column_tiles][4], const mma::left (&x)[Rows],
                                    const mma::right (&y)[column_tiles]) {
    if constexpr (Pass < mma::passes) {
        RICCI_UNROLL
        for (int r = 0; r < Rows; ++r)
            RICCI_UNROLL
            for (int c = 0; c < column_tiles; ++c) mma::multiply<Pass>(sums[r][c], x[r], y[c]);
        multiply_passes<Pass + 1>(sums, x, y);
    }
}

RICCI_FUNCTION mma::right load_right(const unsigned char* column_tile) {
    const int lane = threadIdx.x % 32, upper = lane >> 4;
    unsigned words[2];
    if constexpr (mma::of_lane == 2) {
        const auto* const from = reinterpret_cast<const unsigned*>(column_tile) + 2 * lane;
        words[0] = from[upper], words[1] = from[1 - upper];
    } else {
        const auto two = load_neighbors<unsigned, 2>(reinterpret_cast<const unsigned*>(column_tile) + 2 * lane);
        words[0] = two.at(0), words[1] = two.at(1);
    }
    return mma::right(words);
}
RICCI_FUNCTION mma::left load_left(const unsigned char* row_tile) {
    const auto four = load_neighbors<unsigned, 4>(reinterpret_cast<const unsigned*>(row_tile) +
                                                  lane_words * (threadIdx.x % 32));
    const unsigned words[4] = {four.at(0), four.at(1), four.at(2), four.at(3)};
    return mma::left(words);
}

RICCI_FUNCTION void consume(const block_memory& at, int own_row_tiles, int stage_count, warp_sums& sums) {
    const int warp = threadIdx.x / 32;
    constexpr int rows_together = row_tiles % 2 == 0 ? 2 : 1; // products that do not wait for one another
    RICCI_UNROLL
    for (int i = 0; i < points_of_warp; ++i) clear_sums(sums[i]);
    RICCI_UNROLL_ONCE
    for (int stage = 0; stage < stage_count; ++stage) {
        const int slot = stage % stages;
        wait_barrier(at.full(slot), stage / stages % 2);
        RICCI_UNROLL
        for (int i = 0; i < points_of_warp; ++i) {
            const int point = warp + i * consumer_warps;
            if (points % consumer_warps != 0 && point >= points) continue;
            const unsigned char* const x = at.filters(slot) + point * row_tiles * bytes_of_row_tile;
            const unsigned char* const y = at.tiles(slot) + point * column_tiles * bytes_of_column_tile;
            mma::right columns[column_tiles];
            RICCI_UNROLL
            for (int c = 0; c < column_tiles; ++c) columns[c] = load_right(y + c * bytes_of_column_tile);
            RICCI_UNROLL
            for (int r = 0; r < row_tiles; r += rows_together) {
                if (r >= own_row_tiles) break;
                mma::left rows[rows_together];
                RICCI_UNROLL
                for (int t = 0; t < rows_together; ++t) rows[t] = load_left(x + (r + t) * bytes_of_row_tile);
                multiply_passes<0>(&sums[i][r], rows, columns);
            }
        }
        show_to_copy_engine(); // U's place is copied to next
        arrive_expecting(at.empty(slot), 0);
    }
}

RICCI_FUNCTION void store_sums(const block_memory& at, const warp_sums& sums) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    RICCI_UNROLL
    for (int i = 0; i < points_of_warp; ++i) {
        const int point = warp + i * consumer_warps;
        if (points % consumer_warps != 0 && point >= points) continue;
        float* const into = at.sums() + point * sums_of_point();
        RICCI_UNROLL
        for (int r = 0; r < row_tiles; ++r)
            RICCI_UNROLL
            for (int c = 0; c < column_tiles; ++c)
                RICCI_UNROLL
                for (int half_tile = 0; half_tile < 2; ++half_tile) {
                    const int filter = 16 * r + 8 * half_tile + lane / 4, tile = 8 * c + 2 * (lane % 4);
                    const float *two = sums[i][r][c] + 2 * half_tile;
                    if constexpr (filters_nearest) {
                        into[place_of_sum(filter, tile)] = two[0];
                        into[place_of_sum(filter, tile + 1)] = two[1];
                    } else {
                        *reinterpret_cast<neighbors<float, 2>*>(into + place_of_sum(filter, tile)) = {two[0], two[1]};
                    }
                }
    }
}

// ---- the outputs, by all threads ----

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

RICCI_FUNCTION void put_outputs(const arguments& a, const long long* x, const tile_outputs& values) {
    using element = typename type_of<operand_type[0]>::type;
    const auto inside = inside_of<0, output_axis(0), output_extent[0], output_extent[1]>(a, x);
    const long long step = stride_along<0, output_axis(0)>(a),
                    line_step = second_stride<0, output_axis(directions - 1)>(a);
    element* const first = element_at<0>(a, x);
    const bool aligned = have_aligned_lines<element, outputs_of_store>(first, line_step);
    RICCI_UNROLL
    for (int e = 0; e < output_extent[1]; ++e) {
        element* const line = first + e * line_step;
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

RICCI_FUNCTION void finish(const arguments& a, const block_memory& at, int first_tile, int first_filter) {
    constexpr int items = filters_of_block * tiles_of_block;
    const int filters = static_cast<int>(a.extent[filter_axis]);
    RICCI_UNROLL_ONCE
    for (int item = threadIdx.x; item < items; item += threads) {
        const int filter = filters_nearest ? item % filters_of_block : item / tiles_of_block,
                  tile = filters_nearest ? item / filters_of_block : item % tiles_of_block;
        if (first_filter + filter >= filters || first_tile + tile >= a.work_items) continue;
        tile_outputs values;
        transform_outputs(at, at.sums() + place_of_sum(filter, tile), values);
        long long x[axis_count] = {};
        go_to_tile(a, first_tile + tile, x);
        x[filter_axis] = first_filter + filter;
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
        x[output_axis(0)] = 0, x[output_axis(directions - 1)] = 0;
        put_outputs(a, x, values);
    }
}

extern "C" __global__ void __launch_bounds__(threads, 1) ricci_winograd(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    const block_memory at{memory};
    const long long block = block_number(), filter_blocks = a.teams;
    const long long tile_block = block / filter_blocks;
    if (tile_block * tiles_of_block >= a.work_items) return;
    const int first_tile = static_cast<int>(tile_block) * tiles_of_block,
              first_filter = static_cast<int>(block % filter_blocks) * filters_of_block;
    const int left_row_tiles = (static_cast<int>(a.extent[filter_axis]) - first_filter + 15) / 16;
    const int own_row_tiles = left_row_tiles < row_tiles ? left_row_tiles : row_tiles;
    const int stage_count =
        (static_cast<int>(a.extent[channel_axis]) + channels_of_stage - 1) / channels_of_stage;
    if (threadIdx.x == 0)
        for (int s = 0; s < stages; ++s)
            start_barrier(at.full(s), producers + 1), start_barrier(at.empty(s), threads - producers);
    load_matrices_of_transforms(a, at);
    __syncthreads();
    const bool multiplies = threadIdx.x < 32 * consumer_warps;
    warp_sums sums;
    if (multiplies) consume(at, own_row_tiles, stage_count, sums);
    else produce(a, at, first_tile, first_filter / 16, own_row_tiles, stage_count);
    __syncthreads(); // all stages have been read
    if (multiplies) store_sums(at, sums);
    __syncthreads();
    finish(a, at, first_tile, first_filter);
}
