// tall_skinny_ab_warps: C = X*Y with a long m of one axis and small n and k, by the tensor cores. A warp takes rows
// of X from memory into its registers, as the tensor cores want them, and sends its rows of C from there; warps never
// wait for each other. Y lies in shared memory in the order in which lanes take it, split or rounded already where
// f32 is (see mma_numbers.cuh); a block makes it once and takes turns at rows, `a.blocks` blocks of them apart.
//
// With q = lane % 4 and h = lane / 4, a lane holds of X the rows of its `row_slots`, one each, and of every 4*k_lane
// steps of the sum k_lane neighbors. Rows are dealt to slots and lanes so that a lane's numbers of X, or its elements
// of C, are neighbors in memory.
// Constants: product.hpp's, and
//   threads_per_block
//   blocks_of_an_sm    at least, so that the compiler does not spill to make room for more
//   c_transposed       whether C^T = Y^T X^T is computed, for a lane's elements of C to be neighbors in a column;
//                      else in a row
//   row_slots          of a lane; a warp takes 8 rows for each
//   row_vector         slots of a lane whose rows are neighbors
//   k_lane             neighboring steps of a lane
//   k_unrolled         blocks of 4*k_lane steps whose numbers of X a lane asks for at once, while it multiplies those
//                      before
//   x_along_m          whether X's neighbors in memory are rows (row_vector of them are taken at once) or steps
//                      (k_lane of them)
//   runs_ahead         whether the rows of the next turn are asked for, as far as the L2 cache, before this turn's
//                      are multiplied
// Where pointers or strides do not allow vectors, and at the end of m, elements are moved one by one.
#pragma once

#include "mma_numbers.cuh"
#include "product_neighbors.cuh"

using mma = mma_of<x_type>;
using number = mma::number;

constexpr int steps = static_cast<int>(k), columns = static_cast<int>(n);
constexpr int rows_of_warp = 8 * row_slots, warps = threads_per_block / 32;
constexpr int k_block = 4 * k_lane, k_blocks = (steps + k_block - 1) / k_block,
              products_of_block = k_lane / mma::elements;
constexpr int row_tiles = c_transposed ? row_slots : row_slots / mma::lane_rows;
constexpr int tile_columns = c_transposed ? mma::rows : 8, column_tiles = (columns + tile_columns - 1) / tile_columns;
constexpr bool is_split = mma::passes > 1, is_float = mma::elements == 2; ///< f32, split or rounded

// Y, as lanes take it: for each product `y_parts` of 16 bytes a lane, neighboring lanes' side by side. Of a tile, the
// high halves of split numbers, then the low ones; in the order of the product's operands, so that these are loaded
// into neighboring registers.
template <int Bytes> struct stored_number { using type = unsigned; };
template <> struct stored_number<2> { using type = unsigned short; };
template <> struct stored_number<8> { using type = double; };
using y_stored = stored_number<sizeof(x_element)>::type;
constexpr int y_rows = c_transposed ? mma::lane_rows : 1; ///< a lane's, of a tile
constexpr int y_in_register = mma::elements == 4 ? 2 : 1, y_halves = is_split ? 2 : 1;
constexpr int y_of_tile = y_rows * mma::elements, y_of_part = 16 / static_cast<int>(sizeof(y_stored));
constexpr int y_parts = (column_tiles * y_halves * y_of_tile + y_of_part - 1) / y_of_part;
struct alignas(16) y_part {
    y_stored e[y_of_part];
};

/// Where among a lane's stored numbers of a product one stands.
RICCI_FUNCTION constexpr int y_at(int tile, int half, int row, int element) {
    return (tile * y_halves + half) * y_of_tile + (element / y_in_register * y_rows + row) * y_in_register +
           element % y_in_register;
}

