// batched_blocked, for a CPU: products that are more than a register tile after another can keep in the caches, in
// the way of Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008).
//
// A block of the launch has rows_of_block rows by columns_of_block columns of one product's C, and goes along the sum
// by k_panel steps: what it reads of Y in these stays in L2 while panels of X, of as many rows as a tile, pass by.
// A panel is copied once, whatever way X lies, into what a tile reads from front to back, and then multiplied by all
// columns; X that stays in L1, or that few columns are multiplied by, is read from where it is. So is Y; where it is of
// another type, or k has several axes, from a copy of the block's steps and columns.
//
// Where C is symmetric (C's elements (i, j) and (j, i) are the same sums, conjugated where it is Hermitian), tiles
// above the diagonal are left out: the block copies what it has below it there.
//
// While a product that is a block of its own is at work, the next one's operands are fetched into L2, evenly over all
// steps: from memory f64 64 is limited by neither otherwise (50 % of the triad, 41 GF/s of 110).
//
// Constants: product.hpp's; tile_m (vectors) and tile_n (columns) of a tile; k_unrolled; simd_bytes, simd_registers;
// products_ahead, 1 if they are fetched; x_in_place, whether X is not copied; k_panel, a multiple of a vector's
// elements or all of k; rows_of_block, a multiple of a tile's rows; columns_of_block, of tile_n; symmetry: 0 none,
// 1 symmetric, 2 Hermitian. With symmetry a tile's rows are a multiple of tile_n.
#pragma once

#include "register_tile_cpu.hpp"

constexpr int panel_rows = tile_m * elements_of_vector; ///< elements
constexpr int row_count_of_c = static_cast<int>(m), column_count_of_c = static_cast<int>(n);
constexpr int row_blocks = (row_count_of_c + rows_of_block - 1) / rows_of_block;
constexpr int column_blocks = (column_count_of_c + columns_of_block - 1) / columns_of_block;
constexpr bool panel_is_whole = row_vectors % tile_m == 0 && last_lanes == lanes; ///< the last one too
constexpr int last_vectors = row_vectors % tile_m == 0 ? tile_m : row_vectors % tile_m;

static_assert(!x_in_place || (x_along_m && is_same<x_element, compute>), "X is read by vectors as it is");

/// What a block copies of X and Y.
struct block_copies {
    alignas(64) real x[x_in_place ? 1 : k_panel * tile_m * lanes];
    alignas(64) real y[y_is_packed ? columns_of_block : 1][y_is_packed ? k_panel * parts : 1];
};

/// A block's columns, up to where its rows end if C is symmetric.
RICCI_FUNCTION constexpr int last_column(int row, int end) {
    return symmetry == 0 ? end : smaller_of(end, row + panel_rows);
}

/// Rows of X that lie along k, a vector of them for each step, `pitch` numbers apart. The last steps are done again
/// with some before them, if there are as many as a vector has elements: code for fewer takes as long to compile.
template <int Rows>
__attribute__((noinline)) static void transpose_rows(const arguments& a, const x_element* x, int row, int first,
                                                     int steps, real* to, int pitch) {
    const auto block = [&](auto count, int step) RICCI_INLINED {
        vector t[elements_of_vector];
        load_transposed<Rows, count>(a, x, row, first + step, t);
        for_each_of<count>([&](auto l) RICCI_INLINED { store_whole<real, lanes>(to + (step + l) * pitch, t[l]); });
    };
    constexpr int side = elements_of_vector, whole = static_cast<int>(k) / k_panel * k_panel;
    constexpr int last_steps = whole < k ? static_cast<int>(k) - whole : k_panel;
#pragma GCC unroll 1
    for (int step = 0; step < steps; step += side) {
        if constexpr (last_steps >= side) block(constant<side>(), smaller_of(step, steps - side));
        else if (step + side <= steps) block(constant<side>(), step);
        else block(constant<last_steps % side>(), step);
    }
}

/// Steps [first, first + steps) of X's rows from `row` on: vectors of a step beside each other, steps one after
/// another; 0 beyond the last row.
template <int Vectors, int Last>
RICCI_FUNCTION void copy_panel(const arguments& a, const x_element* x, int row, int first, int steps, real* panel) {
    if constexpr (x_is_transposed) {
        for (int v = 0; v + 1 < Vectors; ++v)
            transpose_rows<elements_of_vector>(a, x, row + v * elements_of_vector, first, steps, panel + v * lanes,
                                               Vectors * lanes);
        transpose_rows<Last / parts>(a, x, row + (Vectors - 1) * elements_of_vector, first, steps,
                                     panel + (Vectors - 1) * lanes, Vectors * lanes);
    } else {
#pragma GCC unroll 1
        for (int l = 0; l < steps; ++l) {
            real* to = panel + l * Vectors * lanes;
            if constexpr (x_is_direct) {
                for_each_of<Vectors>([&](auto v) RICCI_INLINED {
                    constexpr int count = v + 1 < Vectors ? lanes : Last;
                    const vector t = x_along_rows<count>(a, x, row * parts + v * lanes, first + l);
                    store_whole<real, lanes>(to + v * lanes, t);
                });
            } else {
                constexpr int rows = ((Vectors - 1) * lanes + Last) / parts;
                for (int i = 0; i < rows; ++i)
                    set_parts(to + i * parts, load_as<compute>(x[x_offset(a, row + i, first + l)]));
                for (int i = rows * parts; i < Vectors * lanes; ++i) to[i] = 0;
            }
        }
    }
}

