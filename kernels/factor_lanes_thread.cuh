// factor_lanes_thread: a thread a matrix, which lies in its registers, everything unrolled: up to 12 x 12.
//
// From a slab each thread reads its matrix 16 bytes at a time where matrices are multiples of that. Those of 4 x 4
// and 8 x 8 would all lie on the same banks; they come as up to eight spans, each 16 bytes further, and neighboring
// threads take matrices of different spans. Where they are no slab threads read and write memory themselves, which is
// as good where the batch is the fastest index.
//
// Rows are exchanged by selections.
#pragma once

#include "factor_lanes_results.cuh"
#include "neighbors.cuh"

struct factor_by_threads {
    static constexpr int matrix_bytes = m * n * static_cast<int>(sizeof(element)), units = matrix_bytes / 16;
    static constexpr bool by_units = in_slabs && matrix_bytes % 16 == 0; ///< of 16 bytes
    static constexpr int groups = !by_units                                      ? 1
                                  : units % 8 == 0 && matrices_of_block % 8 == 0 ? 8
                                  : units % 4 == 0 && matrices_of_block % 4 == 0 ? 4
                                  : units % 2 == 0 && matrices_of_block % 2 == 0 ? 2
                                                                                 : 1;
    /// Complex numbers in memory are aligned to their parts only, and move as wholes from here.
    using slab = matrix_slab<matrix_role, m, n, m, groups, 16, by_units || is_complex>;
    static constexpr int slab_at = 128, pivots_at = slab_at + (in_slabs ? slab::bytes : 0),
                         bytes = pivots_at + pivot_bytes;
    static constexpr int blocks_of_sm = stages > 0 ? stages : 1;
    using matrix = element[m][n];

    static RICCI_FUNCTION void run(const arguments& a, unsigned char* memory, block_share share) {
        int* const positions = reinterpret_cast<int*>(memory + pivots_at);
        if constexpr (in_slabs) {
            const slab matrices(a, memory + slab_at, share.first, share.count);
            slab_barrier& loaded = *reinterpret_cast<slab_barrier*>(memory);
            matrices.start_loading(a, loaded);
            const int p = slab::matrix_of_thread(static_cast<int>(threadIdx.x));
            matrices.finish_loading(loaded);
            if (p < share.count) {
                element* const here = matrices.matrix(p);
                matrix x;
                move_matrix<true>(x, here);
                factor(a, share.first + p, x, positions + p * pivots);
                if constexpr (keeps_factors) move_matrix<false>(x, here);
            }
            if constexpr (keeps_factors) matrices.store(a);
        } else {
            const int p = static_cast<int>(threadIdx.x);
            if (p < share.count) {
                element* const there = operand_of<matrix_role>(a, share.first + p);
                matrix x;
                each_element([&](int i, int j) { x[i][j] = as_meant(there[offset_of<matrix_role>(a, i, j)]); });
                factor(a, share.first + p, x, positions + p * pivots);
                if constexpr (keeps_factors)
                    each_element([&](int i, int j) { there[offset_of<matrix_role>(a, i, j)] = as_meant(x[i][j]); });
            }
        }
        if constexpr (exchanges && has_role[vector_role]) {
            __syncthreads();
            store_pivots(a, positions, share);
        }
    }

  private:
    static RICCI_FUNCTION constexpr bool matters(int i, int j) { return !is_cholesky || i >= j; }
    template <class F>
    static RICCI_FUNCTION void each_element(const F& f) {
        RICCI_UNROLL
        for (int j = 0; j < n; ++j) RICCI_UNROLL
        for (int i = 0; i < m; ++i)
            if (matters(i, j)) f(i, j);
    }

    static RICCI_FUNCTION void move_element(element& x, element& here, bool loads) {
        if (loads)
            x = as_meant(here);
        else
            here = as_meant(x);
    }
    /// From shared memory, or back.
    template <bool Loads>
    static RICCI_FUNCTION void move_matrix(matrix& x, element* here) {
        constexpr bool by_columns = slab::along == 1 && m > 1;
        constexpr int length = by_columns ? m : n, in_unit = by_units ? 16 / static_cast<int>(sizeof(element)) : 1;
        // elements e, e + 1, ... in memory
        RICCI_UNROLL
        for (int e = 0; e < m * n; e += in_unit) {
            int all = 0;
            RICCI_UNROLL
            for (int o = e; o < e + in_unit; ++o) {
                const int fast = o % length, slow = o / length;
                all += matters(by_columns ? fast : slow, by_columns ? slow : fast);
            }
            neighbors<element, in_unit> v;
            neighbors<element, in_unit>* const unit = reinterpret_cast<neighbors<element, in_unit>*>(here + e);
            if (Loads && all == in_unit) v = *unit;
            RICCI_UNROLL
            for (int o = e; o < e + in_unit; ++o) {
                const int fast = o % length, slow = o / length, i = by_columns ? fast : slow,
                          j = by_columns ? slow : fast;
                if (matters(i, j)) move_element(x[i][j], all == in_unit ? v.e[o - e] : here[o], Loads);
            }
            if (!Loads && all == in_unit) *unit = v;
        }
    }

