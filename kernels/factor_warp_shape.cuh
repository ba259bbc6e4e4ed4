// factor_warp_shape: how the matrices of factor_warp.cuh are shared out among a warp's lanes, and where they lie in
// shared memory.
#pragma once

#include "factor_pivot_positions.cuh"
#include "factor_pivot_search.cuh"
#include "neighbors.cuh"

constexpr int lanes = lanes_of_matrix, matrices_of_warp = 32 / lanes;
static_assert((lanes & (lanes - 1)) == 0 && lanes <= 32 && matrices_of_block % matrices_of_warp == 0);
static_assert(matrices_of_block * lanes == threads_per_block);
static_assert(exchanges && m <= 64 && right_sides != argument);

constexpr int lane_rows = (m + lanes - 1) / lanes, row_halves = (m + 7) / 8, row_tiles = (row_halves + 1) / 2;
constexpr int sides = static_cast<int>(right_sides), all_columns = n + sides;
static_assert(panel == 4 || panel == 8);

/// Neighbors of a row, not of a column, are neighbors in memory.
constexpr bool by_rows = matrix_step[matrix_role][1] == 1 || matrix_step[matrix_role][1] == -1;

/// Elements of one access of shared memory; and from a column to the next, an odd number of accesses.
constexpr int in_access = larger_of(1, 16 / static_cast<int>(sizeof(element)));
constexpr int lead = ((m + in_access - 1) / in_access | 1) * in_access;

/// Columns of an odd number of 8-byte elements begin in memory by turns at a multiple of 16 bytes and between two.
/// Here they do too, so that they come by 16 bytes: every other one lies an element further. (H100, f64: from 33 rows
/// on 4 to 10 % less time. Bulk copies of columns, and loads by way of registers, took longer.)
constexpr bool may_shift = in_access == 2 && m % 2 == 1, shifts = may_shift && in_slabs && !by_rows;

struct matrix_memory {
    /// Tiles read up to 8 rows behind the last column's first.
    alignas(16)
        element a[round_up((all_columns - 1) * lead + larger_of(lead, 8 * row_halves) + may_shift, in_access)];
    alignas(16) element pivot_row[2][panel];
    int rows_of_pivots[round_up(m, 4)]; ///< behind the pivots' in the end others'
    int positions[round_up(pivots, 4)];
    int info;
    short exists; ///< the matrix; else its lanes go along with the batch's last, and store nothing
    short shift;  ///< elements by which columns of even numbers lie further, 0 or 1; those of odd ones the other
    long long at; ///< its number: two registers' worth while it is factored
};
/// Where a matrix's columns begin.
class matrix_columns {
  public:
    RICCI_FUNCTION explicit matrix_columns(matrix_memory& memory) : even_(memory.a) {
        if constexpr (shifts) even_ += memory.shift, to_odd_ = 1 - 2 * memory.shift;
    }
    /// is_odd: j, where the compiler knows no more. (Of a column that stands for one behind the last it may be the
    /// other's, and what is read an element off: nothing of it is used.)
    RICCI_FUNCTION element* column(int j, bool is_odd) const {
        if constexpr (shifts)
            if (is_odd) return even_ + (j * lead + to_odd_);
        return even_ + j * lead;
    }
    RICCI_FUNCTION element* column(int j) const { return column(j, j % 2 != 0); }

  private:
    element* even_;
    int to_odd_ = 0;
};

/// From a matrix to the next: rows of neighbors, a run for each column, lie on different banks.
RICCI_FUNCTION constexpr int matrix_bytes() {
    constexpr int run = lanes * static_cast<int>(sizeof(element));
    int bytes = static_cast<int>(sizeof(matrix_memory));
    while (run < 128 && bytes % 128 != run) bytes += 16;
    return bytes;
}
constexpr int factor_warp_shared = matrices_of_block * matrix_bytes();
static_assert(shared_bytes >= factor_warp_shared, "lowering and the kernel count the same");

RICCI_FUNCTION matrix_memory& memory_of(unsigned char* shared, int p) {
    return *reinterpret_cast<matrix_memory*>(shared + p * matrix_bytes());
}