template <class Number>
RICCI_FUNCTION void store_number(y_part* of_lane, int tile, int row, int element, const Number& value) {
    const auto at = [&](int half) -> y_stored& {
        const int stored = y_at(tile, half, row, element);
        return of_lane[stored / y_of_part * 32].e[stored % y_of_part];
    };
    if constexpr (is_split) at(0) = value.high, at(1) = value.low;
    else at(0) = static_cast<y_stored>(value);
}

/// By all threads. `is_small` becomes 1 where a number is too small to be split.
RICCI_FUNCTION void store_y(const arguments& a, y_part* ys, int& is_small) {
    constexpr int at_once = 8, of_product = column_tiles * y_of_tile * 32,
                  count = k_blocks * products_of_block * of_product;
    unsigned least = 0xffffffffu;
    RICCI_UNROLL_ONCE
    for (int first = threadIdx.x; first < count; first += at_once * threads_per_block) {
        y_element values[at_once];
        RICCI_UNROLL
        for (int i = 0; i < at_once; ++i) {
            const int at = first + i * threads_per_block, lane = at % 32, own = at / 32 % (column_tiles * y_of_tile),
                      product = at / of_product;
            const int step = (product / products_of_block * 4 + lane % 4) * k_lane +
                             product % products_of_block * mma::elements + own % mma::elements;
            const int column = own / y_of_tile * tile_columns + own / mma::elements % y_rows * 8 + lane / 4;
            values[i] = step < steps && column < columns
                            ? static_cast<const y_element*>(a.y)[y_offset(a, step, column)]
                            : y_element{};
        }
        RICCI_UNROLL
        for (int i = 0; i < at_once; ++i) {
            const int at = first + i * threads_per_block, own = at / 32 % (column_tiles * y_of_tile);
            y_part* const of_lane = ys + at / of_product * y_parts * 32 + at % 32;
            if (at < count)
                store_number(of_lane, own / y_of_tile, own / mma::elements % y_rows, own % mma::elements,
                             mma::read(values[i], least));
        }
    }
    if constexpr (is_split)
        if (has_lost_bits<mma>(least)) is_small = 1;
}

/// A number as it was stored.
template <class Number>
RICCI_FUNCTION void load_number(const y_part (&parts)[y_parts], int tile, int row, int element, Number& value) {
    const auto at = [&](int half) {
        return parts[y_at(tile, half, row, element) / y_of_part].e[y_at(tile, half, row, element) % y_of_part];
    };
    if constexpr (is_split) value.high = at(0), value.low = at(1);
    else value = at(0);
}

/// Asks for lines of `bytes` each, by the lanes of a warp.
template <class Line> RICCI_FUNCTION void prefetch_lines(int count, int bytes, const Line& line) {
    const int parts = (bytes + 127) / 128;
    RICCI_UNROLL_2
    for (int i = threadIdx.x % 32; i < count * parts; i += 32) prefetch_part(line(i / parts), i % parts);
}
RICCI_FUNCTION void prefetch_x(const arguments& a, long long first) {
    const x_element* const x = static_cast<const x_element*>(a.x) + m_offset(a, 1, first);
    if constexpr (x_along_m)
        prefetch_lines(steps, rows_of_warp * sizeof(x_element), [&](int l) { return x + k_offset(a, 0, l); });
    else prefetch_lines(rows_of_warp, steps * sizeof(x_element), [&](int i) { return x + m_offset(a, 1, i); });
}
RICCI_FUNCTION void prefetch_c(const arguments& a, long long first) {
    const c_element* const c = static_cast<const c_element*>(a.c) + m_offset(a, 0, first);
    if constexpr (c_transposed)
        prefetch_lines(columns, rows_of_warp * sizeof(c_element), [&](int j) { return c + n_offset(a, 0, j); });
    else prefetch_lines(rows_of_warp, columns * sizeof(c_element), [&](int i) { return c + m_offset(a, 0, i); });
}

/// A warp's rows. `vectors`: whether pointers and strides allow vectors, and all rows exist.
class warp_rows {
    using x_numbers = x_element[k_unrolled][row_slots][k_lane];

