// substitute_block: a block a matrix of any size, which is streamed from global memory once a tile of right-hand
// sides, in panels.
//
// Triangles: the panel's diagonal block comes to shared memory, a warp a right-hand side solves with it. Where T's
// columns are contiguous the panel then goes into all rows that are left, a row a thread; where its rows are, the
// panel's rows first take what is solved, a row a warp.
//
// Reflectors: those of a panel are applied at once. With w = V^H x and G = V^H V, both from one pass over the panel,
// s_k = tau_k (w_k - sum of G_kj s_j over those before) is what H_k takes away along v_k, and x -= V s is the second
// pass (the T factor of the compact WY form is never formed).
//
// Constants: substitute.cuh's, and
//   stages    1: right-hand sides lie in shared memory while they are worked on; 0: in the solution's place. There
//             those of least squares, m of them, have `workspace`: matrices x right_sides x rows elements.
// Shared memory: the first zero's number, the diagonal block or the reflectors' sums, the right-hand sides, their
// rows' sources under LU's interchanges.
#pragma once

#include "substitute_shuffles.cuh"

#if RICCI_ON_GPU
#define RICCI_UNROLL_8 _Pragma("unroll 8")
#else
#define RICCI_UNROLL_8
#endif

constexpr int block_warps = threads_per_block / 32, block_sides = lines_of_lane;
constexpr int triangle_panel = 32, reflector_panel = is_complex ? 4 : 8;
constexpr bool sides_in_shared = stages != 0;
constexpr int sides_at = 16 + triangle_panel * (triangle_panel + 1) * static_cast<int>(sizeof(element));

struct sides_in_shared_memory {
    element* first;
    long long rows_of_side;
    RICCI_FUNCTION element& operator()(long long i, int c) const { return first[i + c * rows_of_side]; }
};
struct sides_in_global_memory {
    element* first;
    long long along, across;
    RICCI_FUNCTION element& operator()(long long i, int c) const { return first[i * along + c * across]; }
};

struct block_matrix {
    const element* first;
    long long along, across;
    RICCI_FUNCTION block_matrix(const arguments& a, long long number)
        : first(operand_of<matrix_role>(a, number)), along(offset_of<matrix_role>(a, 1, 0)),
          across(offset_of<matrix_role>(a, 0, 1)) {}
    RICCI_FUNCTION element operator()(long long i, long long j) const { return first[i * along + j * across]; }
};

/// Whether T's columns are what is contiguous; as LAPACK's are where the steps are arguments.
template <bool Forward> RICCI_FUNCTION constexpr bool goes_down_columns() {
    constexpr bool adjoint = triangle<Forward>::adjoint;
    const long long along = length_of_step(matrix_step[matrix_role][adjoint]),
                    across = length_of_step(matrix_step[matrix_role][!adjoint]);
    return along == 1 || (across != 1 && !adjoint && matrix_step[matrix_role][0] == argument);
}

/// The panel's diagonal block, T(i, k) at [k][i]: only what is read.
template <bool Forward>
RICCI_FUNCTION void load_diagonal_block(const block_matrix& matrix, long long begin, int count, element* block) {
    RICCI_UNROLL_4
    for (int e = threadIdx.x; e < triangle_panel * triangle_panel; e += threads_per_block) {
        const int fast = e % triangle_panel, slow = e / triangle_panel;
        const int i = goes_down_columns<Forward>() ? fast : slow, k = goes_down_columns<Forward>() ? slow : fast;
        const bool is_inside = Forward ? i > k : i < k,
                   is_diagonal = i == k && !triangle<Forward>::has_unit_diagonal;
        if (i < count && k < count && (is_inside || is_diagonal))
            block[k * (triangle_panel + 1) + i] = triangle<Forward>::at(matrix, begin + i, begin + k);
    }
}

/// Of a tile's right-hand sides, a warp each.
template <bool Forward, class Sides>
RICCI_FUNCTION void divide_by_block(const element* block, long long begin, int count, int side_number,
                                    const Sides& x) {
    const int lane = threadIdx.x % 32;
    RICCI_UNROLL_ONCE
    for (int c = threadIdx.x / 32; c < side_number; c += block_warps) {
        element value = from_real<element>(0, 0);
        divisor by{from_real<element>(1, 0), 1};
        if (lane < count) {
            value = x(begin + lane, c);
            if constexpr (!triangle<Forward>::has_unit_diagonal) by = divisor_of(block[lane * (triangle_panel + 2)]);
        }
        const auto divided = [&] {
            if constexpr (triangle<Forward>::has_unit_diagonal) return value;
            else return quotient(value, by);
        };
        RICCI_UNROLL_4
        for (int ss = 0; ss < count; ++ss) {
            const int s = Forward ? ss : count - 1 - ss;
            const element pivot = shuffle(divided(), s, 32);
            if (Forward ? lane > s && lane < count : lane < s)
                subtract_product(value, block[s * (triangle_panel + 1) + lane], pivot);
        }
        if (lane < count) x(begin + lane, c) = divided();
    }
}