    static RICCI_FUNCTION void factor(const arguments& a, long long at, matrix& x, int* positions) {
        int info = 0, position[at_least_one(pivots)];
        bool is_odd = false;
        if constexpr (is_cholesky)
            cholesky(x, info);
        else
            lu(x, info, position, is_odd);
        store_info(a, at, info);
        if constexpr (has_determinant) {
            determinant d;
            RICCI_UNROLL
            for (int k = 0; k < pivots; ++k) d.take(x[k][k]);
            d.store(a, at, info, is_odd);
        }
        if constexpr (exchanges && has_role[vector_role]) RICCI_UNROLL
        for (int k = 0; k < pivots; ++k) positions[k] = position[k];
        if constexpr (has_sides) solve(a, at, x, info, position);
    }

    static RICCI_FUNCTION void cholesky(matrix& x, int& info) {
        RICCI_UNROLL
        for (int k = 0; k < n; ++k) {
            const real square = real_of(x[k][k]);
            if (!(square > 0) && info == 0) info = k + 1;
            const real q = reciprocal_sqrt(square);
            x[k][k] = from_real<element>(square * q, 0);
            RICCI_UNROLL
            for (int i = k + 1; i < n; ++i) x[i][k] = scaled(x[i][k], q);
            RICCI_UNROLL
            for (int j = k + 1; j < n; ++j) RICCI_UNROLL
            for (int i = j; i < n; ++i) x[i][j] = without_product(x[i][j], x[i][k], conjugate(x[j][k]));
        }
    }

    static RICCI_FUNCTION void exchange_where(bool condition, element& x, element& y) {
        const element before = x;
        x = condition ? y : x;
        y = condition ? before : y;
    }

    static RICCI_FUNCTION void lu(matrix& x, int& info, int (&position)[at_least_one(pivots)], bool& is_odd) {
        RICCI_UNROLL
        for (int k = 0; k < pivots; ++k) {
            int p = k;
            if constexpr (exchanges) {
                real largest = size_of_pivot(x[k][k]);
                RICCI_UNROLL
                for (int i = k + 1; i < m; ++i)
                    if (const real size = size_of_pivot(x[i][k]); size > largest) largest = size, p = i;
                RICCI_UNROLL
                for (int i = k + 1; i < m; ++i) RICCI_UNROLL
                for (int j = 0; j < n; ++j) exchange_where(p == i, x[k][j], x[i][j]);
                is_odd = is_odd != (p != k);
            }
            position[k] = p;
            if (is_zero(x[k][k]) && info == 0) info = k + 1;
            const pivot_inverse inverse(x[k][k]);
            RICCI_UNROLL
            for (int i = k + 1; i < m; ++i) {
                x[i][k] = inverse.times(x[i][k]);
                RICCI_UNROLL
                for (int j = k + 1; j < n; ++j) x[i][j] = without_product(x[i][j], x[i][k], x[k][j]);
            }
        }
    }

    static RICCI_FUNCTION void solve(const arguments& a, long long at, const matrix& x, int info,
                                     const int (&position)[at_least_one(pivots)]) {
        static_assert(!has_sides || m == n, "systems are square");
        element diagonal[n]; // of pivots as small as 1/diagonal could not be
        bool is_small = false;
        RICCI_UNROLL
        for (int k = 0; k < n; ++k) {
            const pivot_inverse inverse(x[k][k]);
            diagonal[k] = inverse.factor, is_small = is_small || inverse.is_small;
        }
        const auto divided = [&](element b, int k) {
            return is_small ? pivot_inverse(x[k][k]).times(b) : b * diagonal[k];
        };
        const long long sides = sides_of(a);
        RICCI_UNROLL_ONCE
        for (long long c = 0; c < sides; ++c) {
            element b[n];
            RICCI_UNROLL
            for (int i = 0; i < n; ++i) b[i] = given_side(a, at, i, c);
            if constexpr (exchanges) RICCI_UNROLL
            for (int k = 0; k < n; ++k) RICCI_UNROLL
            for (int i = k + 1; i < n; ++i) exchange_where(position[k] == i, b[k], b[i]);
            RICCI_UNROLL
            for (int k = 0; k < n; ++k) {
                if constexpr (is_cholesky) b[k] = divided(b[k], k);
                RICCI_UNROLL
                for (int i = k + 1; i < n; ++i) b[i] = without_product(b[i], x[i][k], b[k]);
            }
            RICCI_UNROLL
            for (int k = n - 1; k >= 0; --k) {
                b[k] = divided(b[k], k);
                RICCI_UNROLL
                for (int i = 0; i < k; ++i)
                    b[i] = without_product(b[i], is_cholesky ? conjugate(x[k][i]) : x[i][k], b[k]);
            }
            RICCI_UNROLL
            for (int i = 0; i < n; ++i)
                operand_of<solution_role>(a, at)[offset_of<solution_role>(a, i, c)] =
                    info != 0 ? not_a_number() : b[i];
        }
    }
};
