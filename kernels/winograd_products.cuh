// winograd_products: the warps that multiply U and V by the tensor cores, each for points of its own, and keep M in
// registers.
#pragma once

#include "mma_numbers.cuh"
#include "winograd_memory.cuh"

/// Products of 16 x 8 of `of_lane` steps of the sum in each of four lanes, in `passes`: words of U (left) and V
/// (right) as they lie in shared memory, which become(pass) what the pass multiplies.
template <int Words> struct plain_words {
    unsigned w[Words];
    template <int> RICCI_FUNCTION void become() {}
};
template <int Type> struct mma_words {
    static constexpr int passes = 1;
    using left = plain_words<4>;
    using right = plain_words<2>;
    template <int> static RICCI_FUNCTION void multiply(float (&d)[4], const left& a, const right& b) {
        if constexpr (Type == 0) mma_f16(d, a.w, b.w);
        else mma_bf16(d, a.w, b.w);
    }
};
/// Of f32, rounded to TF32; or high*high, high*low and low*high of its upper 11 bits and the rest. The products drop
/// the rest of what they take, so that an element of U stands for its upper bits as it is; V's are rounded, and what is
/// dropped of low*low has no sign that prevails.
template <> struct mma_words<2> {
    static constexpr int passes = rounds_to_tf32 ? 1 : 3;
    static RICCI_FUNCTION unsigned low_of(unsigned word) {
        return bits_of(float_of(word) - float_of(word & 0xffffe000u));
    }
    struct left {
        unsigned w[4];
        template <int Pass> RICCI_FUNCTION void become() {
            RICCI_UNROLL
            for (int i = 0; i < 4; ++i) {
                if constexpr (rounds_to_tf32) w[i] = rounded_to_tf32(float_of(w[i]));
                else if constexpr (Pass == 2) w[i] = low_of(w[i]);
            }
        }
    };
    struct right {
        unsigned w[2], low[2];
        template <int Pass> RICCI_FUNCTION void become() {
            RICCI_UNROLL
            for (int i = 0; i < 2; ++i) {
                if constexpr (rounds_to_tf32) {
                    w[i] = rounded_to_tf32(float_of(w[i]));
                } else if constexpr (Pass == 0) { // to nearest: V is split once for all k
                    const unsigned high = (w[i] + 0x1000u) & 0xffffe000u;
                    low[i] = bits_of(float_of(w[i]) - float_of(high));
                    w[i] = high;
                }
            }
        }
    };
    template <int Pass> static RICCI_FUNCTION void multiply(float (&d)[4], const left& a, const right& b) {
        if constexpr (Pass == 1) mma_tf32(d, a.w, b.low);
        else mma_tf32(d, a.w, b.w);
    }
};
using mma = mma_words<transformed_type>;

constexpr int points_of_warp = (points + consumer_warps - 1) / consumer_warps;
using warp_sums = float[points_of_warp][row_tiles][column_tiles][4];

/// The tensor cores cut off what does not fit a sum of theirs, three times a stage for f32. Where the transforms lose
/// less than that, with few points, each stage's products are summed apart and added by an addition, which rounds:
/// F(2x2, 3x3) of 64 channels is then off by 2.7e-7 instead of 9.7e-7 (root mean square, relative; by multiply-adds of
/// f32 2.7e-7). F(4x4, 3x3) is off by 1.4e-6 without, 1.2e-6 with it (1.8e-6), and takes a tenth longer.
constexpr bool sums_apart = mma::passes > 1 && points <= 25;

/// Row tiles whose products take turns: none waits for the one before.
constexpr int most_together = sums_apart ? 2 : 4;
constexpr int rows_together = row_tiles < most_together ? row_tiles : most_together;

using tile_sums = float[rows_together][column_tiles][4];

template <int Pass>
RICCI_FUNCTION void multiply_passes(float (*sums)[column_tiles][4], mma::left (&x)[rows_together],
                                    mma::right (&y)[column_tiles], bool of_new_columns) {
    if constexpr (Pass < mma::passes) {
        if (of_new_columns)
            RICCI_UNROLL
            for (int c = 0; c < column_tiles; ++c) y[c].template become<Pass>();
        RICCI_UNROLL
        for (int r = 0; r < rows_together; ++r) {
            x[r].template become<Pass>();
            RICCI_UNROLL
            for (int c = 0; c < column_tiles; ++c) mma::multiply<Pass>(sums[r][c], x[r], y[c]);
        }
        multiply_passes<Pass + 1>(sums, x, y, of_new_columns);
    }
}

