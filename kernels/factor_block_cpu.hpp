// factor_block, for a CPU: matrices of any size, one after another: each is copied to scratch, column by column with
// padding, factored there by vectors along its rows (factor_block_triangles_cpu, factor_block_qr_cpu), and copied
// back. One that has no room there is factored where it is, by elements: factor_in_place_cpu.
//
// Constants: factor.hpp's; matrices_of_block; panel, columns of a block of reflectors, a multiple of 8; simd_bytes.
#pragma once

#include "factor_block_memory_cpu.hpp"
#include "factor_block_qr_cpu.hpp"
#include "factor_in_place_cpu.hpp"

constexpr bool is_fixed = rows != argument && columns != argument && right_sides != argument;
#ifndef RICCI_LARGEST_SCRATCH
#define RICCI_LARGEST_SCRATCH (16 << 20)
#endif
constexpr long long largest_scratch = RICCI_LARGEST_SCRATCH; ///< bytes of a thread's own memory
constexpr int sides_at_once = 64;

/// A column's length in scratch: with room for vectors that begin at its last element, and not near a multiple of a
/// page, where all columns would meet in the same few lines of the caches.
constexpr long long height_for(long long m, long long n) {
    constexpr long long more = lanes > base ? lanes : base, line = 64 / sizeof(real);
    long long height = ((m > n ? m : n) + more + more - 1) / more * more;
    if (height * static_cast<long long>(sizeof(real)) % 512 == 0) height += line > more ? line : more;
    return height;
}
struct scratch_sizes {
    long long height, matrix, sides, reflectors, small, wide_small, all;
    constexpr scratch_sizes(long long m, long long n, long long r)
        : height(height_for(m, n)), matrix(height * parts * n),
          sides(height * parts * (r < sides_at_once ? r : sides_at_once)),
          reflectors(method == qr_method ? height * parts * block_columns : 0),
          small(method == qr_method ? small_height * parts * block_columns : 0),
          wide_small(method == qr_method ? small_height * parts * (n > sides_at_once ? n : sides_at_once) : 0),
          all((matrix + sides + reflectors + 2 * small + 2 * wide_small) * static_cast<long long>(sizeof(real)) +
              (m < n ? m : n) * static_cast<long long>(sizeof(element) + sizeof(int)) + 64) {}
};
constexpr scratch_sizes fixed_sizes(is_fixed ? rows : 1, is_fixed ? columns : 1, is_fixed ? right_sides : 0);
constexpr bool always_fits = is_fixed && fixed_sizes.all <= largest_scratch;
constexpr long long scratch_bytes = always_fits ? fixed_sizes.all : largest_scratch;
using matrix_in_scratch = scratch_matrix<is_fixed ? fixed_sizes.height : 0>;

constexpr bool is_flipped = conjugated && is_complex;

RICCI_FUNCTION long long length_of(long long constant, long long given) {
    return constant == argument ? given : constant;
}

template <class A>
RICCI_FUNCTION void solve_sides(const arguments& a, long long matrix, const A& x, matrix_state& s, const A& b,
                                const reflector_block<A>& reflectors, const element* tau, int m, int n, int r) {
    if constexpr (method == qr_method)
        for (int k = 0; k < n; ++k) {
            const real size = largest_part(x.number(k, k));
            s.note(size_of_pivot(x.number(k, k)) == 0, k + 1); // NaN is not
            s.has_small |= size < smallest_divisor;
        }
    element* const solution = operand_of<solution_role>(a, matrix);
    const int given_rows = smallest_norm ? n : m, solution_rows = smallest_norm ? m : n;
    for (int column = 0; column < r; column += sides_at_once) {
        const int wide = r - column < sides_at_once ? r - column : sides_at_once;
        element* const to = solution + offset_of<solution_role>(a, 0, column);
        if (s.info == 0) {
            if constexpr (has_role[given_role]) {
                const element* given = operand_of<given_role>(a, matrix) + offset_of<given_role>(a, 0, column);
                load_matrix<false>(given, offset_of<given_role>(a, 1, 0), offset_of<given_role>(a, 0, 1), b,
                                   given_rows, wide);
            } else {
                for (int j = 0; j < wide; ++j) {
                    __builtin_memset(b.at(0, j), 0, sizeof(real) * static_cast<unsigned long>(b.step()));
                    if (column + j < m) b.set(column + j, j, from_real<element>(1, 0));
                }
            }
            const auto solve = [&](auto slow) RICCI_INLINED {
                const auto with = [&](auto kind) RICCI_INLINED {
                    constexpr auto t = static_cast<triangle>(kind.value);
                    if constexpr (slow)
                        solve_slowly<t>(x, b, n, wide);
                    else
                        solve_triangle<t>(x, b, n, wide);
                };
                if constexpr (smallest_norm) {
                    with(constant<static_cast<int>(triangle::upper_adjoint)>());
                } else if constexpr (method == cholesky_method) {
                    with(constant<static_cast<int>(triangle::lower)>());
                    with(constant<static_cast<int>(triangle::lower_adjoint)>());
                } else {
                    if constexpr (is_lu) with(constant<static_cast<int>(triangle::unit_lower)>());
                    with(constant<static_cast<int>(triangle::upper)>());
                }
            };
            if constexpr (method == lu_method) exchange_rows(b, s.pivots, 0, n, 0, wide);
            if constexpr (method == qr_method && !smallest_norm) apply_adjoint(x, reflectors, tau, b, m, n, wide);
            if (s.has_small)
                solve(constant<1>());
            else
                solve(constant<0>());
            if constexpr (smallest_norm) {
                for (int j = 0; j < wide; ++j) // the triangle's vectors end behind its last row
                    for (int i = n; i < m && i < n + base; ++i) b.set(i, j, zero());
                apply_reflectors(x, reflectors, tau, b, m, n, wide);
            }
            store_matrix<false, false>(to, offset_of<solution_role>(a, 1, 0), offset_of<solution_role>(a, 0, 1), b,
                                       solution_rows, wide);
        } else {
            for (int j = 0; j < wide; ++j)
                for (int i = 0; i < solution_rows; ++i)
                    to[offset_of<solution_role>(a, i, j)] = from_real<element>(no_number, no_number);
        }
    }
}

