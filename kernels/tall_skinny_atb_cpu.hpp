// tall_skinny_atb, for a CPU: C = X^T Y with a long k. Chunk by chunk of k into partial results C[.., chunk], which a
// step of its own adds up. Blocks of a chunk's rows stay in the cache for all tiles of C, which are summed in
// registers:
//
//   X and Y lie                       and a vector has
//   along k without gaps, both        neighboring rows of one column; its lanes are added up at the end
//   in any other way                  neighboring columns of X in one row, times an element of Y; copied block by
//                                     block where they do not lie like that
// A complex product is two real ones, of X times Y and of X times Y with its parts exchanged.
// Constants: product.hpp's, and rows_per_tile (of a block), simd_bytes, tile_m and tile_n (columns of X, in the
// second case vectors of them, and columns of Y in a tile at most).
#pragma once

#include "real_product.hpp"

using vector = simd<real, simd_lanes<real>>;
constexpr int lanes = simd_lanes<real>, elements_of_vector = lanes / parts;

constexpr bool single_axes = m_axes <= 1 && n_axes <= 1; // none of a dot product
constexpr bool along_k = single_axes && k_stride[0][0] == 1 && k_stride[1][0] == 1 && loads_as_vector<x_element> &&
                         loads_as_vector<y_element>;
constexpr bool x_is_direct = single_axes && m_stride[1][0] == 1 && loads_as_vector<x_element>;
constexpr bool y_is_direct = is_same<y_element, compute>;

constexpr int em = static_cast<int>(m), en = static_cast<int>(n);
constexpr int row_vectors = (em + elements_of_vector - 1) / elements_of_vector;
constexpr int rest_of_row = em - (row_vectors - 1) * elements_of_vector;
constexpr int tiled_rows = along_k ? em : row_vectors;
constexpr even_division row_tiles(tiled_rows, tile_m), column_tiles(en, tile_n);

/// Of a chunk so far: summed block by block, so that rounding errors do not grow with its length.
struct partial_sums { vector value[tiled_rows][en][parts]; };

template <int Rows, int Columns>
RICCI_FUNCTION void add_tile(const vector (&sums)[Rows][Columns][parts], partial_sums& total, int row, int column) {
    RICCI_ALL_UNROLLED for (int i = 0; i < Rows; ++i)
        RICCI_ALL_UNROLLED for (int j = 0; j < Columns; ++j)
            RICCI_ALL_UNROLLED for (int p = 0; p < parts; ++p)
                total.value[row + i][column + j][p] += sums[i][j][p];
}

/// Rows [begin, begin + rows) of X and Y, or copies of them.
struct block_of_rows {
    const x_element* x;
    const y_element* y;
    const real (*x_copy)[row_vectors * lanes];
    const real (*y_copy)[en * parts];
    int rows;
};

/// Lanes are neighboring rows: Rows columns of X by Columns columns of Y.
template <int Rows, int Columns>
RICCI_FUNCTION void add_along_k(const arguments& a, const block_of_rows& b, partial_sums& total, int row,
                                int column) {
    start_afresh();
    vector sums[Rows][Columns][parts];
    set_to_zero(sums);
    const auto add = [&](auto count, int at) RICCI_INLINED {
        vector x[Rows];
        RICCI_ALL_UNROLLED for (int i = 0; i < Rows; ++i)
            x[i] = load_vector<lanes, count>(b.x + m_offset(a, 1, row + i) + at);
        RICCI_ALL_UNROLLED for (int j = 0; j < Columns; ++j) {
            const vector y = load_vector<lanes, count>(b.y + n_offset(a, 1, column + j) + at);
            RICCI_ALL_UNROLLED for (int i = 0; i < Rows; ++i) sums[i][j][0] += x[i] * y;
            if constexpr (parts == 2) {
                const vector turned = shuffled<pairs_exchanged, real, lanes>(y, y);
                RICCI_ALL_UNROLLED for (int i = 0; i < Rows; ++i) sums[i][j][parts - 1] += x[i] * turned;
            }
        }
    };
    int at = 0;
    for (; at + elements_of_vector <= b.rows; at += elements_of_vector) add(constant<elements_of_vector>(), at);
    for (; at < b.rows; ++at) add(constant<1>(), at);
    add_tile(sums, total, row, column);
}

