// factor_stream: P A = L U of square f64 matrices of 65 rows and more, one after another whole in a block's shared
// memory, columns in strips of eight. One warp factors a strip, the panel (factor_stream_panel), while others bring
// what is behind it up to date by the panel before.
//
// Rows stay where they are, in slots: no row is exchanged, and a row that became a pivot is final once all columns
// behind its panel are. It leaves for its place in memory, and in its slot comes a row of the block's next matrix:
// while one is factored, its rows before go and those of the next come.
//
// A panel also makes N = L21 L11^-1, so that everything behind it, the pivots' rows among it, is C - N X of the tensor
// cores: X are the pivots' rows as they were, no triangle is solved. L11 is of eight columns and its multipliers are at
// most 1.
//
// What all wait for is the panel's chain of eight searches. So all warps update the next panel's strip first, a
// tile of 16 rows each; and of eight warps that one which shares the panel's quarter of an SM makes no products, for
// which the panel's arithmetic would wait there.
//
// Constants: factor.hpp's, and
//   threads_per_block      128 or more
//   shared_bytes           at least sizeof(stream_memory), which lowering computes too
//   stages                 blocks that an SM shall have registers for; 0: one
#pragma once

#include "factor_stream_panel.cuh"
#include "ptx_copy.cuh"
#include "ptx_mma.cuh"

static_assert(shared_bytes >= static_cast<int>(sizeof(stream_memory)), "lowering and the kernel count the same");

/// Roles of warps: 0 factors panels; the tracker finds positions.
constexpr int tracker = warps > 4 ? 4 : warps - 1, workers = warps > 4 ? warps - 2 : warps - 1;
static_assert(workers > 1);
constexpr int tiles = (n + 15) / 16; ///< of a strip
/// Neighbors of a column are neighbors in memory.
constexpr bool by_columns = length_of_step(matrix_step[matrix_role][0]) <= length_of_step(matrix_step[matrix_role][1]);

/// Where the tensor cores' column h is in a strip, so that lanes lie on different banks: those of rows h and columns
/// 2q and 2q + 1 have columns q and q + 4.
RICCI_FUNCTION int column_of(int h) { return h / 2 + h % 2 * 4; }

