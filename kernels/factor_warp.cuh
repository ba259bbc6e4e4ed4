// factor_warp: P A = L U of matrices that lie in shared memory, some lanes of a warp each, blocked by panels of
// columns: a panel is factored in the lanes' registers, whole rows of it a lane (factor_warp_panel.cuh), and
// everything behind it is one product of the tensor cores (factor_warp_products.cuh). No warp waits for another.
//
// Rows stay where they are until the matrix leaves. A panel's rows also keep what its steps would have made of the
// identity: with X, the pivots' rows as they were right of the panel, and that matrix M, everything behind the panel,
// U's rows among it, is C + M X: no triangle is solved. M = -L21 L11^-1 in rows below, and multipliers are at most 1
// (of complex numbers sqrt 2), so an inverse of order w is at most 2^(w-1), as the factors' own growth. M goes to the
// tensor cores through the panel's place in shared memory, then its factors take that.
//
// Right-hand sides are columns behind the matrix's: what is left for them is U x = y, row by row. Where the conjugate
// is meant of what lies in memory, that is factored none the less, with conjugates of sides and solutions.
//
// Columns in shared memory lie an odd multiple of 16 bytes apart: then the rows h and columns 2q, or 2q + 1, that the
// lanes of a tile have lie on different banks. Dense matrices may come packed, and lie so from the first panel's update
// on (factor_warp_shape.cuh).
//
// Constants: factor.hpp's, and
//   lanes_of_matrix  8, 16 or 32; matrices_of_block * lanes_of_matrix == threads_per_block, whole warps
//   panel            columns of a panel: 8 or 4; the last one's: factor_warp_shape.cuh
//   shared_bytes     at least factor_warp_shared, which lowering computes too
#pragma once

#include "factor_unknowns.cuh"
#include "factor_warp_panel.cuh"
#include "factor_warp_products.cuh"
#include "span_copy.cuh"

/// Of an operand; without divisions where matrices lie one behind another.
RICCI_FUNCTION element* matrix_of(const arguments& a, long long at) {
    if constexpr (in_slabs)
        return static_cast<element*>(a.data[matrix_role]) + at * (m * n);
    else
        return operand_of<matrix_role>(a, at);
}

/// f(line) for a warp's lanes, which have lines lane, lane + 32, ... of `Lines`.
template <int Lines, class F>
RICCI_FUNCTION void each_line(const F& f) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    RICCI_UNROLL
    for (int first = 0; first < Lines; first += 32)
        if (first + 32 <= Lines || first + lane < Lines) f(first + lane);
}

/// Whether elements can be copied whole: complex numbers are aligned to their parts only.
RICCI_FUNCTION bool is_aligned(const element* from) {
    return sizeof(element) == sizeof(real) || reinterpret_cast<unsigned long long>(from) % sizeof(element) == 0;
}
RICCI_FUNCTION void start_copy(element* to, const element* from, bool is_whole) {
    constexpr int size = static_cast<int>(sizeof(element)), unit = static_cast<int>(sizeof(real));
    if (is_whole) {
        async_copy<size>(to, from, size);
    } else {
        async_copy<unit>(to, from, unit);
        async_copy<unit>(reinterpret_cast<real*>(to) + 1, reinterpret_cast<const real*>(from) + 1, unit);
    }
}

