// factor_block_memory: what lies where in the shared memory of a block that has a matrix whole, and how that comes and
// goes: columns by bulk copies where they are spans of whole 16 bytes, else element by element. The first strip is
// factored while the others come; of QR strips go as they are finished.
//
// From the start of shared memory: the columns, two panel_results, 32 elements a warp (QR, 64; solves, 64), barriers,
// info; of smallest_norm the reflectors' conj(tau) behind them.
#pragma once

#include "factor_block_qr_panel.cuh"
#include "ptx_copy.cuh"

static_assert(rows > 0 && columns > 0 && matrices_of_block == 1, "sizes are constants");

constexpr int m = static_cast<int>(rows), n = static_cast<int>(columns), sides = static_cast<int>(right_sides);
constexpr int side_column = round_up(n, strip), all_columns = side_column + round_up(sides, strip);
constexpr int ld = leading_dimension(padded_rows), strips = side_column / strip, all_strips = all_columns / strip;
/// That the panels' updates reach: not the right-hand sides of smallest_norm.
constexpr int updated_strips = smallest_norm ? strips : all_strips;
constexpr int given_rows = smallest_norm ? n : m, solution_rows = smallest_norm ? m : n;
constexpr int pivot_count = smaller_of(m, n), panels = (pivot_count + strip - 1) / strip;
constexpr int scratch_elements = method == qr_method || has_sides ? 64 : 32;

#if RICCI_BULK_COPIES
using strip_barrier = copy_barrier;
#else
struct strip_barrier {
    unsigned long long unused;
};
#endif

struct block_memory {
    element columns_in_shared[ld * all_columns];
    panel_results<strip> results[2];
    element scratch[warps][scratch_elements];
    strip_barrier loaded[2]; ///< the first strip, and the others
    int info;
};
constexpr int taus_place = sizeof(block_memory),
              taus_bytes = smallest_norm ? panels * strip * static_cast<int>(sizeof(element)) : 0;
static_assert(shared_bytes == 0 || taus_place + taus_bytes <= shared_bytes, "fits");

/// move(i, j) for all elements of a matrix's columns from `begin` to `end` by the whole block, neighbors in memory by
/// neighboring threads.
template <int Role, class Move>
RICCI_FUNCTION void each_element(int height, int begin, int end, const Move& move) {
    const int thread = static_cast<int>(threadIdx.x), width = end - begin;
    if constexpr (length_of_step(matrix_step[Role][0]) <= length_of_step(matrix_step[Role][1])) {
        RICCI_UNROLL_4
        for (int e = thread; e < height * width; e += threads_per_block) move(e % height, begin + e / height);
    } else {
        RICCI_UNROLL_4
        for (int e = thread; e < height * width; e += threads_per_block) move(e / width, begin + e % width);
    }
}

RICCI_FUNCTION void load_columns(const arguments& a, long long at, element* s, int begin, int end) {
    const element* const from = operand_of<matrix_role>(a, at);
    constexpr int unit = static_cast<int>(sizeof(real));
    each_element<matrix_role>(m, begin, end, [&](int i, int j) {
        if (method == cholesky_method && i < j) return;
        const element* const x = from + offset_of<matrix_role>(a, i, j);
        if constexpr (conjugated) {
            s[i + j * ld] = as_meant(*x);
        } else {
            // complex numbers are aligned to their parts only
            for (int part = 0; part < parts; ++part)
                async_copy<unit>(reinterpret_cast<real*>(s + i + j * ld) + part,
                                 reinterpret_cast<const real*>(x) + part, unit);
        }
    });
    commit_async_copies();
}

constexpr int element_bytes = static_cast<int>(sizeof(element)), in_unit = larger_of(1, 16 / element_bytes),
              first_columns = smaller_of(strip, n);
/// Whether columns are spans that the copy engine moves, if the matrix begins at a multiple of 16 bytes.
constexpr bool has_spans = RICCI_BULK_COPIES && !conjugated && matrix_step[matrix_role][0] == 1 &&
                           matrix_step[matrix_role][1] != argument &&
                           matrix_step[matrix_role][1] * element_bytes % 16 == 0 && m % in_unit == 0;
RICCI_FUNCTION bool moves_in_bulk(const arguments& a, long long at) {
    return has_spans && reinterpret_cast<unsigned long long>(operand_of<matrix_role>(a, at)) % 16 == 0;
}
/// Of QR strips leave when they are finished, in bulk.
constexpr bool stores_early = has_spans && method == qr_method && keeps_factors;

#if RICCI_BULK_COPIES
/// The first row of column j that comes: of Cholesky the diagonal's, or the one above it.
RICCI_FUNCTION constexpr int top_of(int j) { return method == cholesky_method ? j / in_unit * in_unit : 0; }
RICCI_FUNCTION constexpr int bytes_of_spans(int begin, int end) {
    int bytes = 0;
    for (int j = begin; j < end; ++j) bytes += (m - top_of(j)) * element_bytes;
    return bytes;
}

