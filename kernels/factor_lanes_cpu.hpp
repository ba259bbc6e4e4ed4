// factor_lanes, for a CPU: small matrices, as many at once as a vector has lanes. They are copied to scratch, where
// element (i, j) of all of them is one vector, factored there, and copied back: factor_groups_cpu,
// factor_lanes_tiles_cpu, factor_lanes_triangles_cpu, factor_lanes_qr_cpu.
//
// Constants: factor.hpp's, with sizes and steps that are constants; matrices_of_block; simd_bytes.
#pragma once

#include "factor_determinant_cpu.hpp"
#include "factor_lanes_qr_cpu.hpp"

static_assert(rows != argument && columns != argument && right_sides != argument);

struct group_scratch {
    alignas(64) real matrix[height * n][number_size];
    alignas(64) real taus[method == qr_method ? steps : 1][number_size];
    alignas(64) real side[at_least_one(side_columns)][has_sides ? side_height : 1][number_size];
    group_state state;
};

template <int J>
RICCI_FUNCTION void load_identity(real* to, int column) {
    for (int j = 0; j < J; ++j)
        for (int i = 0; i < side_height; ++i) {
            const vector x[parts] = {all_lanes(i == column + j)};
            store_numbers(to + (j * side_height + i) * number_size, lanes, x);
        }
}

RICCI_APART void solve_sides(const arguments& a, group_scratch& s, long long matrix, int count) {
    const factor_matrix factors{s.matrix[0]};
    const side_matrix b{s.side[0][0]};
    const group_of<solution_role> solution(a, matrix, count);
    if constexpr (method == qr_method) look_at_diagonal(factors, s.state);
    const indices fails = ~(s.state.info == 0);
    const bool any_fails = any_of(fails);
    for_tiles_across<sides, at_least_one(side_columns)>([&](auto wide, int column) RICCI_INLINED {
        if constexpr (has_role[given_role]) {
            const group_of<given_role> given(a, matrix, count);
            load_group<given_role, given_rows, wide, side_height>(given, column, b.first);
        } else
            load_identity<wide>(b.first, column);
        if constexpr (method == qr_method)
            solve_least_squares<wide>(factors, s.taus[0], s.state, b);
        else
            solve_triangles<wide>(factors, s.state, b);
        if (any_fails)
            for (int j = 0; j < wide; ++j)
                for (int i = 0; i < solution_rows; ++i) {
                    vector x[parts];
                    load_numbers(b.at(i, j), lanes, x);
                    for_each_of<parts>([&](auto p)
                                           RICCI_INLINED { x[p] = chosen(fails, all_lanes(no_number), x[p]); });
                    store_numbers(b.at(i, j), lanes, x);
                }
        store_group<solution_role, solution_rows, wide, side_height>(solution, column, b.first);
    });
}

template <class Index>
RICCI_FUNCTION void store_pivots(const arguments& a, const group_state& s, Index* to, int lane) {
    for (int k = 0; k < steps; ++k) to[offset_of<vector_role>(a, k, 0)] = static_cast<Index>(s.pivot[k][lane]);
}

/// log |det| and its sign, of the group's matrix in a lane; `matrix` is the first.
RICCI_FUNCTION void store_determinant(const arguments& a, const group_scratch& s, long long matrix, int lane) {
    scaled_product det;
    bool negative = false;
    for (int k = 0; k < steps; ++k) {
        const real* x = factor_matrix{const_cast<real*>(s.matrix[0])}.at(k, k) + lane;
        if constexpr (is_complex)
            det.multiply(complex<real>{x[0], x[lanes]});
        else
            det.multiply(x[0]);
        if constexpr (method == lu_method) negative ^= s.state.pivot[k][lane] != k;
    }
    det.store(a, matrix + lane, s.state.info[lane], method == cholesky_method ? 2 : 1, negative);
}

RICCI_APART void factor_group(const arguments& a, group_scratch& s, long long matrix, int count) {
    s.state.info = indices{}, s.state.d.has_small = false;
    const group_of<matrix_role> matrices(a, matrix, count);
    const factor_matrix x{s.matrix[0]};
    load_group<matrix_role, m, n, height>(matrices, 0, x.first);
    if constexpr (method == qr_method)
        factor_qr(x, s.taus[0]);
    else if constexpr (method == cholesky_method)
        factor_cholesky(x, s.state);
    else
        factor_lu(x, s.state);
    if constexpr (keeps_factors) store_group<matrix_role, m, n, height>(matrices, 0, x.first);
    if constexpr (has_role[vector_role]) {
        if constexpr (method == qr_method)
            store_group<vector_role, steps, 1, steps>(group_of<vector_role>(a, matrix, count), 0, s.taus[0]);
        else if constexpr (method == lu_method)
            for (int t = 0; t < count; ++t) store_pivots(a, s.state, operand_of<vector_role>(a, matrix + t), t);
    }
    if constexpr (has_sides) solve_sides(a, s, matrix, count);
    for (int t = 0; t < count; ++t) {
        if constexpr (has_role[info_role]) *operand_of<info_role>(a, matrix + t) = s.state.info[t];
        if constexpr (has_determinant) store_determinant(a, s, matrix, t);
    }
}

extern "C" void ricci_factor(const void* words, long long first, long long last) {
    const arguments& a = *static_cast<const arguments*>(words);
    const long long begin = first * matrices_of_block, end = last * matrices_of_block;
    const long long all = end < a.matrices ? end : a.matrices;
    const auto factor_all = [&](group_scratch& s) RICCI_INLINED {
        for (long long at = begin; at < all; at += lanes)
            factor_group(a, s, at, static_cast<int>(all - at < lanes ? all - at : lanes));
    };
    if constexpr (sizeof(group_scratch) <= (64 << 10)) {
        group_scratch s;
        factor_all(s);
    } else {
        static thread_local group_scratch s;
        factor_all(s);
    }
}