/// By the whole warp, whose barrier waits for an arrival for each of its matrices.
RICCI_FUNCTION void start_loading_packed(const element* from, matrix_memory& memory, copy_barrier& loaded) {
    constexpr int size = static_cast<int>(sizeof(element));
    const auto address_of = [](const void* p) { return reinterpret_cast<unsigned long long>(p); };
    const unsigned apart = static_cast<unsigned>(address_of(from) - address_of(memory.a + packed_at));
    const int lane = static_cast<int>(threadIdx.x % 32), shift = static_cast<int>(apart / size) & most_shift;
    element* const to = memory.a + (packed_at + shift);
    const bool is_whole = is_aligned(from), in_bulk = is_whole && (apart - shift * size) % 16 == 0;
    const span_parts parts = in_bulk ? parts_of(from, m * n * size) : span_parts{m * n * size, 0, 0};
    const int head = parts.head / size, ends = head + parts.tail / size;
    if (lane == 0) {
        memory.shift = static_cast<short>(shift);
        arrive_expecting(loaded, parts.middle);
        if (parts.middle > 0) bulk_load(middle_of(to, parts), from + head, parts.middle, loaded);
    }
    RICCI_UNROLL_ONCE
    for (int e = lane; e < ends; e += 32) {
        const int at = e < head ? e : e + parts.middle / size;
        start_copy(to + at, from + at, is_whole);
    }
}

/// By the whole warp, a column or row at a time.
RICCI_FUNCTION void start_loading(const arguments& a, const element* from, matrix_memory& memory) {
    constexpr int in_column = larger_of(1, m / in_access);
    const bool is_whole = is_aligned(from);
    const int lane = static_cast<int>(threadIdx.x % 32);
    const auto copy = [&](int i, int j) {
        start_copy(memory.column(j) + i, from + offset_of<matrix_role>(a, i, j), is_whole);
    };
    if constexpr (by_rows) {
        RICCI_UNROLL_4
        for (int i = 0; i < m; ++i) each_line<n>([&](int j) { copy(i, j); });
    } else if (in_slabs && m % in_access == 0 && reinterpret_cast<unsigned long long>(from) % 16 == 0) {
        constexpr int columns_at_once = larger_of(1, 32 / in_column), whole = n / columns_at_once * columns_at_once;
        const int j = in_column >= 32 ? 0 : lane / in_column;
        each_line<in_column * columns_at_once>([&](int unit) {
            const int i = (in_column >= 32 ? unit : lane - j * in_column) * in_access;
            element* const to = memory.column(j) + i;
            const element* const there = from + (i + j * m);
            RICCI_UNROLL_4
            for (int first = 0; first < whole; first += columns_at_once)
                async_copy<16>(to + first * lead, there + first * m, 16);
            if (whole < n && whole + j < n) async_copy<16>(to + whole * lead, there + whole * m, 16);
        });
    } else {
        RICCI_UNROLL_4
        for (int j = 0; j < n; ++j) each_line<m>([&](int i) { copy(i, j); });
    }
}

class warp_lu : public warp_lanes {
  public:
    RICCI_FUNCTION warp_lu(matrix_memory& of_matrix, int number) : warp_lanes(of_matrix, number) {}

    RICCI_FUNCTION void factor(unsigned char* of_warp) {
        constexpr int end = pivots - last_panel;
        RICCI_UNROLL_ONCE
        for (int first = 0; first + panel <= end; first += panel) factor_columns<panel>(first, of_warp);
        if constexpr (end % panel != 0) factor_columns<end % panel>(end / panel * panel, of_warp);
        if constexpr (last_panel > 0) factor_last_columns<larger_of(1, last_panel)>(end);
        if constexpr (has_role[vector_role] || has_determinant || m > pivots) {
            for (int k = lane; k < pivots; k += lanes) memory.positions[k] = memory.rows_of_pivots[k];
            __syncwarp();
            find_positions<lanes>(memory.positions, lane, pivots);
        }
    }

    /// The right-hand sides, behind the matrix.
    RICCI_FUNCTION void load_sides(const arguments& a, long long at) const {
        RICCI_UNROLL_4
        for (int j = 0; j < sides; ++j)
            each_row([&](int, int row) { memory.column(n + j)[row] = as_meant(given_side(a, at, row, j)); });
    }