  public:
    RICCI_FUNCTION warp_rows(const arguments& a, long long first, int own, bool vectors)
        : a_(a), first_(first), x_(static_cast<const x_element*>(a.x) + m_offset(a, 1, first)),
          c_(static_cast<c_element*>(a.c) + m_offset(a, 0, first)), own_(own), vectors_(vectors) {
        clear_sums(sums_);
    }

    RICCI_FUNCTION void multiply(const y_part* ys) {
        x_numbers now;
        if constexpr (k_blocks <= k_unrolled) {
            load(0, now);
            return add_blocks(0, now, ys);
        }
        RICCI_UNROLL_ONCE
        for (int base = -k_unrolled; base < k_blocks; base += k_unrolled) { // below 0 numbers are only asked for
            x_numbers next;
            if (base + k_unrolled < k_blocks) load(base + k_unrolled, next);
            if (base >= 0) add_blocks(base, now, ys);
            RICCI_UNROLL
            for (int e = 0; e < k_unrolled * row_slots * k_lane; ++e)
                now[e / (row_slots * k_lane)][e / k_lane % row_slots][e % k_lane] =
                    next[e / (row_slots * k_lane)][e / k_lane % row_slots][e % k_lane];
        }
    }

    RICCI_FUNCTION void store(bool y_is_small) {
        if constexpr (is_float)
            if (__any_sync(0xffffffffu, y_is_small || has_lost_bits<mma>(least_) || is_not_finite()))
                return store_again();
        const int h = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
        RICCI_UNROLL
        for (int t = 0; t < column_tiles; ++t)
            RICCI_UNROLL
            for (int half = 0; half < mma::lane_rows; ++half)
                RICCI_UNROLL
                for (int i = 0; i < (c_transposed ? 2 : row_tiles); ++i)
                    if constexpr (c_transposed) store_column(t, half, i, t * tile_columns + 8 * half + h, 2 * q + i);
                    else store_row(t, half, i, row_of(i * mma::lane_rows + half, h), t * 8 + 2 * q);
    }

  private:
    /// Of slot `s` and position `p` of 8 in a tile: a store's four lanes, of every other position, have neighbors.
    static RICCI_FUNCTION int row_of(int s, int p) {
        return s / row_vector * 8 * row_vector + (p / 2 + p % 2 * 4) * row_vector + s % row_vector;
    }

    /// Of a lane's elements in one column, those of position `p`, which is the lane's i-th of a tile.
    RICCI_FUNCTION void store_column(int t, int half, int i, int column, int p) const {
        if (columns % tile_columns != 0 && column >= columns) return;
        RICCI_UNROLL
        for (int s = 0; s < row_slots; s += row_vector) {
            compute sums[row_vector];
            RICCI_UNROLL
            for (int e = 0; e < row_vector; ++e) sums[e] = sums_[s + e][t][2 * half + i];
            const int row = row_of(s, p);
            if (vectors_) {
                update_neighbors(a_, c_ + row + n_offset(a_, 0, column), sums);
            } else {
                RICCI_UNROLL
                for (int e = 0; e < row_vector; ++e)
                    if (row + e < own_) update(a_, c_[c_offset(a_, row + e, column)], sums[e]);
            }
        }
    }

    /// Of a lane's elements in one row, the two of a tile.
    RICCI_FUNCTION void store_row(int t, int half, int tile, int row, int column) const {
        const compute sums[2] = {sums_[tile][t][2 * half], sums_[tile][t][2 * half + 1]};
        if (vectors_) {
            if (columns % 8 == 0 || column < columns) update_neighbors(a_, c_ + m_offset(a_, 0, row) + column, sums);
        } else {
            RICCI_UNROLL
            for (int e = 0; e < 2; ++e)
                if (row < own_ && column + e < columns) update(a_, c_[c_offset(a_, row, column + e)], sums[e]);
        }
    }