RICCI_FUNCTION void multiply_tiles(float (*sums)[column_tiles][4], mma::left (&x)[rows_together],
                                   mma::right (&y)[column_tiles], bool of_new_columns) {
    if constexpr (!sums_apart) {
        multiply_passes<0>(sums, x, y, of_new_columns);
    } else {
        tile_sums own;
        clear_sums(own);
        multiply_passes<0>(own, x, y, of_new_columns);
        RICCI_UNROLL
        for (int r = 0; r < rows_together; ++r)
            RICCI_UNROLL
            for (int c = 0; c < column_tiles; ++c)
                RICCI_UNROLL
                for (int i = 0; i < 4; ++i) sums[r][c][i] += own[r][c][i];
    }
}

RICCI_FUNCTION mma::right load_right(const unsigned char* column_tile) {
    const int lane = threadIdx.x % 32, upper = lane >> 4;
    mma::right out;
    if constexpr (of_lane == 2) {
        const auto* const from = reinterpret_cast<const unsigned*>(column_tile) + 2 * lane;
        out.w[0] = from[upper], out.w[1] = from[1 - upper];
    } else {
        const auto two = load_neighbors<unsigned, 2>(reinterpret_cast<const unsigned*>(column_tile) + 2 * lane);
        out.w[0] = two.at(0), out.w[1] = two.at(1);
    }
    return out;
}
RICCI_FUNCTION mma::left load_left(const unsigned char* row_tile) {
    const auto four =
        load_neighbors<unsigned, 4>(reinterpret_cast<const unsigned*>(row_tile) + 4 * (threadIdx.x % 32));
    return {{four.at(0), four.at(1), four.at(2), four.at(3)}};
}

/// What a warp multiplies at a time: some rows of U for a point by all of V.
struct factors {
    mma::left rows[rows_together];
    mma::right columns[column_tiles];
};
constexpr int steps_of_point = row_tiles / rows_together;

/// Step number `Step` of a stage: the next one's factors are asked for before this one's are multiplied.
template <int Step> RICCI_FUNCTION void load_factors(const block_memory& at, int stage, factors& f) {
    constexpr int i = Step / steps_of_point, r = Step % steps_of_point * rows_together;
    const int warp = static_cast<int>(threadIdx.x) / 32, point = warp + i * consumer_warps;
    if (points % consumer_warps != 0 && point >= points) return;
    const unsigned char* const x = at.filters(stage) + (point * row_tiles + r) * bytes_of_row_tile;
    RICCI_UNROLL
    for (int t = 0; t < rows_together; ++t) f.rows[t] = load_left(x + t * bytes_of_row_tile);
    if constexpr (r == 0) {
        const unsigned char* const y = at.tiles(stage) + point * column_tiles * bytes_of_column_tile;
        RICCI_UNROLL
        for (int c = 0; c < column_tiles; ++c) f.columns[c] = load_right(y + c * bytes_of_column_tile);
    }
}
template <int Step>
RICCI_FUNCTION void multiply_steps(const block_memory& at, int stage, factors& f, warp_sums& sums) {
    if constexpr (Step < points_of_warp * steps_of_point) {
        constexpr int i = Step / steps_of_point, r = Step % steps_of_point * rows_together;
        factors next;
        if constexpr (Step + 1 < points_of_warp * steps_of_point) load_factors<Step + 1>(at, stage, next);
        const int point = static_cast<int>(threadIdx.x) / 32 + i * consumer_warps;
        if (points % consumer_warps == 0 || point < points)
            multiply_tiles(&sums[i][r], f.rows, f.columns, r == 0);
        if constexpr ((Step + 1) % steps_of_point != 0) {
            RICCI_UNROLL
            for (int c = 0; c < column_tiles; ++c) next.columns[c] = f.columns[c];
        }
        multiply_steps<Step + 1>(at, stage, next, sums);
    }
}

/// The products of a stage.
RICCI_FUNCTION void multiply_stage(const block_memory& at, int stage, warp_sums& sums) {
    factors first;
    load_factors<0>(at, stage, first);
    multiply_steps<0>(at, stage, first, sums);
}