    /// U x = y, of which y lies behind the matrix. Lane l has unknowns l, l + lanes, ...
    RICCI_FUNCTION void solve(const arguments& a, long long at, bool exists) const {
        static_assert(!has_sides || m == n, "systems are square");
        constexpr int at_once = larger_of(1, smaller_of(sides, 4 / lane_rows));
        const auto unknown = [&](int h) { return unknown_of<n, lanes>(lane, h); };
        int row_of[lane_rows];
        element inverse[lane_rows];
        bool is_small[lane_rows];
        RICCI_UNROLL
        for (int h = 0; h < lane_rows; ++h) {
            row_of[h] = memory.rows_of_pivots[unknown(h)];
            const pivot_inverse own(memory.column(unknown(h))[row_of[h]]);
            inverse[h] = own.factor, is_small[h] = own.is_small;
        }
        RICCI_UNROLL_ONCE
        for (int side = 0; side < sides; side += at_once) {
            element y[lane_rows][at_once], x[lane_rows][at_once];
            RICCI_UNROLL
            for (int h = 0; h < lane_rows; ++h) RICCI_UNROLL
            for (int s = 0; s < at_once; ++s) {
                y[h][s] = side + s < sides ? memory.column(n + side + s)[row_of[h]] : zero();
                x[h][s] = zero();
            }
            find_unknowns<n, lanes, true>(
                y, [&](int h, int k) { return memory.column(k)[row_of[h]]; },
                [](element told, int number) { return shuffle(told, number, lanes); },
                [&](int h, element value) { return pivot_inverse::product(value, inverse[h], is_small[h]); },
                keep_in(x, lane));
            if (exists)
                each_row([&](int h, int) {
                    RICCI_UNROLL
                    for (int s = 0; s < at_once; ++s)
                        if (side + s < sides)
                            operand_of<solution_role>(a, at)[offset_of<solution_role>(a, unknown(h), side + s)] =
                                memory.info != 0 ? not_a_number() : as_meant(x[h][s]);
                });
        }
    }

    RICCI_FUNCTION void store_determinant(const arguments& a, long long at, bool exists) const {
        determinant d;
        int exchanged = 0;
        each_row([&](int r, int row) {
            const int k = static_cast<int>(standing[r]);
            d.take(as_meant(memory.column(k)[row]));
            exchanged ^= memory.positions[k] != k;
        });
        RICCI_UNROLL
        for (int apart = lanes / 2; apart > 0; apart /= 2) {
            d.log_abs += __shfl_xor_sync(0xffffffffu, d.log_abs, apart);
            d.sign = d.sign * shuffle_xor(d.sign, apart);
            exchanged ^= __shfl_xor_sync(0xffffffffu, exchanged, apart);
        }
        if (lane == 0 && exists) d.store(a, at, memory.info, exchanged != 0);
    }

    /// Rows are gathered here, so that whole lines of the matrix leave.
    RICCI_FUNCTION void store_factors(const arguments& a, element* to) const {
        if constexpr (by_rows) {
            RICCI_UNROLL_4
            for (int i = 0; i < m; ++i) {
                const int row = memory.rows_of_pivots[i];
                for (int j = lane; j < n; j += lanes) to[offset_of<matrix_role>(a, i, j)] = memory.column(j)[row];
            }
        } else {
            each_row([&](int, int i) {
                const int row = memory.rows_of_pivots[i];
                RICCI_UNROLL_4
                for (int j = 0; j < n; ++j) to[offset_of<matrix_role>(a, i, j)] = memory.column(j)[row];
            });
        }
    }

    /// Tells rows_of_pivots also of the rows that are none.
    RICCI_FUNCTION void place_others() const {
        if constexpr (m > pivots) {
            each_row([&](int r, int row) {
                if (standing[r] >= is_candidate) memory.rows_of_pivots[position_of_row(r)] = row;
            });
            __syncwarp();
        }
    }
    RICCI_FUNCTION void store_pivots(const arguments& a, long long at) const {
        auto* const to = operand_of<vector_role>(a, at);
        for (int k = lane; k < pivots; k += lanes)
            to[offset_of<vector_role>(a, k, 0)] =
                static_cast<typename role_element<vector_role>::type>(memory.positions[k]);
    }

