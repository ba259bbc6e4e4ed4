// stationary_tile: what a warp of batched_stationary computes: some rows of C from those rows of X, which it keeps in registers in the form
// that the tensor cores take, and slices of columns of Y in shared memory. C^T = Y^T X^T is computed, for a lane's two sums to be
// neighbors in a column of C.
// Constants: slice_ring.cuh's, mma_numbers.cuh's, and
//   tile_m             tiles of 8 rows a warp
//   tile_n             tiles of columns a warp, each of as many as the tensor cores' product has rows
//   row_warps          warps that share the rows; as many more take other columns of a slice
//   k_apart            as batched_mma.cuh's
#pragma once

#include "mma_numbers.cuh"
#include "slice_ring.cuh"

#if RICCI_BULK_COPIES

template <int Type = x_type> class stationary_tile {
    static constexpr bool is_complex = Type >= 4;
    using mma = mma_of<is_complex ? Type - 2 : Type>;
    using number = typename mma::number;
    static constexpr int parts = is_complex ? 2 : 1, lane_columns = mma::lane_rows, elements = mma::elements, sums = 2 * lane_columns;
    static constexpr bool is_split = mma::elements == 2;

    // Each product takes 4 * elements steps of the sum. Those of whole groups are shared out so that a lane has neighbors, the rest so
    // that every fourth is a lane's.
    static constexpr int steps = static_cast<int>(k), of_product = 4 * elements, group = 16 * at_least_one(k_apart);
    static constexpr int groups = k_apart > 0 ? steps / group : 0, products_of_group = group / of_product, in_groups = groups * products_of_group;
    static constexpr int products = in_groups + (steps - groups * group + of_product - 1) / of_product;
    static RICCI_FUNCTION int first_step(int product) {
        return product < in_groups ? product / products_of_group * group : groups * group + (product - in_groups) * of_product;
    }
    static RICCI_FUNCTION int step_of(int product, int element) {
        const int low = threadIdx.x % 4;
        return product < in_groups ? first_step(product) + group / 4 * low + product % products_of_group * elements + element
                                   : first_step(product) + 4 * element + low;
    }
    /// Whether all lanes' steps of a product exist.
    static RICCI_FUNCTION bool is_whole(int product) { return product < in_groups || first_step(product) + of_product <= steps; }

    static constexpr int x_row = along_k[1] ? pitch[1] : 1, x_step = along_k[1] ? 1 : pitch[1];
    static constexpr int y_column = along_k[2] ? pitch[2] : 1, y_step = along_k[2] ? 1 : pitch[2];

  public:
    explicit RICCI_FUNCTION stationary_tile(int warp) : row0_(warp % row_warps * tile_m * 8), column0_(warp / row_warps * tile_n * mma::rows) {}

    /// Takes what it needs of slice `number` of X, at `x`. The slices of a product come in their order.
    RICCI_FUNCTION void take_x(const x_element* x, int number) {
        if (number == 0) least_of_x_ = 0xffffffffu;
        const int high = threadIdx.x % 32 / 4;
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r) {
            // Rows beyond the matrix read its last one.
            const int at = row0_ + 8 * r + high, row = at < m ? at : static_cast<int>(m) - 1;
            if (along_k[1] && row / lines_of_slice != number) continue;
            const int in_slice = along_k[1] ? row % lines_of_slice : row;
            RICCI_UNROLL
            for (int p = 0; p < products; ++p) {
                if (!along_k[1] && first_step(p) / lines_of_slice != number) continue;
                const int before = along_k[1] ? 0 : number * lines_of_slice;
                RICCI_UNROLL
                for (int e = 0; e < elements; ++e) {
                    const int l = step_of(p, e);
                    number_at<x_conjugated>(x + in_slice * x_row + (l - before) * x_step, is_whole(p) || l < steps, x_[r][p], e, least_of_x_);
                }
            }
        }
    }

    /// C (+)= X*Y for a slice of `own` columns; again(row, column in the slice): such a sum by multiply-adds.
    template <class Again> RICCI_FUNCTION void multiply(const arguments& a, const y_element* y, c_element* c, int own, const Again& again) const {
        const int high = threadIdx.x % 32 / 4, low = threadIdx.x % 4;
        int column_at[tile_n][lane_columns]; // columns beyond the matrix read its last one
        RICCI_UNROLL
        for (int t = 0; t < tile_n; ++t)
            RICCI_UNROLL
            for (int i = 0; i < lane_columns; ++i) {
                const int at = column0_ + t * mma::rows + 8 * i + high;
                column_at[t][i] = (at < own ? at : own - 1) * y_column;
            }
        typename mma::sum d[tile_n][tile_m][parts][sums] = {};
        unsigned least = least_of_x_;
        RICCI_UNROLL
        for (int p = 0; p < products; ++p) {
            number left[tile_n][parts][lane_columns][elements];
            RICCI_UNROLL
            for (int t = 0; t < tile_n; ++t)
                RICCI_UNROLL
                for (int i = 0; i < lane_columns; ++i)
                    RICCI_UNROLL
                    for (int e = 0; e < elements; ++e) {
                        const int l = step_of(p, e);
                        number v[parts][elements] = {};
                        number_at<y_conjugated>(y + column_at[t][i] + l * y_step, is_whole(p) || l < steps, v, e, least);
                        RICCI_UNROLL
                        for (int z = 0; z < parts; ++z) left[t][z][i][e] = v[z][e];
                    }
            add_products<0>(d, left, p);
            if constexpr (mma::passes > 1) add_products<1>(d, left, p), add_products<2>(d, left, p);
        }
        bool is_exact = true;
        if constexpr (is_split) is_exact = !__any_sync(0xffffffffu, has_lost_bits<mma>(least) || has_nan_or_infinity(d));
        RICCI_UNROLL
        for (int t = 0; t < tile_n; ++t)
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r)
                RICCI_UNROLL
                for (int s = 0; s < sums; ++s) {
                    const int i = row0_ + 8 * r + 2 * low + s % 2, j = column0_ + t * mma::rows + 8 * (s / 2) + high;
                    if ((m % (8 * tile_m) != 0 && i >= m) || j >= own) continue;
                    compute sum;
                    if constexpr (is_complex) sum = {d[t][r][0][s], d[t][r][1][s]};
                    else sum = d[t][r][0][s];
                    if constexpr (is_split)
                        if (!is_exact) sum = again(i, j);
                    update(a, c[i + j * pitch[0]], sum);
                }
    }

  private:
    template <bool Conjugated, class Element>
    static RICCI_FUNCTION void number_at(const Element* from, bool exists, number (&into)[parts][elements], int element, unsigned& least) {
        number v[parts] = {};
        if (exists) read_parts<mma, Conjugated>(*from, v, least);
        RICCI_UNROLL
        for (int z = 0; z < parts; ++z) into[z][element] = v[z];
    }

    template <int Pass>
    RICCI_FUNCTION void add_products(typename mma::sum (&d)[tile_n][tile_m][parts][sums], const number (&left)[tile_n][parts][lane_columns][elements], int p) const {
        RICCI_UNROLL
        for (int t = 0; t < tile_n; ++t) {
            number minus[lane_columns][elements];
            if constexpr (is_complex) {
                RICCI_UNROLL
                for (int i = 0; i < lane_columns * elements; ++i) minus[i / elements][i % elements] = mma::negative(left[t][1][i / elements][i % elements]);
            }
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r) {
                mma::template multiply<Pass>(d[t][r][0], left[t][0], x_[r][p][0]);
                if constexpr (is_complex) {
                    mma::template multiply<Pass>(d[t][r][0], minus, x_[r][p][1]);
                    mma::template multiply<Pass>(d[t][r][1], left[t][0], x_[r][p][1]);
                    mma::template multiply<Pass>(d[t][r][1], left[t][1], x_[r][p][0]);
                }
            }
        }
    }

    static RICCI_FUNCTION bool has_nan_or_infinity(const typename mma::sum (&d)[tile_n][tile_m][parts][sums]) {
        float zero = 0; // times anything else
        RICCI_UNROLL
        for (int t = 0; t < tile_n; ++t)
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r)
                RICCI_UNROLL
                for (int i = 0; i < parts * sums; ++i) zero += 0 * static_cast<float>(d[t][r][i % parts][i / parts]);
        return zero != 0;
    }

    int row0_, column0_;
    unsigned least_of_x_ = 0xffffffffu;
    number x_[tile_m][products][parts][elements];
};

#endif