    /// Steps beyond the sum are zero. Without vectors rows beyond m are the last one.
    RICCI_FUNCTION void load(int first_block, x_numbers& xs) const {
        const int h = threadIdx.x % 32 / 4,
                  first_step = (first_block * 4 + static_cast<int>(threadIdx.x % 4)) * k_lane;
        if (!vectors_) {
            RICCI_UNROLL
            for (int e = 0; e < k_unrolled * row_slots * k_lane; ++e) {
                const int row = row_of(e / k_lane % row_slots, h),
                          l = first_step + e / (k_lane * row_slots) * k_block + e % k_lane;
                xs[e / (k_lane * row_slots)][e / k_lane % row_slots][e % k_lane] =
                    l < steps ? x_[x_offset(a_, row < own_ ? row : own_ - 1, l)] : x_element{};
            }
            return;
        }
        RICCI_UNROLL
        for (int b = 0; b < k_unrolled; ++b) {
            constexpr int vectors = x_along_m ? k_lane * (row_slots / row_vector) : row_slots;
            RICCI_UNROLL
            for (int v = 0; v < vectors; ++v) {
                const int element = x_along_m ? v % k_lane : 0, slot = x_along_m ? v / k_lane * row_vector : v,
                          l = first_step + b * k_block + element;
                neighbors<x_element, x_along_m ? row_vector : k_lane> x{};
                if (steps % (k_block * k_unrolled) == 0 || l < steps)
                    x = *reinterpret_cast<const decltype(x)*>(x_ + x_offset(a_, row_of(slot, h), l));
                RICCI_UNROLL
                for (int i = 0; i < (x_along_m ? row_vector : k_lane); ++i)
                    (x_along_m ? xs[b][slot + i][element] : xs[b][slot][i]) = x.e[i];
            }
        }
    }

    RICCI_FUNCTION void add_blocks(int base, const x_numbers& xs, const y_part* ys) {
        RICCI_UNROLL
        for (int b = 0; b < k_unrolled; ++b) {
            if (k_blocks % k_unrolled != 0 && base + b >= k_blocks) break;
            RICCI_UNROLL
            for (int p = 0; p < products_of_block; ++p)
                add(xs[b], p * mma::elements, ys + ((base + b) * products_of_block + p) * y_parts * 32);
        }
    }

    /// Adds a product of the tensor cores for each tile, of the lane's steps from `first_step` on.
    RICCI_FUNCTION void add(const x_element (&xs)[row_slots][k_lane], int first_step, const y_part* ys) {
        y_part parts[y_parts];
        RICCI_UNROLL
        for (int p = 0; p < y_parts; ++p) parts[p] = ys[p * 32 + threadIdx.x % 32];
        number yv[column_tiles][y_rows][mma::elements], xv[row_slots][mma::elements];
        RICCI_UNROLL
        for (int e = 0; e < column_tiles * y_of_tile; ++e) {
            const int tile = e / y_of_tile, row = e / mma::elements % y_rows, element = e % mma::elements;
            load_number(parts, tile, row, element, yv[tile][row][element]);
        }
        RICCI_UNROLL
        for (int s = 0; s < row_slots; ++s)
            RICCI_UNROLL
            for (int e = 0; e < mma::elements; ++e) xv[s][e] = mma::read(xs[s][first_step + e], least_);
        add_tiles<0>(xv, yv);
        if constexpr (is_split) add_tiles<1>(xv, yv), add_tiles<2>(xv, yv);
    }

