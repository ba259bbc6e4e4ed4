// factor_tiles: P A = L U of square matrices whose elements lie as the tensor cores' tiles in the registers of one
// warp or two, blocked by four columns: everything behind a panel is one product of the tensor cores.
//
// Tiles are of 8 rows; lane l, h = l / 4, q = l % 4, has row h of each and two of its columns. Which columns of the
// matrix those are is free, so of a panel of four columns each q has one: two panels are a tile. A panel is
// transposed within its quads of lanes: then lane l has row h of tiles q and q + 4, all of the four columns, and a
// pivot's row comes from its lane by shuffles.
//
// Rows stay where they are; lanes track their positions. A panel's rows also keep what the steps would have made of
// the identity, in the registers of columns that are done: with X, the pivots' four rows as they were right of the
// panel, and that matrix M, everything behind the panel, U's rows among it, is C + M X: no triangle is solved.
// M = -L21 L11^-1 in rows below: L11 is 4 x 4 and its multipliers are at most 1, so its inverse is at most 4.
//
// Two warps have panels by turns; one factors its own and tells M, and both update what they have. Columns of
// factors go to shared memory as they become final, from where they leave with rows in their positions.
//
// What bounds it (H100, n = 32: 0.76 of the triad): a warp issues an instruction every 8 cycles, of 3640 a matrix,
// and registers leave 16 warps to an SM: it waits for results of arithmetic, for shuffles and for the f64 units, in
// this order. Steps of a panel are unrolled, panels are not: 70 KB of instructions, n = 32 all unrolled, were
// fetched too slowly (0.69; n = 64 0.12). What did not help: 96 registers (spills: 0.66), loads of two rows at a
// time, and letting a warp factor its panel before it updates its other columns (n = 64: 0.42 for 0.43).
//
// Constants: factor.hpp's, and
//   matrices_of_block * lanes_of_matrix == threads_per_block; lanes_of_matrix: 32 or 64, then one matrix a block
//   shared_bytes     at least factor_tiles_shared, which lowering computes too
#pragma once

#include "factor_pivot_search.cuh"
#include "factor_shuffles.cuh"
#include "neighbors.cuh"
#include "ptx_mma.cuh"

static_assert(m == n && m <= 64 && exchanges && !has_sides && !has_determinant && keeps_factors);
static_assert(!is_complex && sizeof(real) == 8, "f64");

constexpr int warps = lanes_of_matrix / 32;
static_assert(lanes_of_matrix == 32 || (lanes_of_matrix == 64 && matrices_of_block == 1));
constexpr int panel_width = 4, row_tiles = (n + 7) / 8, panels = (n + 3) / 4;
constexpr int column_tiles = (panels + 2 * warps - 1) / (2 * warps); ///< of a warp
constexpr int lane_rows = row_tiles > 4 ? 2 : 1, slots = 32 * lane_rows;
/// Elements from a column of factors to the next; and from a pivot's row to the next, so that lanes of different
/// rows and columns lie on different banks.
constexpr int staged_column = slots + 1;
constexpr int row_pitch = (8 * column_tiles + 11) / 16 * 16 + 4;

/// What warps tell one another of a panel.
struct told_panel {
    element update[row_tiles][32];
    unsigned pivots_of_lane[32];
    int position[lane_rows][32];
};
struct matrix_memory {
    alignas(16) element pivot_rows[warps][2][panel_width * row_pitch];
    element staged[n * staged_column];
    told_panel told[warps > 1 ? 2 : 1];
    int pivots_at[n], slot_at[slots], info[warps];
};
constexpr int factor_tiles_shared = matrices_of_block * static_cast<int>(sizeof(matrix_memory));
static_assert(shared_bytes >= factor_tiles_shared, "lowering and the kernel count the same");

/// Without divisions where matrices lie one behind another.
RICCI_FUNCTION element* matrix_of(const arguments& a, long long at) {
    if constexpr (in_slabs)
        return static_cast<element*>(a.data[matrix_role]) + at * (n * n);
    else
        return operand_of<matrix_role>(a, at);
}

