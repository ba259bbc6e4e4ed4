// substitute_lanes: some lanes of a warp, or one, a matrix, which lies in shared memory whole. A lane has every so
// many-th row of a few right-hand sides in registers; what all rows need of one travels by shuffles.
//
// A step of a triangle is an axpy down a column where the column's neighbors lie on different banks. Else it is the
// dot of a row, which costs a sum over lanes: passes with the adjoint on a slab, Cholesky's second and both of LU's
// adjoint, whose row would come from one bank (n = 32, f64: 32 wavefronts, so 2 and 8 to 10 shuffles).
//
// Constants: substitute.cuh's, and
//   matrices_of_block
//   in_slabs        the block's matrices are one span, whose matrices begin `slot` elements apart: one bulk copy.
//                   Else they come element by element, neighbors in memory together, to lines of an odd length
//                   where rows are what is contiguous, and as far apart as their lanes' banks want it
// Shared memory: a barrier, the addresses of matrices that come element by element, from the next multiple of 128
// bytes on the matrices, with 127 bytes more for a slab.
#pragma once

#include "span_copy.cuh"
#include "substitute_shuffles.cuh"

// A template so that nothing of it is looked at where another kernel was chosen.
template <int Lanes> struct matrix_lanes {
    static constexpr int lanes = Lanes, sides = lines_of_lane;
    static constexpr int m = static_cast<int>(rows), n = static_cast<int>(columns),
                         r = static_cast<int>(right_sides), reflectors = m < n ? m : n;
    static constexpr int work_rows = applies_q ? m : n, solution_rows = solves ? n : m;
    static constexpr int lines = (work_rows + lanes - 1) / lanes, lines_of_n = (n + lanes - 1) / lanes,
                         lines_of_reflectors = (reflectors + lanes - 1) / lanes;

    // ---- where matrices lie in shared memory ----
    static constexpr long long row_in_memory = matrix_step[matrix_role][0],
                               column_in_memory = matrix_step[matrix_role][1];
    static constexpr bool columns_contiguous = length_of_step(row_in_memory) <= length_of_step(column_in_memory);
    static constexpr int row_step = static_cast<int>(in_slabs ? row_in_memory : columns_contiguous ? 1 : n | 1),
                         column_step = static_cast<int>(in_slabs ? column_in_memory : columns_contiguous ? m : 1);
    // Of matrices that come element by element, the groups of a warp begin as many banks apart as they read.
    static constexpr int bank_line = 128 / static_cast<int>(sizeof(element)),
                         packed = columns_contiguous ? column_step * n : row_step * m,
                         skew = in_slabs ? 0 : ((lanes - packed) % bank_line + bank_line) % bank_line;
    static constexpr int slot = packed + skew;
    static constexpr int length = (m - 1) * row_step + (n - 1) * column_step + 1; ///< of a matrix within its slot
    static constexpr int region = (16 + 8 * matrices_of_block + 127) / 128 * 128;

    using values = element[at_least_one(lines)][sides]; ///< a lane's rows of a tile of right-hand sides
    struct item_place {
        int matrix, side; ///< of the block; the first of the tile
        bool exists;
    };

    static RICCI_FUNCTION unsigned all_lanes() { return 0xffffffffu; }
    static RICCI_FUNCTION int lane() { return static_cast<int>(threadIdx.x) % lanes; }
    /// x of the matrix's lane number s.
    template <class T> static RICCI_FUNCTION T told(T x, int s) {
        if constexpr (lanes == 1) return x;
        else return shuffle(x, s, lanes);
    }

    /// Whether lanes that read along a step of so many elements meet on banks.
    static RICCI_FUNCTION constexpr bool meets_on_banks(long long step) {
        return lanes > 2 && step != 1 && step != -1 && step * static_cast<long long>(sizeof(element)) % 16 == 0 &&
               step % 2 == 0;
    }

    // ---- the passes ----

    /// Of a pass, line t of the lanes' rows: T's part [t * lanes, t * lanes + count).
    template <bool Forward, bool IsScaled>
    static RICCI_FUNCTION void divide_line(const element* matrix, const int (&at)[lines_of_n], int t, int count,
                                           const divisor& by, values& x) {
        using t_of = triangle<Forward>;
        // from one step to the next: by dots T's next row, else its next column
        constexpr int step =
            (by_dots<Forward>() == t_of::adjoint ? column_step : row_step) * (Forward ? 1 : -1);
        const element* from[lines_of_n];
        RICCI_UNROLL
        for (int u = 0; u < lines_of_n; ++u)
            from[u] = matrix + at[u] + (t * lanes + (Forward ? 0 : count - 1)) * (Forward ? step : -step);
        const auto divided = [&](element value) {
            if constexpr (t_of::has_unit_diagonal) return value;
            else return product_of(IsScaled ? scaled(value, by.scale) : value, by.inverse);
        };
        RICCI_UNROLL_4
        for (int ss = 0; ss < count; ++ss) {
            const int s = Forward ? ss : count - 1 - ss;
            if constexpr (by_dots<Forward>()) {
                element sum[sides];
                RICCI_UNROLL
                for (int c = 0; c < sides; ++c) sum[c] = from_real<element>(0, 0);
                RICCI_UNROLL
                for (int u = 0; u < lines_of_n; ++u) {
                    if (Forward ? u > t : u < t) continue;
                    const bool counts = u != t ? Forward || u * lanes + lane() < n
                                        : Forward ? lane() < s
                                                  : lane() > s && lane() < count;
                    const element f = t_of::meant(*from[u]);
                    from[u] += step;
                    RICCI_UNROLL
                    for (int c = 0; c < sides; ++c)
                        if (counts) add_product(sum[c], f, x[u][c]);
                }
                RICCI_UNROLL
                for (int c = 0; c < sides; ++c) {
                    const element value = divided(x[t][c] - sum_of_lanes<lanes>(sum[c]));
                    if (lane() == s) x[t][c] = value;
                }
            } else {
                element pivot[sides];
                RICCI_UNROLL
                for (int c = 0; c < sides; ++c) pivot[c] = told(divided(x[t][c]), s);
                RICCI_UNROLL
                for (int u = 0; u < lines_of_n; ++u) {
                    if (Forward ? u < t : u > t) continue;
                    const element f = t_of::meant(*from[u]);
                    from[u] += step;
                    RICCI_UNROLL
                    for (int c = 0; c < sides; ++c)
                        if (u != t || (Forward ? lane() > s : lane() < s)) subtract_product(x[u][c], f, pivot[c]);
                }
            }
        }
        if constexpr (!by_dots<Forward>())
            RICCI_UNROLL
            for (int c = 0; c < sides; ++c) x[t][c] = divided(x[t][c]);
    }

    template <bool Forward> static RICCI_FUNCTION constexpr bool by_dots() {
        constexpr bool adjoint = triangle<Forward>::adjoint;
        return meets_on_banks(adjoint ? column_step : row_step) && !meets_on_banks(adjoint ? row_step : column_step);
    }

    template <bool Forward> static RICCI_FUNCTION void divide(const element* matrix, values& x) {
        using t_of = triangle<Forward>;
        constexpr int of_lanes = (by_dots<Forward>() != t_of::adjoint) ? column_step : row_step;
        int at[lines_of_n]; // of the lane's rows, along T's columns or rows
        RICCI_UNROLL
        for (int u = 0; u < lines_of_n; ++u) {
            const int i = u * lanes + lane();
            at[u] = (i < n ? i : n - 1) * of_lanes;
        }
        RICCI_UNROLL
        for (int tt = 0; tt < lines_of_n; ++tt) {
            const int t = Forward ? tt : lines_of_n - 1 - tt;
            const int count = n - t * lanes < lanes ? n - t * lanes : lanes;
            if constexpr (t_of::has_unit_diagonal) {
                divide_line<Forward, false>(matrix, at, t, count, {}, x);
            } else {
                const int i = t * lanes + lane();
                const divisor by = divisor_of(t_of::meant(matrix[(i < n ? i : n - 1) * (row_step + column_step)]));
                if (__any_sync(all_lanes(), by.scale != 1) != 0) // hardly ever
                    divide_line<Forward, true>(matrix, at, t, count, by, x);
                else divide_line<Forward, false>(matrix, at, t, count, by, x);
            }
        }
    }

    /// x = Q x or Q^H x, a reflector after the other: x -= v (tau v^H x).
    static RICCI_FUNCTION void reflect(const arguments& a, const element* matrix, long long number, values& x) {
        const element* const tau = operand_of<vector_role>(a, number);
        RICCI_UNROLL
        for (int tt = 0; tt < lines_of_reflectors; ++tt) {
            const int t = last_reflector_first ? lines_of_reflectors - 1 - tt : tt;
            const int count = reflectors - t * lanes < lanes ? reflectors - t * lanes : lanes;
            element own = from_real<element>(0, 0);
            if (lane() < count) own = as_meant(tau[offset_of<vector_role>(a, t * lanes + lane(), 0)]);
            if constexpr (!last_reflector_first) own = conjugate(own);
            RICCI_UNROLL_2
            for (int ss = 0; ss < count; ++ss) {
                const int s = last_reflector_first ? count - 1 - ss : ss;
                const element* const column = matrix + (t * lanes + s) * column_step;
                element v[lines], sum[sides];
                RICCI_UNROLL
                for (int c = 0; c < sides; ++c) sum[c] = from_real<element>(0, 0);
                RICCI_UNROLL
                for (int u = 0; u < lines; ++u) {
                    if (u < t) continue;
                    const int i = u * lanes + lane();
                    v[u] = as_meant(column[(i < m ? i : m - 1) * row_step]);
                    if (u == t) v[u] = lane() > s ? v[u] : from_real<element>(lane() == s ? 1 : 0, 0);
                    if (i >= m) v[u] = from_real<element>(0, 0);
                    RICCI_UNROLL
                    for (int c = 0; c < sides; ++c) add_product(sum[c], conjugate(v[u]), x[u][c]);
                }
                const element factor = told(own, s);
                RICCI_UNROLL
                for (int c = 0; c < sides; ++c) sum[c] = factor * sum_of_lanes<lanes>(sum[c]);
                RICCI_UNROLL
                for (int u = 0; u < lines; ++u) {
                    if (u < t) continue;
                    RICCI_UNROLL
                    for (int c = 0; c < sides; ++c) subtract_product(x[u][c], v[u], sum[c]);
                }
            }
        }
    }

    /// LAPACK's: one more than the number of the first zero on the diagonal, or 0.
    static RICCI_FUNCTION int first_zero(const element* matrix) {
        int out = 0;
        [[maybe_unused]] const unsigned of_lanes = lanes == 32 ? all_lanes() : (1u << (lanes % 32)) - 1,
                                        shift = threadIdx.x % 32 / lanes * lanes;
        RICCI_UNROLL
        for (int t = lines_of_n - 1; t >= 0; --t) {
            const int i = t * lanes + lane();
            const bool zero = is_zero(matrix[(i < n ? i : n - 1) * (row_step + column_step)]) && i < n;
            if constexpr (lanes == 1) {
                if (zero) out = t + 1;
            } else {
                const unsigned votes = __ballot_sync(all_lanes(), zero) >> shift & of_lanes;
                if (votes != 0) out = t * lanes + lowest_bit(votes) + 1;
            }
        }
        return out;
    }
    static RICCI_FUNCTION int lowest_bit(unsigned votes) {
        int out = 0;
        while ((votes >> out & 1) == 0) ++out;
        return out;
    }

    /// The rows that the interchanges bring to the lane's rows, which are those that they go to where these are the
    /// last.
    static RICCI_FUNCTION void find_sources(const arguments& a, long long number, int (&source)[lines]) {
        RICCI_UNROLL
        for (int u = 0; u < lines; ++u) source[u] = u * lanes + lane();
        if constexpr (has_pivots) {
            const auto* const pivots = operand_of<vector_role>(a, number);
            int own[lines_of_n];
            RICCI_UNROLL
            for (int t = 0; t < lines_of_n; ++t) {
                const int k = t * lanes + lane();
                own[t] = k < n ? row_of(pivots[offset_of<vector_role>(a, k, 0)]) : 0;
            }
            RICCI_UNROLL
            for (int t = lines_of_n - 1; t >= 0; --t) { // from the last one: where does it come from?
                RICCI_UNROLL_4
                for (int s = (n - t * lanes < lanes ? n - t * lanes : lanes) - 1; s >= 0; --s) {
                    const int k = t * lanes + s, p = told(own[t], s);
                    RICCI_UNROLL
                    for (int u = 0; u < lines; ++u) source[u] = source[u] == k ? p : source[u] == p ? k : source[u];
                }
            }
        }
    }

    // ---- moving ----

    static RICCI_FUNCTION void load_element(element* to, const element* from) {
        constexpr int size = sizeof(real);
        RICCI_UNROLL
        for (int part = 0; part < static_cast<int>(sizeof(element)) / size; ++part)
            async_copy<size>(reinterpret_cast<real*>(to) + part, reinterpret_cast<const real*>(from) + part, size);
    }

    static RICCI_FUNCTION void run(const arguments& a, unsigned char* memory) {
        const long long first = block_number() * matrices_of_block;
        if (first >= a.matrices) return; // the whole block
        const int count =
            static_cast<int>(a.matrices - first < matrices_of_block ? a.matrices - first : matrices_of_block);
        element* in_shared = reinterpret_cast<element*>(memory + region);
        if constexpr (in_slabs) {
            element* const from = operand_of<matrix_role>(a, first);
            const span_parts parts =
                parts_of(from, static_cast<int>(((count - 1) * slot + length) * sizeof(element)));
            in_shared = reinterpret_cast<element*>(place_in(memory + region, from));
#if RICCI_BULK_COPIES
            copy_barrier& loaded = *reinterpret_cast<copy_barrier*>(memory);
            if (threadIdx.x == 0) start_barrier(loaded, 1);
            if (threadIdx.x < 32) __syncwarp(); // for racecheck, as in batched_small
            if (threadIdx.x == 0) {
                arrive_expecting(loaded, parts.middle);
                if (parts.middle > 0)
                    bulk_load(middle_of(in_shared, parts), middle_of(from, parts), parts.middle, loaded);
            }
#else
            copy_middle(in_shared, from, parts);
#endif
            copy_ends<unit_of<element>>(in_shared, from, parts);
        } else {
            element** const places = reinterpret_cast<element**>(memory + 16);
            for (int p = threadIdx.x; p < count; p += threads_per_block)
                places[p] = operand_of<matrix_role>(a, first + p);
            __syncthreads();
            constexpr int in_line = columns_contiguous ? m : n, of_lines = columns_contiguous ? n : m;
            RICCI_UNROLL_4
            for (int e = threadIdx.x; e < count * (m * n); e += threads_per_block) {
                const int p = e / (m * n), line = e % (m * n) / in_line, place = e % in_line;
                static_assert(in_line * of_lines == m * n);
                const int i = columns_contiguous ? place : line, j = columns_contiguous ? line : place;
                if (is_read(i, j))
                    load_element(in_shared + p * slot + i * row_step + j * column_step,
                                 places[p] + offset_of<matrix_role>(a, i, j));
            }
            commit_async_copies();
        }
        // Groups of lanes take matrices and tiles of right-hand sides in turn; all do as many rounds, for shuffles.
        // The first right-hand sides are asked for while the matrices are under way.
        constexpr int groups = threads_per_block / lanes, tiles = (r + sides - 1) / sides;
        const int items = count * tiles;
        int item = static_cast<int>(threadIdx.x) / lanes;
        const auto place_of = [&](int number) {
            const int there = number < items ? number : items - 1;
            return item_place{there % count, there / count * sides, number < items};
        };
        values x;
        int source[lines];
        item_place at = place_of(item);
        load_sides(a, first + at.matrix, at.side, at.exists, source, x);
        if constexpr (!in_slabs) wait_async_copies<0>();
        __syncthreads();
#if RICCI_BULK_COPIES
        if constexpr (in_slabs) wait_barrier(*reinterpret_cast<copy_barrier*>(memory), 0);
#endif
        RICCI_UNROLL_ONCE
        for (int before = 0;;) {
            solve(a, in_shared + at.matrix * slot, first + at.matrix, at.side, at.exists, source, x);
            before += groups, item += groups;
            if (before >= items) break;
            at = place_of(item);
            load_sides(a, first + at.matrix, at.side, at.exists, source, x);
        }
    }

    static RICCI_FUNCTION void load_sides(const arguments& a, long long number, int side, bool exists,
                                          int (&source)[lines], values& x) {
        find_sources(a, number, source);
        const auto from = [&](int u) { return permutes_last ? u * lanes + lane() : source[u]; };
        if constexpr (has_given) {
            const element* const given = operand_of<given_role>(a, number);
            RICCI_UNROLL
            for (int c = 0; c < sides; ++c)
                RICCI_UNROLL
                for (int u = 0; u < lines; ++u)
                    x[u][c] = u * lanes + lane() < work_rows && side + c < r && exists
                                  ? given[offset_of<given_role>(a, from(u), side + c)]
                                  : from_real<element>(0, 0);
        } else { // the identity's columns
            RICCI_UNROLL
            for (int c = 0; c < sides; ++c)
                RICCI_UNROLL
                for (int u = 0; u < lines; ++u)
                    x[u][c] = from_real<element>(from(u) == side + c && from(u) < work_rows ? 1 : 0, 0);
        }
    }

    static RICCI_FUNCTION void solve(const arguments& a, const element* matrix, long long number, int side,
                                     bool exists, const int (&source)[lines], values& x) {
        if constexpr (applies_q) reflect(a, matrix, number, x);
        if constexpr (has_forward) divide<true>(matrix, x);
        if constexpr (has_backward) divide<false>(matrix, x);
        int info = 0;
        if constexpr (has_divisors) info = first_zero(matrix);
        if constexpr (has_info)
            if (exists && side == 0 && lane() == 0)
                *operand_of<info_role>(a, number) = static_cast<typename role_element<info_role>::type>(info);
        element* const solution = operand_of<solution_role>(a, number);
        RICCI_UNROLL
        for (int c = 0; c < sides; ++c)
            RICCI_UNROLL
            for (int u = 0; u < lines; ++u) {
                const int i = u * lanes + lane();
                if (i < solution_rows && side + c < r && exists)
                    solution[offset_of<solution_role>(a, permutes_last ? source[u] : i, side + c)] =
                        info == 0 ? x[u][c] : not_a_number();
            }
    }
};