/// By one warp.
RICCI_FUNCTION void load_spans(const element* from, block_memory& memory) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    if (lane == 0) {
        arrive_expecting(memory.loaded[0], bytes_of_spans(0, first_columns));
        arrive_expecting(memory.loaded[1], bytes_of_spans(first_columns, n));
    }
    __syncwarp();
    RICCI_UNROLL_ONCE
    for (int j = lane; j < n; j += 32)
        bulk_load(memory.columns_in_shared + top_of(j) + j * ld, from + top_of(j) + j * matrix_step[matrix_role][1],
                  (m - top_of(j)) * element_bytes, memory.loaded[j < first_columns ? 0 : 1]);
}
#endif

/// By one warp, of what all threads have shown to the copy engine; the warp waits for it by finish_storing.
RICCI_FUNCTION void store_spans([[maybe_unused]] element* to, [[maybe_unused]] const element* s,
                                [[maybe_unused]] int begin, [[maybe_unused]] int end) {
#if RICCI_BULK_COPIES
    RICCI_UNROLL_ONCE
    for (int j = begin + static_cast<int>(threadIdx.x % 32); j < end; j += 32)
        bulk_store(to + j * matrix_step[matrix_role][1], s + j * ld, m * element_bytes);
#endif
}
RICCI_FUNCTION void show_columns() {
#if RICCI_BULK_COPIES
    if constexpr (has_spans) show_to_copy_engine();
#endif
}
/// A block must not end before.
RICCI_FUNCTION void finish_storing() {
#if RICCI_BULK_COPIES
    if constexpr (has_spans) wait_bulk_stores();
#endif
}

RICCI_FUNCTION void start_barriers([[maybe_unused]] block_memory& memory) {
#if RICCI_BULK_COPIES
    if constexpr (has_spans) {
        if (threadIdx.x == 0) start_barrier(memory.loaded[0], 1), start_barrier(memory.loaded[1], 1);
        __syncthreads();
    }
#endif
}
/// Waits for the first strip, or the others.
template <int Which>
RICCI_FUNCTION void wait_for_columns([[maybe_unused]] block_memory& memory, [[maybe_unused]] bool in_bulk) {
#if RICCI_BULK_COPIES
    if (in_bulk) wait_barrier(memory.loaded[Which], 0);
#endif
    wait_async_copies<1 - Which>();
}

/// The first strip is there afterwards; the others once all threads have waited for them.
RICCI_FUNCTION void load_block(const arguments& a, long long at, block_memory& memory, bool in_bulk) {
    const int thread = static_cast<int>(threadIdx.x);
    element* const s = memory.columns_in_shared;
    if (in_bulk) {
#if RICCI_BULK_COPIES
        if (thread < 32) load_spans(operand_of<matrix_role>(a, at), memory);
#endif
    } else {
        load_columns(a, at, s, 0, first_columns);
        load_columns(a, at, s, first_columns, n);
    }
    if constexpr (has_sides) {
        const element* b = nullptr;
        if constexpr (has_role[given_role]) b = operand_of<given_role>(a, at);
        each_element<has_role[given_role] ? given_role : solution_role>(m, 0, sides, [&](int i, int j) {
            element x = i == j ? one() : zero();
            if constexpr (has_role[given_role]) x = i < given_rows ? b[offset_of<given_role>(a, i, j)] : zero();
            s[i + (side_column + j) * ld] = x;
        });
    }
    // rows and columns that fill tiles
    if constexpr (padded_rows > m)
        for (int e = thread; e < (padded_rows - m) * all_columns; e += threads_per_block)
            s[m + e % at_least_one(padded_rows - m) + e / at_least_one(padded_rows - m) * ld] = zero();
    if constexpr (side_column > n)
        for (int e = thread; e < m * (side_column - n); e += threads_per_block) s[e % m + (n + e / m) * ld] = zero();
    if constexpr (all_columns > side_column + sides)
        for (int e = thread; e < m * (all_columns - side_column - sides); e += threads_per_block)
            s[e % m + (side_column + sides + e / m) * ld] = zero();
    wait_for_columns<0>(memory, in_bulk);
    __syncthreads();
}

RICCI_FUNCTION void store_block(const arguments& a, long long at, const element* s, bool in_bulk, int info) {
    if constexpr (keeps_factors) {
        element* const to = operand_of<matrix_role>(a, at);
        if (method != cholesky_method && in_bulk) { // its upper triangle is to stay as it was
            constexpr int stored = stores_early ? smaller_of(panels * strip, n) : 0;
            if constexpr (stored < n) {
                show_columns();
                __syncthreads();
                if (threadIdx.x < 32) store_spans(to, s, stored, n);
            }
        } else {
            each_element<matrix_role>(m, 0, n, [&](int i, int j) {
                if (method != cholesky_method || i >= j) to[offset_of<matrix_role>(a, i, j)] = as_meant(s[i + j * ld]);
            });
        }
    }
    if constexpr (has_sides) {
        element* const to = operand_of<solution_role>(a, at);
        each_element<solution_role>(solution_rows, 0, sides, [&](int i, int j) {
            to[offset_of<solution_role>(a, i, j)] = info == 0 ? s[i + (side_column + j) * ld] : not_a_number();
        });
    }
}