// ---- what is fetched ahead ----

constexpr long long tiles_of_product() {
    constexpr long long panels = (m + panel_rows - 1) / panel_rows, columns = (n + tile_n - 1) / tile_n;
    if (symmetry == 0 || products_ahead == 0) return panels * columns;
    long long tiles = 0;
    for (int row = 0; row < row_count_of_c; row += panel_rows)
        tiles += (last_column(row, column_count_of_c) + tile_n - 1) / tile_n;
    return tiles;
}
constexpr long long ahead_bytes = x_bytes + y_bytes + c_bytes, tile_count = tiles_of_product();
constexpr int ahead_of_step = static_cast<int>((ahead_bytes + tile_count * k - 1) / (tile_count * k));

/// The next product, and how many tiles of this one are done: each fetches its share of X, Y and C in one line.
struct fetched_ahead {
    const char *x, *y, *c;
    long long tiles;

    RICCI_FUNCTION const char* share() {
        const long long at = tiles++ * ahead_bytes / tile_count;
        return at < x_bytes ? x + at : at < x_bytes + y_bytes ? y + (at - x_bytes) : c + (at - x_bytes - y_bytes);
    }
};

RICCI_FUNCTION void fetch_step(const char* share, int l) {
    if constexpr (ahead_bytes > 0)
        RICCI_ALL_UNROLLED for (int part = 0; part == 0 || part < ahead_of_step; part += 64)
            __builtin_prefetch(share + l * ahead_of_step + part, 0, 2);
}

// ---- tiles, panels, blocks ----

/// What tiles of a block work on.
struct block_work {
    batch_places at;
    block_copies copies;
    fetched_ahead ahead;
};

/// A tile's share of steps [first, first + steps) of the sum, to or added to C. `column` is C's, `own` the block's.
template <int Vectors, int Last, int Columns>
RICCI_FUNCTION void block_tile(const arguments& a, block_work& work, int row, int column, int own, int first,
                               int steps) {
    const block_copies& copies = work.copies;
    const y_element* y = work.at.y;
    c_element* c = work.at.c;
    const char* share = work.ahead.share();
    start_afresh();
    vector sums[Vectors][Columns][parts];
    set_to_zero(sums);
    // C of one product, or of a large one, comes while the tile is computed: 64 steps are longer than memory takes.
    if constexpr (ahead_bytes == 0 && c_is_direct)
        RICCI_ALL_UNROLLED for (int j = 0; j < Columns; ++j)
            RICCI_ALL_UNROLLED for (int v = 0; v < Vectors; ++v)
                __builtin_prefetch(c + c_offset(a, row, column + j) + v * elements_of_vector, 1, 3);
    const real* panel = copies.x;
    constexpr int unrolled = k_unrolled;
#pragma GCC unroll unrolled
    for (int l = 0; l < steps; ++l) {
        fetch_step(share, l);
        vector x[Vectors];
        if constexpr (x_in_place) {
            RICCI_ALL_UNROLLED for (int v = 0; v + 1 < Vectors; ++v)
                x[v] = x_along_rows<lanes>(a, work.at.x, row * parts + v * lanes, first + l);
            x[Vectors - 1] = x_along_rows<Last>(a, work.at.x, row * parts + (Vectors - 1) * lanes, first + l);
        } else {
            RICCI_ALL_UNROLLED for (int v = 0; v < Vectors; ++v)
                x[v] = load_whole<real, lanes>(panel + (l * Vectors + v) * lanes);
        }
        const real* numbers;
        if constexpr (y_is_packed) numbers = anchored(copies.y[own] + l * parts);
        else numbers = anchored(reinterpret_cast<const real*>(y + y_offset(a, first + l, column)));
        const long long apart = y_is_packed ? k_panel * parts : n_offset(a, 1, 1) * parts;
        RICCI_ALL_UNROLLED for (int j = 0; j < Columns; ++j)
            RICCI_ALL_UNROLLED for (int p = 0; p < parts; ++p) {
                const real number = numbers[j * apart + p];
                RICCI_ALL_UNROLLED for (int v = 0; v < Vectors; ++v) sums[v][j][p] += x[v] * number;
            }
    }
    if constexpr (accumulate || k_panel >= k) store_tile<accumulate, Last>(a, sums, c, row * parts, column);
    else if (first > 0) store_tile<true, Last>(a, sums, c, row * parts, column);
    else store_tile<false, Last>(a, sums, c, row * parts, column);
}