    template <int Pass>
    RICCI_FUNCTION void add_tiles(const number (&xv)[row_slots][mma::elements],
                                  const number (&yv)[column_tiles][y_rows][mma::elements]) {
        RICCI_UNROLL
        for (int r = 0; r < row_tiles; ++r)
            RICCI_UNROLL
            for (int t = 0; t < column_tiles; ++t) {
                if constexpr (c_transposed) {
                    mma::multiply<Pass>(sums_[r][t], yv[t], xv[r]);
                } else {
                    number left[mma::lane_rows][mma::elements];
                    RICCI_UNROLL
                    for (int e = 0; e < mma::lane_rows * mma::elements; ++e)
                        left[e / mma::elements][e % mma::elements] =
                            xv[r * mma::lane_rows + e / mma::elements][e % mma::elements];
                    mma::multiply<Pass>(sums_[r][t], left, yv[t][0]);
                }
            }
    }

    RICCI_FUNCTION bool is_not_finite() const {
        constexpr int of_tile = 2 * mma::lane_rows;
        return has_nan_or_infinity<row_tiles * column_tiles * of_tile>(
            [&](int e) { return sums_[e / of_tile / column_tiles][e / of_tile % column_tiles][e % of_tile]; });
    }

    /// What multiply-adds give.
    RICCI_FUNCTION void store_again() const {
        RICCI_UNROLL_ONCE
        for (int e = threadIdx.x % 32; e < rows_of_warp * columns; e += 32) {
            const int i = e % rows_of_warp, j = e / rows_of_warp;
            if (i >= own_) continue;
            const compute sum = dot_in_global(a_, static_cast<const x_element*>(a_.x),
                                              static_cast<const y_element*>(a_.y), first_ + i, j, 0, k);
            update(a_, c_[c_offset(a_, i, j)], sum);
        }
    }

    const arguments& a_;
    long long first_;
    const x_element* x_;
    c_element* c_;
    int own_;
    bool vectors_;
    unsigned least_ = 0xffffffffu;
    typename mma::sum sums_[row_tiles][column_tiles][2 * mma::lane_rows];
};

RICCI_FUNCTION bool takes_vectors(const arguments& a) {
    const bool x_fits = x_along_m ? have_aligned_lines<x_element, row_vector>(a.x, k_offset(a, 0, 1))
                                  : steps % k_lane == 0 && k_stride[0][0] == 1 &&
                                        have_aligned_lines<x_element, k_lane>(a.x, m_offset(a, 1, 1));
    const bool c_fits =
        c_transposed
            ? m_stride[0][0] == 1 && have_aligned_lines<c_element, row_vector>(a.c, n_offset(a, 0, 1))
            : columns % 2 == 0 && n_stride[0][0] == 1 && have_aligned_lines<c_element, 2>(a.c, m_offset(a, 0, 1));
    return m_axes == 1 && k_axes == 1 && n_axes == 1 && x_fits && c_fits;
}

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_an_sm)
    ricci_tall_skinny_ab_warps(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    const long long rows = row_count(a), apart = a.blocks * warps * rows_of_warp;
    long long first = (block_number() * warps + threadIdx.x / 32) * rows_of_warp;
    if (block_number() >= a.blocks) return;
    if (first + rows_of_warp <= rows) prefetch_x(a, first); // while Y comes

    int& y_is_small = *reinterpret_cast<int*>(memory);
    y_part* const ys = reinterpret_cast<y_part*>(memory + 16);
    if constexpr (is_split) {
        if (threadIdx.x == 0) y_is_small = 0;
        __syncthreads();
    }
    store_y(a, ys, y_is_small);
    __syncthreads();

    const bool vectors = takes_vectors(a), small = is_split && y_is_small != 0;
    RICCI_UNROLL_ONCE
    for (; first < rows; first += apart) {
        const int own = rows - first < rows_of_warp ? static_cast<int>(rows - first) : rows_of_warp;
        if (runs_ahead && first + apart + rows_of_warp <= rows) prefetch_x(a, first + apart);
        if (accumulate && own == rows_of_warp) prefetch_c(a, first);
        warp_rows mine(a, first, own, vectors && own == rows_of_warp);
        mine.multiply(ys);
        mine.store(small);
    }
}