/// Lanes are neighboring columns of X: Vectors vectors of them, the last with Last elements.
template <int Vectors, int Last, int Columns>
RICCI_FUNCTION void add_along_m(const arguments& a, const block_of_rows& b, partial_sums& total, int vectors_before,
                                int column) {
    start_afresh();
    vector sums[Vectors][Columns][parts];
    set_to_zero(sums);
    for (int l = 0; l < b.rows; ++l) {
        vector x[Vectors];
        const auto take = [&](auto count, int v) RICCI_INLINED {
            if constexpr (x_is_direct)
                x[v] = load_vector<lanes, count>(b.x + k_offset(a, 0, l) + (vectors_before + v) * elements_of_vector);
            else x[v] = load_whole<real, lanes>(&b.x_copy[l][(vectors_before + v) * lanes]);
        };
        RICCI_ALL_UNROLLED for (int v = 0; v + 1 < Vectors; ++v) take(constant<elements_of_vector>(), v);
        take(constant<Last>(), Vectors - 1);
        RICCI_ALL_UNROLLED for (int j = 0; j < Columns; ++j)
            RICCI_ALL_UNROLLED for (int p = 0; p < parts; ++p) {
                real y;
                if constexpr (y_is_direct)
                    y = reinterpret_cast<const real*>(b.y + k_offset(a, 1, l) + n_offset(a, 1, column + j))[p];
                else y = b.y_copy[l][(column + j) * parts + p];
                RICCI_ALL_UNROLLED for (int v = 0; v < Vectors; ++v) sums[v][j][p] += x[v] * y;
            }
    }
    add_tile(sums, total, vectors_before, column);
}

RICCI_FUNCTION void add_block(const arguments& a, const block_of_rows& b, partial_sums& total) {
    for_each_part<column_tiles>([&](auto columns, int column) RICCI_INLINED {
        if constexpr (along_k)
            for_each_part<row_tiles>([&](auto rows, int row) RICCI_INLINED {
                add_along_k<rows, columns>(a, b, total, row, column);
            });
        else
            for_each_part_and_last<row_tiles>([&](auto vectors, auto is_last, int before) RICCI_INLINED {
                constexpr int last = is_last ? rest_of_row : elements_of_vector;
                add_along_m<vectors, last, columns>(a, b, total, before, column);
            });
    });
}

/// What the sums of X times Y, and of X times Y's parts exchanged (or Y's real and its imaginary parts), make of
/// element (i, j).
template <class T> RICCI_FUNCTION T element_of(const partial_sums& sums, int i, int j) {
    constexpr real of_x = x_conjugated ? -1 : 1, of_y = y_conjugated ? -1 : 1;
    if constexpr (along_k) {
        real sum[2 * parts] = {}; // the lanes of even and of odd numbers, of either vector
        for (int p = 0; p < parts; ++p)
            for (int t = 0; t < lanes; ++t) sum[p * parts + t % parts] += sums.value[i][j][p][t];
        if constexpr (real_part<T>::is_complex)
            return {sum[0] - of_x * of_y * sum[1], of_y * sum[2] + of_x * sum[3]};
        else return sum[0];
    } else {
        const int v = i / elements_of_vector, t = i % elements_of_vector * parts;
        const auto& value = sums.value[v][j];
        if constexpr (real_part<T>::is_complex)
            return {value[0][t] - of_x * of_y * value[1][t + 1], of_y * value[1][t] + of_x * value[0][t + 1]};
        else return value[0][t];
    }
}

extern "C" void ricci_tall_skinny_atb(const void* words, long long first, long long last) {
    const arguments& a = *static_cast<const arguments*>(words);
    constexpr bool copies_x = !along_k && !x_is_direct, copies_y = !along_k && !y_is_direct;
    alignas(64) real xs[copies_x ? rows_per_tile : 1][row_vectors * lanes];
    alignas(64) real ys[copies_y ? rows_per_tile : 1][en * parts];
    if constexpr (copies_x)
        for (auto& row : xs)
            for (int i = em * parts; i < row_vectors * lanes; ++i) row[i] = 0;
    partial_sums total;
    for (long long chunk = first; chunk < last; ++chunk) {
        const long long from = a.k_length[0] * chunk / a.blocks, to = a.k_length[0] * (chunk + 1) / a.blocks;
        total = {};
        for (long long begin = from; begin < to; begin += rows_per_tile) {
            const int rows = static_cast<int>(to - begin < rows_per_tile ? to - begin : rows_per_tile);
            if constexpr (copies_x)
                for (int l = 0; l < rows; ++l)
                    for (int i = 0; i < em; ++i)
                        set_parts(&xs[l][i * parts],
                                  load_as<compute>(static_cast<const x_element*>(a.x)[x_offset(a, i, begin + l)]));
            if constexpr (copies_y)
                for (int l = 0; l < rows; ++l)
                    for (int j = 0; j < en; ++j)
                        set_parts(&ys[l][j * parts],
                                  load_as<compute>(static_cast<const y_element*>(a.y)[y_offset(a, begin + l, j)]));
            add_block(a,
                      {static_cast<const x_element*>(a.x) + k_offset(a, 0, begin),
                       static_cast<const y_element*>(a.y) + k_offset(a, 1, begin), xs, ys, rows},
                      total);
        }
        compute* c = static_cast<compute*>(a.c) + m * n * chunk;
        for (int j = 0; j < en; ++j)
            for (int i = 0; i < em; ++i) c[c_offset(a, i, j)] = element_of<compute>(total, i, j);
    }
}
