// batched_fma: multiplies matrices in shared memory by multiply-adds; each thread computes a tile of one product.
// Constants:
//   rows_of_block, columns_of_block    of C, m and n or fewer
//   row[3], column[3]  elements from one row, column to the next in shared memory, of C, X and Y
//   tile_m, tile_n     elements a thread; its rows are row_threads apart, its columns column_threads
//   rows_first         whether neighboring lanes have neighboring rows, or columns
//   skewed             whether each row begins its sum at another k: rows whose elements lie on one bank are then
//                      read without conflict
//   k_unrolled         steps of the sum unrolled at once
#pragma once

#include "product.hpp"

template <class Compute = compute> // a template, so that only the kind of tile in use is compiled
class fma_tile {
    static constexpr int rows = rows_of_block, columns = columns_of_block;
    static constexpr int row_threads = (rows + tile_m - 1) / tile_m, column_threads = (columns + tile_n - 1) / tile_n;

  public:
    static constexpr int threads = 1;                         ///< a tile
    static constexpr int count = row_threads * column_threads; ///< tiles of a product
    static constexpr bool is_split = false;                   ///< see mma_tile

    explicit RICCI_FUNCTION fma_tile(int number)
        : i0_(rows_first ? number % row_threads : number / column_threads),
          j0_(rows_first ? number / row_threads : number % column_threads) {
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c) sums_[r][c] = from_real<Compute>(0, 0);
    }

    /// Adds X*Y over Steps of the sum.
    template <int Steps> RICCI_FUNCTION void add(const x_element* x, const y_element* y) {
        int l = skewed ? i0_ % Steps : 0;
        RICCI_UNROLL_K
        for (int step = 0; step < Steps; ++step) {
            Compute xv[tile_m], yv[tile_n];
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r) {
                xv[r] = load_as<Compute>(x[row_of(r) * row[1] + l * column[1]]);
                if constexpr (x_conjugated) xv[r] = conjugate(xv[r]);
            }
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c) {
                yv[c] = load_as<Compute>(y[l * row[2] + column_of(c) * column[2]]);
                if constexpr (y_conjugated) yv[c] = conjugate(yv[c]);
            }
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r)
                RICCI_UNROLL
                for (int c = 0; c < tile_n; ++c) sums_[r][c] += xv[r] * yv[c];
            ++l;
            if (skewed && l == Steps) l = 0;
        }
    }

    /// As mma_tile's.
    RICCI_FUNCTION void add_sums(const fma_tile& of_others) {
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c) sums_[r][c] += of_others.sums_[r][c];
    }

    /// store(row, column, sum) for each element.
    template <class Store> RICCI_FUNCTION void finish(const Store& store) const {
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r)
            RICCI_UNROLL
            for (int c = 0; c < tile_n; ++c) {
                const int i = i0_ + r * row_threads, j = j0_ + c * column_threads;
                if ((rows % tile_m == 0 || i < rows) && (columns % tile_n == 0 || j < columns))
                    store(i, j, sums_[r][c]);
            }
    }

    /// As mma_tile's.
    template <class Store, class Again>
    RICCI_FUNCTION void finish(const Store& store, const Again&) const {
        finish(store);
    }
    template <class C, class Again>
    RICCI_FUNCTION void update_c(const arguments& a, const C& c, const Again&) const {
        finish([&](int i, int j, Compute sum) { update(a, c(i, j), sum); });
    }

  private:
    // Rows and columns of the last tile that do not exist read the last one that does.
    RICCI_FUNCTION int row_of(int r) const {
        return rows % tile_m == 0 || i0_ + r * row_threads < rows ? i0_ + r * row_threads : rows - 1;
    }
    RICCI_FUNCTION int column_of(int c) const {
        return columns % tile_n == 0 || j0_ + c * column_threads < columns ? j0_ + c * column_threads : columns - 1;
    }

    int i0_, j0_;
    Compute sums_[tile_m][tile_n];
};