class tiled_lu {
  public:
    RICCI_FUNCTION tiled_lu(const arguments& a, long long at, matrix_memory& memory)
        : memory_(memory), lane_(static_cast<int>(threadIdx.x % 32)), warp_(0) {
        if constexpr (warps > 1) warp_ = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0);
        const element* const from = matrix_of(a, at);
        RICCI_UNROLL
        for (int j = 0; j < column_tiles; ++j)
            RICCI_UNROLL
            for (int i = 0; i < 2; ++i)
                RICCI_UNROLL
                for (int t = 0; t < row_tiles; ++t) {
                    const int row = 8 * t + lane_ / 4, column = column_of(j, i);
                    const bool is_inside = (8 * t + 8 <= n || row < n) &&
                                           (4 * warps * (2 * j + i + 1) <= n || column < n);
                    c_[t][j][i] = zero();
                    if (is_inside) c_[t][j][i] = as_meant(from[offset_of<matrix_role>(a, row, column)]);
                }
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) {
            const int row = 8 * (lane_ % 4 + 4 * r) + lane_ / 4;
            position_[r] = row < n ? row : -1;
            standing_[r] = row < n ? is_candidate | static_cast<unsigned>(lane_ + 32 * r) : 0;
        }
    }

    RICCI_FUNCTION void factor() {
        RICCI_UNROLL_ONCE
        for (int p = 0; p < panels; ++p) {
            const bool is_mine = warps == 1 || warp_ == p % warps;
            element update[row_tiles];
            unsigned pivots_of_lane = 0;
            if (is_mine) factor_panel(p, update, pivots_of_lane);
            if constexpr (warps > 1) {
                told_panel& told = memory_.told[p % 2];
                if (is_mine) tell(told, update, pivots_of_lane);
                __syncthreads();
                if (!is_mine) hear(told, p, update, pivots_of_lane);
            }
            if (p + 1 == panels) break;
            keep_pivot_rows(p, pivots_of_lane);
            const int next = (p + warps - warp_) / warps; // panel of the warp that is not done
            update_tiles(p, update, ~0u << next / 2);
        }
    }

    RICCI_FUNCTION void store(const arguments& a, long long at) {
        if constexpr (warps > 1) {
            if (lane_ == 0) memory_.info[warp_] = info_;
            __syncthreads();
            const int x = memory_.info[0], y = memory_.info[1];
            info_ = x == 0 || (y != 0 && y < x) ? y : x;
        }
        if (threadIdx.x % lanes_of_matrix == 0) store_info(a, at, info_);
        element* const to = matrix_of(a, at);
        constexpr bool by_columns = matrix_step[matrix_role][0] == 1 || matrix_step[matrix_role][0] == -1;
        if constexpr (by_columns && lane_rows == 1) {
            if (position_[0] >= 0) {
                RICCI_UNROLL_4
                for (int j = warp_; j < n; j += warps)
                    to[offset_of<matrix_role>(a, position_[0], j)] = staged(j, lane_);
            }
        } else {
            if (warps == 1 || warp_ == 0) {
                RICCI_UNROLL
                for (int r = 0; r < lane_rows; ++r)
                    if (position_[r] >= 0) memory_.slot_at[position_[r]] = lane_ + 32 * r;
            }
            if constexpr (warps > 1)
                __syncthreads();
            else
                __syncwarp();
            if constexpr (by_columns) {
                RICCI_UNROLL
                for (int r = 0; r < lane_rows; ++r)
                    if (const int i = lane_ + 32 * r; i < n) {
                        const int slot = memory_.slot_at[i];
                        RICCI_UNROLL_4
                        for (int j = warp_; j < n; j += warps)
                            to[offset_of<matrix_role>(a, i, j)] = staged(j, slot);
                    }
            } else {
                RICCI_UNROLL_4
                for (int i = warp_; i < n; i += warps) {
                    const int slot = memory_.slot_at[i];
                    RICCI_UNROLL
                    for (int r = 0; r < lane_rows; ++r)
                        if (const int j = lane_ + 32 * r; j < n)
                            to[offset_of<matrix_role>(a, i, j)] = staged(j, slot);
                }
            }
        }
        if constexpr (has_role[vector_role]) {
            __syncwarp();
            for (int k = static_cast<int>(threadIdx.x) % lanes_of_matrix; k < n; k += lanes_of_matrix)
                operand_of<vector_role>(a, at)[offset_of<vector_role>(a, k, 0)] =
                    static_cast<typename role_element<vector_role>::type>(memory_.pivots_at[k]);
        }
    }

  private:
    RICCI_FUNCTION void tell(told_panel& told, const element (&update)[row_tiles], unsigned pivots_of_lane) const {
        RICCI_UNROLL
        for (int t = 0; t < row_tiles; ++t) told.update[t][lane_] = update[t];
        told.pivots_of_lane[lane_] = pivots_of_lane;
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) told.position[r][lane_] = position_[r];
    }
    RICCI_FUNCTION void hear(const told_panel& told, int p, element (&update)[row_tiles], unsigned& pivots_of_lane) {
        RICCI_UNROLL
        for (int t = 0; t < row_tiles; ++t) update[t] = told.update[t][lane_];
        pivots_of_lane = told.pivots_of_lane[lane_];
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) {
            position_[r] = told.position[r][lane_];
            if (position_[r] < panel_width * (p + 1)) standing_[r] = 0;
        }
    }

    RICCI_FUNCTION int column_of(int j, int i) const {
        return panel_width * (warps * (2 * j + i) + warp_) + lane_ % 4;
    }

    RICCI_FUNCTION element staged(int j, int slot) const {
        return as_meant(memory_.staged[j * staged_column + slot]);
    }

    /// The warp's panel number `which`. (A loop over them would put the tiles into memory, not registers.)
    template <int Panel>
    RICCI_FUNCTION void take_columns(int which, element (&x)[lane_rows][4]) {
        if (Panel == 2 * column_tiles - 1 || which == Panel) {
            as_if_new(0); // a branch
            RICCI_UNROLL
            for (int t = 0; t < 4 * lane_rows; ++t)
                x[t / 4][t % 4] = t < row_tiles ? c_[t < row_tiles ? t : 0][Panel / 2][Panel % 2] : zero();
        } else if constexpr (Panel + 1 < 2 * column_tiles) {
            take_columns<Panel + 1>(which, x);
        }
    }

    /// How panel p updates what is behind it, and which of its pivots, counted from 1, the lane's row of each tile
    /// is, in four bits of each.
    RICCI_FUNCTION void factor_panel(int p, element (&update)[row_tiles], unsigned& pivots_of_lane) {
        element x[lane_rows][4];
        take_columns<0>(p / warps, x);
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) transpose_in_quads(x[r]);
        pivots_of_lane = 0;
        element* put = memory_.staged + panel_width * p * staged_column + lane_;
        RICCI_UNROLL
        for (int c = 0; c < panel_width; ++c) {
            const int k = panel_width * p + c;
            if (n % panel_width != 0 && k >= n) break;
            // the column is x[.][0], those behind it follow, and last come those of the identity
            unsigned key[lane_rows];
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r)
                key[r] = search_key(x[r][0], standing_[r]);
            bool is_second = lane_rows > 1 && key[lane_rows - 1] > key[0]; // of the lane's rows
            const auto best_element = [&](int j) {
                return lane_rows > 1 && is_second ? x[lane_rows - 1][j] : x[0][j];
            };
            unsigned largest = largest_of_lanes<32>(lane_rows > 1 && is_second ? key[lane_rows - 1] : key[0]);
            element quick = near_reciprocal(negative(best_element(0)));
            if (__any_sync(0xffffffffu, has_rival(key, largest))) {
                largest = decide_pivot<32>(
                    key, largest, true, [&](int r) { return x[r][0]; }, [&](int r) { return position_[r]; });
                if constexpr (lane_rows > 1) {
                    is_second = key[lane_rows - 1] == largest;
                    quick = near_reciprocal(negative(best_element(0)));
                }
            }
            const int owner = static_cast<int>(largest & 31u);
            element of_pivot[4];
            RICCI_UNROLL
            for (int j = 1; j < 4; ++j) of_pivot[j] = shuffle(best_element(j), owner);
            element inverse = shuffle(quick, owner), l[lane_rows];
            const int of_best = lane_rows > 1 && is_second ? position_[lane_rows - 1] : position_[0],
                      position = __shfl_sync(0xffffffffu, of_best, owner);
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r) l[r] = x[r][0];
            if (is_extreme(largest & ~(is_candidate | row_bits))) {
                as_if_new(0); // a branch
                const element pivot = shuffle(best_element(0), owner);
                if (is_zero(pivot)) {
                    inverse = negative(one());
                    if (info_ == 0) info_ = k + 1;
                } else {
                    const bool is_small = largest < (is_candidate | 0x40000000u);
                    const real scale = is_small ? pivot_inverse::scale : 1 / pivot_inverse::scale;
                    inverse = near_reciprocal(scaled(pivot, -scale));
                    RICCI_UNROLL
                    for (int r = 0; r < lane_rows; ++r) l[r] = scaled(l[r], scale);
                }
            }
            if (lane_ == 0) memory_.pivots_at[k] = position;
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r) {
                const bool is_pivot = key[r] == largest, is_below = standing_[r] != 0 && !is_pivot;
                if (position_[r] == k) position_[r] = position;
                if (is_pivot) {
                    position_[r] = k, standing_[r] = 0;
                    pivots_of_lane |= static_cast<unsigned>(c + 1) << (4 * (lane_ % 4 + 4 * r));
                }
                l[r] = l[r] * inverse;
                put[32 * r] = is_below ? negative(l[r]) : x[r][0];
                if (!is_below) l[r] = zero();
                RICCI_UNROLL
                for (int j = 1; j < 4; ++j) {
                    add_product(x[r][j], l[r], of_pivot[j]);
                    x[r][j - 1] = x[r][j];
                }
                x[r][3] = l[r];
            }
            put += staged_column;
        }
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) {
            transpose_in_quads(x[r]);
            RICCI_UNROLL
            for (int t = 0; t < 4; ++t)
                if (4 * r + t < row_tiles) update[4 * r + t < row_tiles ? 4 * r + t : 0] = x[r][t];
        }
        RICCI_UNROLL
        for (int apart = 1; apart < 4; apart *= 2)
            pivots_of_lane |= __shfl_xor_sync(0xffffffffu, pivots_of_lane, apart);
    }

    /// The pivots' rows of panel p as they are right of it.
    RICCI_FUNCTION void keep_pivot_rows(int p, unsigned pivots_of_lane) {
        element* const put = pivot_rows(p) + 2 * (lane_ % 4) - row_pitch;
        RICCI_UNROLL
        for (int t = 0; t < row_tiles; ++t)
            if (const unsigned which = pivots_of_lane >> (4 * t) & 15u; which != 0) {
                RICCI_UNROLL
                for (int j = 0; j < column_tiles; ++j) {
                    neighbors<element, 2> pair;
                    pair.e[0] = c_[t][j][0], pair.e[1] = c_[t][j][1];
                    element* const to = put + static_cast<int>(which) * row_pitch + 8 * j;
                    *reinterpret_cast<neighbors<element, 2>*>(to) = pair;
                }
            }
        __syncwarp();
    }
    RICCI_FUNCTION element* pivot_rows(int p) { return memory_.pivot_rows[warps > 1 ? warp_ : 0][p % 2]; }

    /// The tiles that have a bit each by panel p.
    RICCI_FUNCTION void update_tiles(int p, const element (&update)[row_tiles], unsigned tiles) {
        const element* const rows_of = pivot_rows(p) + lane_ % 4 * row_pitch + lane_ / 4;
        RICCI_UNROLL
        for (int j = 0; j < column_tiles; ++j) {
            if ((tiles >> j & 1u) == 0) continue;
            as_if_new(0); // a branch
            const element x = rows_of[8 * j];
            RICCI_UNROLL
            for (int t = 0; t < row_tiles; t += 2) {
                constexpr int last = row_tiles - 1;
                const int u = t < last ? t + 1 : last;
                if (t < u) {
                    double d[4] = {c_[t][j][0], c_[t][j][1], c_[u][j][0], c_[u][j][1]};
                    mma_f64(d, {update[t], update[u]}, x);
                    c_[t][j][0] = d[0], c_[t][j][1] = d[1], c_[u][j][0] = d[2], c_[u][j][1] = d[3];
                } else {
                    mma_f64(c_[t][j], update[t], x);
                }
            }
        }
    }

    matrix_memory& memory_;
    int lane_, warp_, info_ = 0;
    element c_[row_tiles][column_tiles][2];
    int position_[lane_rows];
    unsigned standing_[lane_rows];
};

extern "C" __global__ void __launch_bounds__(threads_per_block, stages > 0 ? stages : 1)
    ricci_factor(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(shared);
    const int p = warps > 1 ? 0 : static_cast<int>(threadIdx.x) / 32;
    const long long at = block_number() * matrices_of_block + p;
    if (at >= a.matrices) return; // whole warps, all of a matrix
    matrix_memory& memory = reinterpret_cast<matrix_memory*>(shared)[p];
    tiled_lu lu(a, at, memory);
    lu.factor();
    lu.store(a, at);
}
