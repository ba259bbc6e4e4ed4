// tile_matrices: the small matrices that tiles are multiplied by, in shared memory, each line of which takes 32
// bytes.
//
// Constants: tile_places.cuh's.
#pragma once

#include "neighbors.cuh"
#include "tile_places.cuh"

constexpr int matrix_line = 8, matrix_floats = 8 * matrix_line;

/// One matrix into shared memory, zeros around it, by the block's first Threads threads.
template <int Operand, int Row, int Column, bool Transposed, int Threads>
RICCI_FUNCTION void load_matrix(const arguments& a, float* into, int rows, int columns) {
    for (int e = threadIdx.x; e < matrix_floats; e += Threads) {
        const int line = e / matrix_line, place = e % matrix_line, row = Transposed ? place : line,
                  column = Transposed ? line : place;
        long long x[axis_count] = {};
        x[Row] = row, x[Column] = column;
        into[e] = row < rows && column < columns ? load<Operand>(a, x) : 0.0f;
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