/// x = T^-1 x.
template <bool Forward, class Sides>
RICCI_FUNCTION void divide_by_panels(const block_matrix& matrix, long long n, int side_number, element* block,
                                     const Sides& x) {
    const long long panels = (n + triangle_panel - 1) / triangle_panel;
    RICCI_UNROLL_ONCE
    for (long long number = 0; number < panels; ++number) {
        const long long begin = (Forward ? number : panels - 1 - number) * triangle_panel,
                        end = begin + triangle_panel < n ? begin + triangle_panel : n;
        const int count = static_cast<int>(end - begin);
        load_diagonal_block<Forward>(matrix, begin, count, block);
        if constexpr (!goes_down_columns<Forward>()) { // what is solved, into the panel's rows
            const long long first = Forward ? 0 : end, last = Forward ? begin : n;
            RICCI_UNROLL_ONCE
            for (int i = threadIdx.x / 32; i < count; i += block_warps) {
                element sum[block_sides];
                RICCI_UNROLL
                for (int c = 0; c < block_sides; ++c) sum[c] = from_real<element>(0, 0);
                RICCI_UNROLL_4
                for (long long k = first + threadIdx.x % 32; k < last; k += 32) {
                    const element f = triangle<Forward>::at(matrix, begin + i, k);
                    RICCI_UNROLL
                    for (int c = 0; c < block_sides; ++c)
                        if (c < side_number) add_product(sum[c], f, x(k, c));
                }
                RICCI_UNROLL
                for (int c = 0; c < block_sides; ++c) {
                    const element all = sum_of_lanes<32>(sum[c]);
                    if (threadIdx.x % 32 == 0 && c < side_number) x(begin + i, c) = x(begin + i, c) - all;
                }
            }
        }
        __syncthreads();
        divide_by_block<Forward>(block, begin, count, side_number, x);
        __syncthreads();
        if constexpr (goes_down_columns<Forward>()) { // the panel, into all rows that are left
            const long long first = Forward ? end : 0, last = Forward ? n : begin;
            RICCI_UNROLL_ONCE
            for (long long i = first + threadIdx.x; i < last; i += threads_per_block) {
                element sum[block_sides];
                RICCI_UNROLL
                for (int c = 0; c < block_sides; ++c) sum[c] = from_real<element>(0, 0);
                const auto add = [&](int k) {
                    const element f = triangle<Forward>::at(matrix, i, begin + k);
                    RICCI_UNROLL
                    for (int c = 0; c < block_sides; ++c)
                        if (c < side_number) add_product(sum[c], f, x(begin + k, c));
                };
                if (count == triangle_panel) {
                    RICCI_UNROLL_8
                    for (int k = 0; k < triangle_panel; ++k) add(k);
                } else {
                    RICCI_UNROLL_4
                    for (int k = 0; k < count; ++k) add(k);
                }
                RICCI_UNROLL
                for (int c = 0; c < block_sides; ++c)
                    if (c < side_number) x(i, c) = x(i, c) - sum[c];
            }
            __syncthreads();
        }
    }
}