RICCI_APART void factor_in_scratch(const arguments& a, long long matrix, char* scratch) {
    using A = matrix_in_scratch;
    const int m = static_cast<int>(length_of(rows, a.row_count)),
              n = static_cast<int>(length_of(columns, a.column_count));
    const int r = static_cast<int>(length_of(right_sides, a.side_count)), steps = m < n ? m : n;
    const scratch_sizes sizes(m, n, r);
    real* p = reinterpret_cast<real*>(scratch);
    const auto take = [&](long long count) { return (p += count) - count; };
    const A x{take(sizes.matrix), sizes.height}, sides{take(sizes.sides), sizes.height};
    const A v{take(sizes.reflectors), sizes.height};
    const auto small = [&](long long count) { return small_matrix{take(count), 0}; };
    const small_matrix t = small(sizes.small), gram = small(sizes.small), sums = small(sizes.wide_small);
    const reflector_block<A> reflectors{v, t, gram, sums, small(sizes.wide_small)};
    element* const tau = reinterpret_cast<element*>(p);
    matrix_state s{reinterpret_cast<int*>(tau + steps)};

    element* const from = operand_of<matrix_role>(a, matrix);
    const long long along = offset_of<matrix_role>(a, 1, 0), across = offset_of<matrix_role>(a, 0, 1);
    load_matrix<is_flipped>(from, along, across, x, m, n);
    if constexpr (method == cholesky_method)
        factor_cholesky(x, s, n, n, 0);
    else if constexpr (method == qr_method)
        factor_qr(x, reflectors, tau, m, n);
    else {
        factor_lu(x, s, m, 0, steps);
        if (n > m) {
            if constexpr (method == lu_method) exchange_rows(x, s.pivots, 0, m, m, n - m);
            solve_triangle<triangle::unit_lower>(x, x.part(0, m), m, n - m);
        }
    }
    if constexpr (keeps_factors) store_matrix<is_flipped, method == cholesky_method>(from, along, across, x, m, n);
    if constexpr (has_role[vector_role]) store_vector(a, operand_of<vector_role>(a, matrix), s.pivots, tau, steps);
    if constexpr (has_sides) solve_sides(a, matrix, x, s, sides, reflectors, tau, m, n, r);
    store_rest(a, matrix, s.info, s.pivots, steps, [&](int k) { return x.number(k, k); });
}

extern "C" void ricci_factor(const void* words, long long first, long long last) {
    const arguments& a = *static_cast<const arguments*>(words);
    const long long begin = first * matrices_of_block, end = last * matrices_of_block;
    const long long all = end < a.matrices ? end : a.matrices;
    const long long m = length_of(rows, a.row_count), n = length_of(columns, a.column_count);
    if (m == 0 || n == 0) {
        for (long long at = begin; at < all; ++at) factor_nothing(a, at);
        return;
    }
    const auto factor_all = [&](char* scratch) RICCI_INLINED {
        bool fits = always_fits;
        if constexpr (!always_fits)
            fits = scratch_sizes(m, n, length_of(right_sides, a.side_count)).all <= scratch_bytes;
        for (long long at = begin; at < all; ++at) {
            if (fits)
                factor_in_scratch(a, at, scratch);
            else if constexpr (!always_fits)
                factor_in_place(a, at, scratch);
        }
    };
    if constexpr (scratch_bytes <= (64 << 10)) {
        alignas(64) char scratch[scratch_bytes];
        factor_all(scratch);
    } else {
        alignas(64) static thread_local char scratch[scratch_bytes];
        factor_all(scratch);
    }
}
