// substitute_threads: a thread a matrix, for matrices that lie interleaved, so that every access of a warp is
// contiguous. Nothing but the right-hand sides is held; the matrix's elements come as they are wanted, neighbors
// asked for together.
//
// Constants: substitute.cuh's, and
//   matrices_of_block   threads_per_block
//   stages              0: right-hand sides in registers, all loops unrolled, for matrices of a few rows; else in
//                       shared memory, a thread's elements threads_per_block apart
#pragma once

#include "substitute_parts.hpp"

template <int Lanes> struct matrix_thread {
    static constexpr int m = static_cast<int>(rows), n = static_cast<int>(columns),
                         r = static_cast<int>(right_sides), reflectors = m < n ? m : n,
                         sides = lines_of_lane;
    static constexpr int work_rows = applies_q ? m : n, solution_rows = solves ? n : m;
    static constexpr int k_unrolled = stages == 0 ? work_rows + 1 : 4;
    /// Rows in registers have constant numbers: they change places as they come from memory, or go there.
    static constexpr bool gathers = permutes_first && stages == 0, scatters = permutes_last && stages == 0;

    struct in_registers {
        element value[at_least_one(work_rows)][sides];
        RICCI_FUNCTION explicit in_registers(unsigned char*) {}
        RICCI_FUNCTION element& operator()(int i, int c) { return value[i][c]; }
    };
    struct in_shared {
        element* first;
        RICCI_FUNCTION explicit in_shared(unsigned char* memory)
            : first(reinterpret_cast<element*>(memory) + threadIdx.x) {}
        RICCI_FUNCTION element& operator()(int i, int c) { return first[(i * sides + c) * threads_per_block]; }
    };
    template <bool InRegisters, class Dummy = void> struct place_of { using type = in_registers; };
    template <class Dummy> struct place_of<false, Dummy> { using type = in_shared; };
    using values = typename place_of<stages == 0>::type;

    struct in_memory {
        const arguments& a;
        const element* first;
        RICCI_FUNCTION element operator()(int i, int j) const { return first[offset_of<matrix_role>(a, i, j)]; }
    };

    /// x = T^-1 x, a row after the other.
    template <bool Forward> static RICCI_FUNCTION void divide(const in_memory& matrix, values& x) {
        using t_of = triangle<Forward>;
        RICCI_UNROLL_K
        for (int ii = 0; ii < n; ++ii) {
            const int i = Forward ? ii : n - 1 - ii;
            element sum[sides];
            RICCI_UNROLL
            for (int c = 0; c < sides; ++c) sum[c] = x(i, c);
            RICCI_UNROLL_K
            for (int kk = 0; kk < ii; ++kk) {
                const int k = Forward ? kk : n - 1 - kk;
                const element f = t_of::at(matrix, i, k);
                RICCI_UNROLL
                for (int c = 0; c < sides; ++c) subtract_product(sum[c], f, x(k, c));
            }
            if constexpr (!t_of::has_unit_diagonal) {
                const divisor by = divisor_of(t_of::at(matrix, i, i));
                RICCI_UNROLL
                for (int c = 0; c < sides; ++c) sum[c] = quotient(sum[c], by);
            }
            RICCI_UNROLL
            for (int c = 0; c < sides; ++c) x(i, c) = sum[c];
        }
    }

    static RICCI_FUNCTION void reflect(const arguments& a, const in_memory& matrix, long long number, values& x) {
        const element* const tau = operand_of<vector_role>(a, number);
        RICCI_UNROLL_K
        for (int kk = 0; kk < reflectors; ++kk) {
            const int k = last_reflector_first ? reflectors - 1 - kk : kk;
            element factor = as_meant(tau[offset_of<vector_role>(a, k, 0)]), sum[sides];
            if constexpr (!last_reflector_first) factor = conjugate(factor);
            RICCI_UNROLL
            for (int c = 0; c < sides; ++c) sum[c] = x(k, c);
            RICCI_UNROLL_K
            for (int i = k + 1; i < m; ++i) {
                const element v = conjugate(as_meant(matrix(i, k)));
                RICCI_UNROLL
                for (int c = 0; c < sides; ++c) add_product(sum[c], v, x(i, c));
            }
            RICCI_UNROLL
            for (int c = 0; c < sides; ++c) {
                sum[c] = factor * sum[c];
                x(k, c) = x(k, c) - sum[c];
            }
            RICCI_UNROLL_K
            for (int i = k + 1; i < m; ++i) {
                const element v = as_meant(matrix(i, k));
                RICCI_UNROLL
                for (int c = 0; c < sides; ++c) subtract_product(x(i, c), v, sum[c]);
            }
        }
    }

    static RICCI_FUNCTION int first_zero(const in_memory& matrix) {
        int out = 0;
        RICCI_UNROLL_K
        for (int i = n - 1; i >= 0; --i)
            if (is_zero(matrix(i, i))) out = i + 1;
        return out;
    }

    static RICCI_FUNCTION void load(const arguments& a, long long number, int side, values& x) {
        const auto given_at = [&](int i, int c) {
            if (side + c >= r) return from_real<element>(0, 0);
            if constexpr (has_given) return operand_of<given_role>(a, number)[offset_of<given_role>(a, i, side + c)];
            else return from_real<element>(i == side + c ? 1 : 0, 0);
        };
        int source[at_least_one(work_rows)];
        if constexpr (gathers) find_sources(a, number, source);
        RICCI_UNROLL_K
        for (int i = 0; i < work_rows; ++i)
            RICCI_UNROLL
            for (int c = 0; c < sides; ++c) x(i, c) = given_at(gathers ? source[i] : i, c);
        if constexpr (permutes_first && !gathers) exchange_rows(a, number, x);
    }

    /// Solutions, or what stands for them.
    static RICCI_FUNCTION void store(const arguments& a, long long number, int side, int info, values& x) {
        element* const solution = operand_of<solution_role>(a, number);
        int place[at_least_one(work_rows)];
        if constexpr (scatters) find_sources(a, number, place);
        if constexpr (permutes_last && !scatters) exchange_rows(a, number, x);
        RICCI_UNROLL_K
        for (int i = 0; i < solution_rows; ++i)
            RICCI_UNROLL
            for (int c = 0; c < sides; ++c)
                if (side + c < r)
                    solution[offset_of<solution_role>(a, scatters ? place[i] : i, side + c)] =
                        info == 0 ? x(i, c) : not_a_number();
    }

    /// The rows that the interchanges bring: by their numbers, which constant indices can exchange.
    static RICCI_FUNCTION void find_sources(const arguments& a, long long number,
                                            int (&source)[at_least_one(work_rows)]) {
        const auto* const pivots = operand_of<vector_role>(a, number);
        RICCI_UNROLL_K
        for (int i = 0; i < n; ++i) source[i] = i;
        RICCI_UNROLL_K
        for (int k = 0; k < n; ++k) {
            const int p = row_of(pivots[offset_of<vector_role>(a, k, 0)]), old = source[k];
            RICCI_UNROLL_K
            for (int i = k + 1; i < n; ++i)
                if (i == p) source[k] = source[i], source[i] = old;
        }
    }
    static RICCI_FUNCTION void exchange_rows(const arguments& a, long long number, values& x) {
        const auto* const pivots = operand_of<vector_role>(a, number);
        RICCI_UNROLL_4
        for (int step = 0; step < n; ++step) {
            const int k = static_cast<int>(interchange_at(step, n)),
                      p = row_of(pivots[offset_of<vector_role>(a, k, 0)]);
            RICCI_UNROLL
            for (int c = 0; c < sides; ++c) {
                const element old = x(k, c);
                x(k, c) = x(p, c), x(p, c) = old;
            }
        }
    }

    static RICCI_FUNCTION void run(const arguments& a, unsigned char* memory) {
        static_assert(Lanes != 1 || matrices_of_block == threads_per_block);
        const long long number = block_number() * threads_per_block + threadIdx.x;
        if (number >= a.matrices) return;
        const in_memory matrix{a, operand_of<matrix_role>(a, number)};
        int info = 0;
        if constexpr (has_divisors) info = first_zero(matrix);
        if constexpr (has_info)
            *operand_of<info_role>(a, number) = static_cast<typename role_element<info_role>::type>(info);
        RICCI_UNROLL_ONCE
        for (int side = 0; side < r; side += sides) {
            values x(memory);
            load(a, number, side, x);
            if constexpr (applies_q) reflect(a, matrix, number, x);
            if constexpr (has_forward) divide<true>(matrix, x);
            if constexpr (has_backward) divide<false>(matrix, x);
            store(a, number, side, info, x);
        }
    }
};