/// x = Q x or Q^H x. `sums` is shared memory.
template <class Sides>
RICCI_FUNCTION void reflect_by_panels(const arguments& a, const block_matrix& matrix, long long number,
                                      int side_number, element* sums, const Sides& x) {
    constexpr int p = reflector_panel, products = p * (p - 1) / 2, values = products + p * block_sides;
    static_assert((block_warps + 1) * values + p * block_sides <= triangle_panel * (triangle_panel + 1));
    element *const totals = sums + block_warps * values, *const taken = totals + values;
    const element* const tau = operand_of<vector_role>(a, number);
    const long long m = row_count(a), reflectors = reflector_count(a), panels = (reflectors + p - 1) / p;
    const auto product_number = [](int q, int o) { return q * (q - 1) / 2 + o; }; // o < q
    /// Element i of reflector begin + q.
    const auto reflector_at = [&](long long i, long long begin, int q, int count) {
        if (q >= count || i < begin + q) return from_real<element>(0, 0);
        return i == begin + q ? from_real<element>(1, 0) : as_meant(matrix(i, begin + q));
    };
    RICCI_UNROLL_ONCE
    for (long long panel_number = 0; panel_number < panels; ++panel_number) {
        const long long begin = (last_reflector_first ? panels - 1 - panel_number : panel_number) * p;
        const int count = static_cast<int>(reflectors - begin < p ? reflectors - begin : p);
        element sum[values];
        RICCI_UNROLL
        for (int e = 0; e < values; ++e) sum[e] = from_real<element>(0, 0);
        RICCI_UNROLL_ONCE
        for (long long i = begin + threadIdx.x; i < m; i += threads_per_block) {
            element v[p];
            RICCI_UNROLL
            for (int q = 0; q < p; ++q) v[q] = reflector_at(i, begin, q, count);
            RICCI_UNROLL
            for (int q = 0; q < p; ++q)
                RICCI_UNROLL
                for (int o = 0; o < q; ++o) add_product(sum[product_number(q, o)], conjugate(v[q]), v[o]);
            RICCI_UNROLL
            for (int c = 0; c < block_sides; ++c)
                if (c < side_number) {
                    const element value = x(i, c);
                    RICCI_UNROLL
                    for (int q = 0; q < p; ++q)
                        add_product(sum[products + q * block_sides + c], conjugate(v[q]), value);
                }
        }
        sum_lanes_apart(sum, sums + threadIdx.x / 32 * values);
        __syncthreads();
        for (int e = threadIdx.x; e < values; e += threads_per_block) {
            element all = sums[e];
            RICCI_UNROLL
            for (int w = 1; w < block_warps; ++w) all = all + sums[w * values + e];
            totals[e] = all;
        }
        __syncthreads();
        if (static_cast<int>(threadIdx.x) < side_number) {
            const int c = threadIdx.x;
            element s[p];
            RICCI_UNROLL
            for (int qq = 0; qq < p; ++qq) {
                const int q = last_reflector_first ? p - 1 - qq : qq;
                s[q] = totals[products + q * block_sides + c];
                RICCI_UNROLL
                for (int oo = 0; oo < qq; ++oo) {
                    const int o = last_reflector_first ? p - 1 - oo : oo;
                    const element product =
                        q > o ? totals[product_number(q, o)] : conjugate(totals[product_number(o, q)]);
                    subtract_product(s[q], product, s[o]);
                }
                element factor = from_real<element>(0, 0);
                if (q < count) factor = as_meant(tau[offset_of<vector_role>(a, begin + q, 0)]);
                s[q] = (last_reflector_first ? factor : conjugate(factor)) * s[q];
                taken[q * block_sides + c] = s[q];
            }
        }
        __syncthreads();
        RICCI_UNROLL_ONCE
        for (long long i = begin + threadIdx.x; i < m; i += threads_per_block) {
            element v[p];
            RICCI_UNROLL
            for (int q = 0; q < p; ++q) v[q] = reflector_at(i, begin, q, count);
            RICCI_UNROLL
            for (int c = 0; c < block_sides; ++c)
                if (c < side_number) {
                    element value = x(i, c);
                    RICCI_UNROLL
                    for (int q = 0; q < p; ++q) subtract_product(value, v[q], taken[q * block_sides + c]);
                    x(i, c) = value;
                }
        }
        __syncthreads();
    }
}

/// LU's interchanges, or these backwards, by a thread a right-hand side.
template <class Sides>
RICCI_FUNCTION void exchange_rows(const arguments& a, long long number, int side_number, const Sides& x) {
    const long long count = column_count(a);
    const auto* const pivots = operand_of<vector_role>(a, number);
    const int c = threadIdx.x;
    if (c >= side_number) return;
    RICCI_UNROLL_ONCE
    for (long long step = 0; step < count; ++step) {
        const long long k = interchange_at(step, count);
        const int p = row_of(pivots[offset_of<vector_role>(a, k, 0)]);
        const element old = x(k, c);
        x(k, c) = x(p, c), x(p, c) = old;
    }
}

/// The right-hand sides of a tile come, in the order that LU's interchanges give them, if those come first.
template <class Sides>
RICCI_FUNCTION void load_sides(const arguments& a, long long number, long long side, int side_number,
                               const int* source, const Sides& x) {
    const long long count = work_rows(a);
    const element* const given = has_given ? operand_of<given_role>(a, number) : nullptr;
    RICCI_UNROLL_ONCE
    for (int c = 0; c < side_number; ++c)
        RICCI_UNROLL_2
        for (long long i = threadIdx.x; i < count; i += threads_per_block) {
            const long long from = permutes_first && sides_in_shared ? source[i] : i;
            if constexpr (has_given) x(i, c) = given[offset_of<given_role>(a, from, side + c)];
            else x(i, c) = from_real<element>(from == side + c ? 1 : 0, 0);
        }
    if constexpr (permutes_first && !sides_in_shared) {
        __syncthreads();
        exchange_rows(a, number, side_number, x);
    }
}

