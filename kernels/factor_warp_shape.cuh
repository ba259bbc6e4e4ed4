// factor_warp_shape: how the matrices of factor_warp.cuh are shared out among a warp's lanes, and where they lie in
// shared memory.
#pragma once

#include "factor_pivot_positions.cuh"
#include "factor_pivot_search.cuh"
#include "neighbors.cuh"
#include "ptx_copy.cuh"

constexpr int lanes = lanes_of_matrix, matrices_of_warp = 32 / lanes;
static_assert((lanes & (lanes - 1)) == 0 && lanes <= 32 && matrices_of_block % matrices_of_warp == 0);
static_assert(matrices_of_block * lanes == threads_per_block);
static_assert(exchanges && m <= 64 && right_sides != argument);

constexpr int lane_rows = (m + lanes - 1) / lanes, row_halves = (m + 7) / 8, row_tiles = (row_halves + 1) / 2;
constexpr int sides = static_cast<int>(right_sides), all_columns = n + sides;
static_assert(panel == 4 || panel == 8);

/// Columns of the last panel where nothing is behind it, 0 where something is. A few more than `panel` take less time
/// than a whole panel, its product and a panel of a few.
constexpr int last_panel = all_columns > pivots         ? 0
                           : pivots % panel > panel / 2 ? pivots % panel
                                                        : panel + pivots % panel;

/// Neighbors of a row, not of a column, are neighbors in memory.
constexpr bool by_rows = matrix_step[matrix_role][1] == 1 || matrix_step[matrix_role][1] == -1;

/// Elements of one access of shared memory; and from a column to the next, an odd number of accesses.
constexpr int in_access = larger_of(1, 16 / static_cast<int>(sizeof(element)));
constexpr int lead = ((m + in_access - 1) / in_access | 1) * in_access;

/// Matrices one behind another in memory come as they lie there, by one bulk copy. Copied by pieces, each of the 32
/// bytes in which memory comes takes a cycle of shared memory where a column begins elsewhere in them than in memory.
///
/// Where columns belong elsewhere than they come (`moves`), the first panel's update puts them there, from the first
/// on (H200, f64, odd n of 23 to 63: 3 to 9 % less time). When it has written column j, column j + 1 and those behind
/// it must still be as they came: j * lead + m <= packed_at + (j + 1) * m for all j < n - 1. Columns of a multiple of
/// 4, and 16-byte elements, do not move: the update's reads would meet on the same banks.
constexpr int packed_at = round_up((n - 2) * (lead - m), in_access), room = n * lead - (packed_at + n * m);
static_assert((n - 2) * lead + m <= packed_at + (n - 1) * m, "no column is overwritten before it is read");
constexpr bool may_move = m % 4 != 0 && sizeof(element) < 16 && (sides == 0 || room >= in_access - 1),
               comes_packed = in_slabs && !by_rows && (lead == m || may_move), moves = comes_packed && lead != m;
/// What moves comes by up to so many elements further: congruent to memory modulo 128 bytes (another 1 %), or, where
/// right-hand sides lie behind it, 16.
constexpr int most_shift = !moves       ? 0
                           : sides == 0 ? 128 / static_cast<int>(sizeof(element)) - 1
                                        : in_access - 1;
static_assert(!comes_packed || sides == 0 || packed_at + most_shift + n * m <= n * lead, "sides are not overwritten");
/// Tiles read up to 8 rows behind the last column's first.
constexpr int matrix_elements =
    round_up(larger_of((all_columns - 1) * lead + larger_of(lead, 8 * row_halves),
                       comes_packed ? packed_at + most_shift + (n - 1) * m + larger_of(m, 8 * row_halves) : 0),
             in_access);

struct matrix_memory {
    alignas(16) element a[matrix_elements];
    alignas(16) element pivot_row[2][round_up(larger_of(panel, last_panel), in_access)];
    int rows_of_pivots[round_up(m, 4)]; ///< behind the pivots' in the end others'
    int positions[round_up(pivots, 4)];
    int info;
    short exists; ///< the matrix; else its lanes go along with the batch's last, and store nothing
    short shift;  ///< elements by which it came further than packed_at
    union {
        copy_barrier loaded; ///< of a warp's first matrix, for all its matrices, until they are there
        long long at;        ///< then its number: two registers' worth while it is factored
    };

    RICCI_FUNCTION element* column(int j) { return a + j * lead; }
    /// The first column until the first panel's update is done; the matrix's others lie m elements further each.
    RICCI_FUNCTION const element* as_it_came() { return moves ? a + (packed_at + shift) : a; }
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
