// factor_warp_products: everything behind a panel becomes C + M X by the tensor cores' products of f64, also of f32,
// whose products are exact there and need no range: C's tiles come from shared memory and go back there.
#pragma once

#include "factor_warp_shape.cuh"
#include "ptx_mma.cuh"

constexpr int parts = is_complex ? 2 : 1;

RICCI_FUNCTION double part_of(element x, int part) { return part == 0 ? real_of(x) : imaginary_of(x); }
RICCI_FUNCTION element of_parts(const double (&x)[parts]) { return from_real<element>(x[0], x[parts - 1]); }

/// Of a panel of `Width` columns M as the tensor cores take it, and which pivots' rows X is.
template <int Width>
struct panel_product {
    static constexpr int slices = (Width + 3) / 4; ///< of 4 columns
    element* columns;
    const element* came; ///< where the first lies, of the first panel's update
    double update[parts][slices][row_tiles][2];
    int row_of[slices];

    /// Of the panel that begins at column `first`, where M lies.
    RICCI_FUNCTION panel_product(matrix_memory& memory, int first)
        : columns(memory.a), came(memory.as_it_came()) {
        const int h = static_cast<int>(threadIdx.x % 32) / 4, q = static_cast<int>(threadIdx.x) % 4;
        RICCI_UNROLL
        for (int s = 0; s < slices; ++s) {
            const int k = slices * q + s;
            const bool is_there = Width % 4 == 0 || k < Width;
            const element* const of_column = memory.column(first + k) + h;
            row_of[s] = memory.rows_of_pivots[is_there ? first + k : first];
            RICCI_UNROLL
            for (int half = 0; half < 2 * row_tiles; ++half) {
                element x = zero();
                if (half < row_halves && is_there) x = of_column[8 * half];
                RICCI_UNROLL
                for (int part = 0; part < parts; ++part) update[part][s][half / 2][half % 2] = part_of(x, part);
            }
        }
    }

    /// Columns from `column` on, of the lane's rows of 8 each those that have a bit in `changed`, from the lane's on.
    /// IsFirst: they are where they came.
    template <bool IsFirst>
    RICCI_FUNCTION void apply(int column, const unsigned (&changed)[lane_rows]) const {
        const int h = static_cast<int>(threadIdx.x % 32) / 4, q = static_cast<int>(threadIdx.x) % 4;
        RICCI_UNROLL_ONCE
        for (; column < all_columns; column += 8) {
            constexpr bool has_whole_tiles =
                all_columns % 8 == 0 && panel % 8 == 0 && (pivots % panel == 0 || all_columns == pivots);
            const auto within = [&](int j) { return has_whole_tiles ? j : smaller_of(j, all_columns - 1); };
            const element* const of_rows = given_column<IsFirst>(within(column + h));
            double x[parts][slices], c[parts][row_tiles][4];
            RICCI_UNROLL
            for (int s = 0; s < slices; ++s) {
                const element of_pivot = of_rows[row_of[s]];
                RICCI_UNROLL
                for (int part = 0; part < parts; ++part) x[part][s] = part_of(of_pivot, part);
            }
            const element* const from[2] = {given_column<IsFirst>(within(column + 2 * q)) + h,
                                            given_column<IsFirst>(within(column + 2 * q + 1)) + h};
            RICCI_UNROLL
            for (int half = 0; half < 2 * row_tiles; ++half)
                RICCI_UNROLL
                for (int i = 0; i < 2; ++i) {
                    element e = zero();
                    if (half < row_halves) e = from[i][8 * half];
                    RICCI_UNROLL
                    for (int part = 0; part < parts; ++part) c[part][half / 2][half % 2 * 2 + i] = part_of(e, part);
                }
            __syncwarp(); // pivots' rows are read
            RICCI_UNROLL
            for (int s = 0; s < slices; ++s) multiply(s, c, x);
            RICCI_UNROLL
            for (int i = 0; i < 2; ++i) {
                element* const to = columns + (within(column + 2 * q + i) * lead + h);
                unsigned stored[lane_rows];
                RICCI_UNROLL
                for (int r = 0; r < lane_rows; ++r)
                    stored[r] = has_whole_tiles || column + 2 * q + i < all_columns ? changed[r] : 0;
                RICCI_UNROLL
                for (int half = 0; half < row_halves; ++half) {
                    double e[parts];
                    RICCI_UNROLL
                    for (int part = 0; part < parts; ++part) e[part] = c[part][half / 2][half % 2 * 2 + i];
                    if ((stored[8 * half / lanes] & 1u << 8 * half % lanes) != 0) to[8 * half] = of_parts(e);
                }
            }
        }
    }

  private:
    template <bool IsFirst>
    RICCI_FUNCTION const element* given_column(int j) const {
        return IsFirst && (sides == 0 || j < n) ? came + j * m : columns + j * lead;
    }
    RICCI_FUNCTION void multiply(int s, double (&c)[parts][row_tiles][4], const double (&x)[parts][slices]) const {
        RICCI_UNROLL
        for (int t = 0; t < row_tiles; ++t) {
            mma_f64(c[0][t], update[0][s][t], x[0][s]);
            if constexpr (is_complex) mma_f64(c[1][t], update[0][s][t], x[1][s]);
        }
        if constexpr (is_complex) {
            RICCI_UNROLL
            for (int t = 0; t < row_tiles; ++t) {
                mma_f64(c[0][t], update[1][s][t], -x[1][s]);
                mma_f64(c[1][t], update[1][s][t], x[0][s]);
            }
        }
    }
};