/// From where the interchanges bring each row, which is where those backwards bring it: a row a thread.
RICCI_FUNCTION void find_row_sources(const arguments& a, long long number, int* source) {
    const auto* const pivots = operand_of<vector_role>(a, number);
    const int n = static_cast<int>(column_count(a));
    RICCI_UNROLL_ONCE
    for (int i = threadIdx.x; i < n; i += threads_per_block) {
        int from = i;
        RICCI_UNROLL_8
        for (int k = n - 1; k >= 0; --k) {
            const int p = row_of(pivots[offset_of<vector_role>(a, k, 0)]);
            from = from == k ? p : from == p ? k : from;
        }
        source[i] = from;
    }
}

template <class Sides>
RICCI_FUNCTION void solve_tile(const arguments& a, const block_matrix& matrix, long long number, long long side,
                               int side_number, element* block, const int* source, const Sides& x) {
    load_sides(a, number, side, side_number, source, x);
    __syncthreads();
    if constexpr (applies_q) reflect_by_panels(a, matrix, number, side_number, block, x);
    if constexpr (has_forward) divide_by_panels<true>(matrix, column_count(a), side_number, block, x);
    if constexpr (has_backward) divide_by_panels<false>(matrix, column_count(a), side_number, block, x);
    if constexpr (permutes_last && !sides_in_shared) exchange_rows(a, number, side_number, x);
    __syncthreads();
}

template <int Lanes> RICCI_FUNCTION void substitute_by_block(const arguments& a, unsigned char* memory) {
    static_assert(Lanes <= 32 || matrices_of_block == 1);
    const long long number = block_number();
    if (number >= a.matrices) return;
    int& zero = *reinterpret_cast<int*>(memory);
    element* const block = reinterpret_cast<element*>(memory + 16);
    element* const own = reinterpret_cast<element*>(memory + sides_at);
    const block_matrix matrix(a, number);
    const long long n = column_count(a), r = side_count(a), worked_on = work_rows(a), solved = solution_rows(a);
    int* const source = reinterpret_cast<int*>(own + worked_on * block_sides);
    if (threadIdx.x == 0) zero = 0x7fffffff;
    __syncthreads();
    if constexpr (has_divisors)
        for (long long i = threadIdx.x; i < n; i += threads_per_block)
            if (is_zero(matrix(i, i))) atomicMin(&zero, static_cast<int>(i));
    if constexpr (has_pivots && sides_in_shared) find_row_sources(a, number, source);
    __syncthreads();
    const bool is_singular = zero != 0x7fffffff;
    if constexpr (has_info)
        if (threadIdx.x == 0)
            *operand_of<info_role>(a, number) =
                static_cast<typename role_element<info_role>::type>(is_singular ? zero + 1 : 0);
    element* const solution = operand_of<solution_role>(a, number);
    RICCI_UNROLL_ONCE
    for (long long side = 0; side < r; side += block_sides) {
        const int side_number = static_cast<int>(r - side < block_sides ? r - side : block_sides);
        bool is_in_place = false;
        const element* from = own;
        long long along = 1, across = worked_on;
        if (!is_singular) {
            if constexpr (sides_in_shared) {
                solve_tile(a, matrix, number, side, side_number, block, source,
                           sides_in_shared_memory{own, worked_on});
            } else {
                element* first = solution + offset_of<solution_role>(a, 0, side);
                along = offset_of<solution_role>(a, 1, 0), across = offset_of<solution_role>(a, 0, 1);
                is_in_place = worked_on == solved;
                if (!is_in_place) {
                    along = 1, across = worked_on;
                    first = static_cast<element*>(a.workspace) + (number * r + side) * worked_on;
                }
                from = first;
                solve_tile(a, matrix, number, side, side_number, block, source,
                           sides_in_global_memory{first, along, across});
            }
        }
        if (!is_in_place)
            RICCI_UNROLL_ONCE
            for (int c = 0; c < side_number; ++c)
                RICCI_UNROLL_2
                for (long long i = threadIdx.x; i < solved; i += threads_per_block) {
                    const long long place = permutes_last && sides_in_shared ? source[i] : i;
                    solution[offset_of<solution_role>(a, place, side + c)] =
                        is_singular ? not_a_number() : from[i * along + c * across];
                }
        __syncthreads();
    }
}