class streamed_lu {
  public:
    RICCI_FUNCTION streamed_lu(const arguments& a, stream_memory& memory)
        : a_(a), memory_(memory), lane_(static_cast<int>(threadIdx.x % 32)),
          warp_(__shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0)) {}

    /// The first matrix.
    RICCI_FUNCTION void load(const element* from) {
        RICCI_UNROLL_4
        for (int e = static_cast<int>(threadIdx.x); e < n * n; e += threads_per_block) {
            const int i = by_columns ? e % n : e / n, j = by_columns ? e / n : e % n;
            async_copy<8>(memory_.columns + i + j * ld, from + offset_of<matrix_role>(a_, i, j), 8);
        }
        for (int i = static_cast<int>(threadIdx.x); i < n; i += threads_per_block)
            memory_.first_row[i] = static_cast<unsigned char>(i);
        if (threadIdx.x == 0) {
            // blocks of an SM factor their panels in different quarters of it
            const int slot = warp_of_sm();
            memory_.panel_warp = (slot / warps - slot) & 3;
        }
        commit_async_copies();
        wait_async_copies<0>();
        __syncthreads();
        role_ = warp_ - memory_.panel_warp;
        if (role_ < 0) role_ += warps;
    }

    /// next: whose rows come into the place of this one's, or null.
    RICCI_FUNCTION void factor(long long at, element* to, const element* next) {
        panel_warp panel(memory_);
        RICCI_UNROLL_ONCE
        for (int p = -1; p + 1 < panels; ++p) {
            if (p >= 0) {
                take_pivots(p);
                RICCI_UNROLL
                for (int t = 0; t < tiles; t += warps)
                    if (t + warps <= tiles || t + warp_ < tiles) update_tile(p, t + warp_);
            } else {
                for (int e = static_cast<int>(threadIdx.x); e < strip * ld; e += threads_per_block)
                    memory_.multipliers[0][e] = memory_.columns[e];
            }
            __syncthreads();
            if (role_ == 0)
                panel.factor(p + 1);
            else if (p >= 0)
                work(p, at, to, next);
            __syncthreads();
        }
        if (role_ == 0 && lane_ == 0) store_info(a_, at, panel.info());
        if (panels > 1) move_rows(panels - 2, warp_, warps, to, next);
        move_rows(panels - 1, warp_, warps, to, next);
        if (role_ == tracker) {
            find_positions(panels - 1, at);
            __syncwarp();
            for (int k = lane_; k < n; k += 32)
                memory_.first_row[memory_.pivot_slot[k]] = static_cast<unsigned char>(k);
        }
        commit_async_copies();
        wait_async_copies<0>();
        __syncthreads();
    }

  private:
    /// While panel p + 1 is factored.
    RICCI_FUNCTION void work(int p, long long at, element* to, const element* next) {
        if (role_ == tracker) find_positions(p, at);
        if (warps > 4 && role_ == tracker) return;
        const int who = role_ - 1 - (warps > 4 && role_ > tracker);
        if (who == 1) place_pivot_rows(memory_, p, strip);
        update_strips(p, who);
        if (p > 0) move_rows(p - 1, who, workers, to, next);
    }

    RICCI_FUNCTION void take_pivots(int p) {
        RICCI_UNROLL
        for (int s = 0; s < 2; ++s) pivot_[s] = memory_.pivot_slot[strip * p + 4 * s + lane_ % 4];
    }
    RICCI_FUNCTION element* column(int s, int j) const { return memory_.columns + (strip * s + j) * ld; }
    /// Of the pivots' rows, negated.
    RICCI_FUNCTION void take_rows(int s, element (&b)[2]) const {
        const element* const from = column(s, column_of(lane_ / 4));
        RICCI_UNROLL
        for (int k = 0; k < 2; ++k) b[k] = negative(from[pivot_[k]]);
    }
    RICCI_FUNCTION void take_multipliers(int p, int t, element (&x)[2][2]) const {
        const element* const from = memory_.multipliers[p % 2] + 16 * t + lane_ / 4 + lane_ % 4 * ld;
        RICCI_UNROLL
        for (int k = 0; k < 2; ++k)
            RICCI_UNROLL
            for (int e = 0; e < 2; ++e)
                x[k][e] = e == 0 || strips % 2 == 0 || 2 * t + 1 < strips ? from[8 * e + 4 * k * ld] : zero();
    }
    /// Which rows a lane has that are written: of tile t, bit t of [0], and of its rows h + 8 of [1].
    RICCI_FUNCTION void take_rows_left(int p, unsigned (&rows)[2]) const {
        rows[0] = rows[1] = 0;
        RICCI_UNROLL
        for (int t = 0; t < tiles; ++t) {
            const unsigned mine = memory_.standing_after[p % 2][t / 2] >> (t % 2 * 16 + lane_ / 4);
            rows[0] |= (mine & 1u) << t, rows[1] |= (mine >> 8 & 1u) << t;
        }
    }

    /// Tile t of the next panel's strip: the rows that may be pivots there.
    RICCI_FUNCTION void update_tile(int p, int t) {
        element x[2][2], b[2];
        take_rows(p + 1, b);
        take_multipliers(p, t, x);
        const int place = lane_ % 4 * ld + 16 * t + lane_ / 4;
        element* const c = column(p + 1, 0) + place;
        const unsigned mine = memory_.standing_after[p % 2][t / 2] >> (t % 2 * 16 + lane_ / 4);
        const bool is_left[2] = {(mine & 1u) != 0, (mine >> 8 & 1u) != 0};
        double d[4], more[4] = {}; // products that do not wait for each other
        RICCI_UNROLL
        for (int e = 0; e < 4; ++e) d[e] = is_left[e / 2] ? c[e / 2 * 8 + e % 2 * 4 * ld] : zero();
        mma_f64(d, x[0], b[0]);
        mma_f64(more, x[1], b[1]);
        RICCI_UNROLL
        for (int e = 0; e < 4; ++e) d[e] += more[e];
        const auto put = [&](element* to) {
            RICCI_UNROLL
            for (int e = 0; e < 4; ++e)
                if (is_left[e / 2]) to[e / 2 * 8 + e % 2 * 4 * ld] = d[e];
        };
        put(c);
        put(memory_.multipliers[(p + 1) % 2] + place);
    }
    /// N of the pivots' rows, each of which is that of its step.
    RICCI_FUNCTION void take_multipliers_of_pivots(int p, element (&x)[2]) const {
        const int h = lane_ / 4;
        const element* const from = memory_.pivot_rows[p % 2] + (strip - 1) * h + strip;
        RICCI_UNROLL
        for (int k = 0; k < 2; ++k) x[k] = 4 * k + lane_ % 4 < h ? from[4 * k + lane_ % 4] : zero();
    }
    /// The pivots' rows in strip s.
    RICCI_FUNCTION void update_pivots(int s, int slot, const element (&x)[2], const element (&b)[2]) {
        element* const c = column(s, lane_ % 4) + slot;
        double d[2] = {c[0], c[4 * ld]};
        RICCI_UNROLL
        for (int k = 0; k < 2; ++k) mma_f64(d, x[k], b[k]);
        __syncwarp();
        c[0] = d[0], c[4 * ld] = d[1];
    }
    /// Strips p + 2 + who, + workers, ... behind panel p, and by the first one what is left of p + 1, the pivots' rows.
    /// Only rows that are left are read: in other slots the next matrix's may be arriving.
    RICCI_FUNCTION void update_strips(int p, int who) {
        if (who > 0 && p + 2 + who >= strips) return;
        element x[tiles][2][2], of_pivots[2], b[2];
        unsigned rows[2];
        const int slot = memory_.pivot_slot[strip * p + lane_ / 4];
        take_rows_left(p, rows);
        take_multipliers_of_pivots(p, of_pivots);
        RICCI_UNROLL
        for (int t = 0; t < tiles; ++t) take_multipliers(p, t, x[t]);
        if (who == 0) {
            take_rows(p + 1, b);
            update_pivots(p + 1, slot, of_pivots, b);
        }
        constexpr int at_once = 4;
        double d[at_once][4] = {}; // where rows are not left whatever it was
        RICCI_UNROLL_ONCE
        for (int s = p + 2 + who; s < strips; s += workers) {
            take_rows(s, b);
            element* const c = column(s, lane_ % 4) + lane_ / 4;
            RICCI_UNROLL
            for (int t0 = 0; t0 < tiles; t0 += at_once) {
                RICCI_UNROLL
                for (int t = t0; t < smaller_of(t0 + at_once, tiles); ++t)
                    RICCI_UNROLL
                    for (int e = 0; e < 4; ++e)
                        if ((rows[e / 2] >> t & 1u) != 0) d[t - t0][e] = c[16 * t + e / 2 * 8 + e % 2 * 4 * ld];
                RICCI_UNROLL
                for (int k = 0; k < 2; ++k)
                    RICCI_UNROLL
                    for (int t = t0; t < smaller_of(t0 + at_once, tiles); ++t) mma_f64(d[t - t0], x[t][k], b[k]);
                RICCI_UNROLL
                for (int t = t0; t < smaller_of(t0 + at_once, tiles); ++t)
                    RICCI_UNROLL
                    for (int e = 0; e < 4; ++e)
                        if ((rows[e / 2] >> t & 1u) != 0) c[16 * t + e / 2 * 8 + e % 2 * 4 * ld] = d[t - t0][e];
            }
            update_pivots(s, slot, of_pivots, b);
        }
    }

    /// Rows of panel p leave, and the next matrix's come; every `parts`-th share of it by one warp.
    RICCI_FUNCTION void move_rows(int p, int part, int parts, element* to, const element* next) {
        const int first = strip * p, count = smaller_of(strip, n - first);
        if constexpr (by_columns) {
            const int i = lane_ % strip, j = 4 * part + lane_ / strip;
            if (i < count)
                move_some(memory_.columns + memory_.pivot_slot[first + i] + j * ld, to, next,
                          offset_of<matrix_role>(a_, first + i, j), (n - j + 4 * parts - 1) / (4 * parts),
                          4 * parts * ld, offset_of<matrix_role>(a_, 0, 4 * parts));
        } else {
            RICCI_UNROLL_ONCE
            for (int i = part; i < count; i += parts)
                move_some(memory_.columns + memory_.pivot_slot[first + i] + lane_ * ld, to, next,
                          offset_of<matrix_role>(a_, first + i, lane_), (n - lane_ + 31) / 32, 32 * ld,
                          offset_of<matrix_role>(a_, 0, 32));
        }
    }
    /// `count` elements, so far apart.
    RICCI_FUNCTION void move_some(element* from, element* to, const element* next, long long place, int count,
                                  int between, long long far_between) {
        constexpr int at_once = 4;
        to += place;
        const bool has_next = next != nullptr;
        next += has_next ? place : 0;
        RICCI_UNROLL_ONCE
        for (; count > 0; count -= at_once) {
            element x[at_once];
            RICCI_UNROLL
            for (int u = 0; u < at_once; ++u)
                if (u < count) x[u] = from[u * between];
            RICCI_UNROLL
            for (int u = 0; u < at_once; ++u) {
                if (u < count) {
                    *to = x[u];
                    if (has_next) async_copy<8>(from, next, 8);
                }
                from += between, to += far_between;
                if (has_next) next += far_between;
            }
        }
    }

    /// Makes of the slots of panel p's pivots the positions that these rows had.
    RICCI_FUNCTION void find_positions(int p, long long at) {
        const int first = strip * p, k = first + lane_, count = smaller_of(strip, n - first);
        const int q = position_of_step<strip>(memory_, first, count);
        const bool is_pivot = lane_ < count;
        if (is_pivot) memory_.positions[k] = static_cast<unsigned char>(q);
        if constexpr (has_role[vector_role])
            if (is_pivot)
                operand_of<vector_role>(a_, at)[offset_of<vector_role>(a_, k, 0)] =
                    static_cast<typename role_element<vector_role>::type>(q);
        __syncwarp();
    }

    const arguments& a_;
    stream_memory& memory_;
    int lane_, warp_, role_ = 0;
    int pivot_[2];
};

extern "C" __global__ void __launch_bounds__(threads_per_block, stages > 0 ? stages : 1)
    ricci_factor(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(shared);
    stream_memory& memory = *reinterpret_cast<stream_memory*>(shared);
    streamed_lu lu(a, memory);
    const long long blocks = static_cast<long long>(gridDim.x) * gridDim.y, first = block_number();
    if (first >= a.matrices) return;
    element* now = operand_of<matrix_role>(a, first);
    lu.load(now);
    RICCI_UNROLL_ONCE
    for (long long at = first; at < a.matrices; at += blocks) {
        element* const next = at + blocks < a.matrices ? operand_of<matrix_role>(a, at + blocks) : nullptr;
        lu.factor(at, now, next);
        now = next;
    }
}