  private:
    template <int Width>
    RICCI_FUNCTION void factor_last_columns(int first) {
        element x[lane_rows][Width];
        get_columns(first, x);
        factor_panel<true>(first, x, x);
        put_columns(first, x);
        __syncwarp();
    }

    /// A panel of `Width` columns, and what is behind it.
    template <int Width>
    RICCI_FUNCTION void factor_columns(int first, unsigned char* of_warp) {
        unsigned live[lane_rows]; // rows that are no pivots yet, of the warp's matrices
        RICCI_UNROLL
        for (int r = 0; r < lane_rows; ++r) live[r] = __ballot_sync(0xffffffffu, standing[r] >= is_candidate);
        element x[lane_rows][Width], done[lane_rows][Width];
        get_columns(first, x);
        factor_panel(first, x, done);
        put_columns(first, x);
        __syncwarp();
        RICCI_UNROLL_ONCE
        for (int p = 0; p < matrices_of_warp; ++p) {
            unsigned changed[lane_rows];
            RICCI_UNROLL
            for (int r = 0; r < lane_rows; ++r)
                changed[r] = live[r] >> (p * lanes + static_cast<int>(threadIdx.x % 32) / 4);
            const panel_product<Width> product(memory_of(of_warp, p), first);
            if (moves && first == 0)
                product.template apply<true>(first + Width, changed);
            else
                product.template apply<false>(first + Width, changed);
        }
        __syncwarp();
        put_columns(first, done);
        __syncwarp();
    }
};

extern "C" __global__ void __launch_bounds__(threads_per_block, stages > 0 ? stages : 1)
    ricci_factor(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(shared);
    const int p = static_cast<int>(threadIdx.x) / lanes, first_of_warp = p / matrices_of_warp * matrices_of_warp;
    matrix_memory& memory = memory_of(shared, p);
    copy_barrier& loaded = memory_of(shared, first_of_warp).loaded;
    const long long first = block_number() * matrices_of_block;
    if (first + first_of_warp >= a.matrices) return; // whole warps
    const auto number = [&](int q) { return first + q < a.matrices ? first + q : a.matrices - 1; };
    if constexpr (comes_packed) {
        if (threadIdx.x % 32 == 0) start_barrier(loaded, matrices_of_warp);
        __syncwarp(); // before others wait for it
    }
    RICCI_UNROLL_ONCE
    for (int q = first_of_warp; q < first_of_warp + matrices_of_warp; ++q) {
        if constexpr (comes_packed)
            start_loading_packed(matrix_of(a, number(q)), memory_of(shared, q), loaded);
        else
            start_loading(a, matrix_of(a, number(q)), memory_of(shared, q));
    }
    commit_async_copies();
    warp_lu lu(memory, static_cast<int>(threadIdx.x) % lanes);
    if constexpr (has_sides) lu.load_sides(a, number(p));
    wait_async_copies<0>();
    if constexpr (comes_packed) {
        wait_barrier_by_warp(loaded, 0);
        if (threadIdx.x % 32 == 0) end_barrier(loaded);
        __syncwarp();
    }
    if (lu.lane == 0) memory.at = number(p), memory.exists = first + p < a.matrices, memory.info = 0;
    __syncwarp();
    lu.factor(reinterpret_cast<unsigned char*>(&memory_of(shared, first_of_warp)));
    const long long at = memory.at;
    const bool exists = memory.exists != 0;
    if (lu.lane == 0 && exists) store_info(a, at, memory.info);
    if constexpr (has_determinant) lu.store_determinant(a, at, exists);
    if constexpr (has_sides) lu.solve(a, at, exists);
    if constexpr (keeps_factors) {
        lu.place_others();
        if (exists) lu.store_factors(a, matrix_of(a, at));
    }
    if constexpr (has_role[vector_role])
        if (exists) lu.store_pivots(a, at);
}