/// All columns of a block from `begin` to `end` for a panel.
template <int Vectors, int Last>
__attribute__((noinline)) static void panel_times_columns(const arguments& a, block_work& work, int row, int begin,
                                                          int end, int first, int steps) {
    constexpr int rest = column_count_of_c % tile_n;
    int column = begin;
#pragma GCC unroll 1
    for (; column + tile_n <= end; column += tile_n)
        block_tile<Vectors, Last, tile_n>(a, work, row, column, column - begin, first, steps);
    if constexpr (rest > 0)
        if (column < end)
            block_tile<Vectors, Last, rest>(a, work, row, column, column - begin, first, steps);
}

/// What a panel's rows have of columns [begin, end), all below the diagonal, to the same columns' rows: in squares
/// that registers transpose.
RICCI_FUNCTION void mirror(const arguments& a, c_element* c, int row, int rows, int begin, int end) {
    const auto element = [&](int i, int j) RICCI_INLINED {
        const c_element from = c[c_offset(a, i, j)];
        if constexpr (symmetry == 2) c[c_offset(a, j, i)] = store_as<c_element>(conjugate(load_as<compute>(from)));
        else c[c_offset(a, j, i)] = from;
    };
    constexpr int side = elements_of_vector;
    for (int i = row; i < row + rows; i += side)
        for (int j = begin; j < end; j += side) {
            if constexpr (c_is_direct)
                if (i + side <= row + rows && j + side <= end) {
                    vector v[side];
                    for_each_of<side>([&](auto t) RICCI_INLINED {
                        v[t] = load_vector<lanes, side>(c + c_offset(a, i, j + t));
                    });
                    transpose<real, lanes, parts>(v);
                    for_each_of<side>([&](auto t) RICCI_INLINED {
                        if constexpr (symmetry == 2) v[t] *= alternating(1, -1);
                        store_vector<lanes, side>(c + c_offset(a, j, i + t), v[t]);
                    });
                    continue;
                }
            for (int s = i; s < smaller_of(i + side, row + rows); ++s)
                for (int t = j; t < smaller_of(j + side, end); ++t) element(s, t);
        }
}

RICCI_FUNCTION void product_of_block(const arguments& a, block_work& work, int row_block, int column_block) {
    const auto& at = work.at;
    const int first_row = row_block * rows_of_block, end_row = smaller_of(first_row + rows_of_block, row_count_of_c);
    const int begin = column_block * columns_of_block, end = smaller_of(begin + columns_of_block, column_count_of_c);
    for (int first = 0; first < static_cast<int>(k); first += k_panel) {
        const int steps = smaller_of(k_panel, static_cast<int>(k) - first);
        if constexpr (y_is_packed)
            for (int column = begin; column < last_column(end_row - 1, end); ++column)
                copy_column(a, at.y, column, first, steps, work.copies.y[column - begin]);
        for (int row = first_row; row < end_row; row += panel_rows) {
            const int until = last_column(row, end);
            if (until <= begin) continue;
            const auto multiply = [&](auto vectors, auto lanes_of_last) RICCI_INLINED {
                if constexpr (!x_in_place)
                    copy_panel<vectors, lanes_of_last>(a, at.x, row, first, steps, work.copies.x);
                panel_times_columns<vectors, lanes_of_last>(a, work, row, begin, until, first, steps);
            };
            if (panel_is_whole || row + panel_rows < row_count_of_c) multiply(constant<tile_m>(), constant<lanes>());
            else multiply(constant<last_vectors>(), constant<last_lanes>());
        }
    }
    if constexpr (symmetry != 0)
        for (int row = first_row; row < end_row; row += panel_rows)
            mirror(a, at.c, row, smaller_of(panel_rows, row_count_of_c - row), begin, smaller_of(end, row));
}

extern "C" void ricci_batched_blocked(const void* words, long long first, long long last) {
    const arguments& a = *static_cast<const arguments*>(words);
    constexpr int blocks_of_product = row_blocks * column_blocks;
    const auto bytes = [](const auto* p) { return reinterpret_cast<const char*>(p); };
    block_work work;
    for (long long block = first; block < last; ++block) {
        const long long product = block / blocks_of_product;
        const int part = static_cast<int>(block % blocks_of_product);
        work.at = places_of(a, product);
        const batch_places next = products_ahead > 0 && block + 1 < last ? places_of(a, product + 1) : work.at;
        work.ahead = {bytes(next.x), bytes(next.y), bytes(next.c), 0};
        product_of_block(a, work, part % row_blocks, part / row_blocks);
    }
}
