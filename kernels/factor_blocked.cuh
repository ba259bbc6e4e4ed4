// factor_blocked: a matrix a block, of any size, in global memory: right-looking. A panel of columns comes into
// shared memory and is factored there, eight columns at a time, by all threads (factor_block_tall); the strips of
// eight columns on its right, and the right-hand sides, are brought up to date a warp a strip (factor_block_strips).
//
// Sizes may be arguments. Batches of fewer matrices than the chip has SMs leave SMs idle.
//
// Constants: factor.hpp's, and
//   threads_per_block (64 or more), matrices_of_block (one after another), shared_bytes
//   panel                   columns: 8, 16 or 32
//   stages                  blocks that an SM shall have room for, by their registers; 0: as the compiler likes
// Shared memory: blocked_memory, and behind it the panel, where it fits; else that is in the workspace.
// The workspace, where needed, in elements, each part one matrix after another:
//   rows x columns          matrices that are not to be changed, if keeps_factors is false
//   rows x right_sides      of QR with more rows than columns, whose solutions have no room for the right-hand
//                           sides; of smallest_norm instead columns, the reflectors' conj(tau)
//   panel_elements          panels that do not fit shared memory
#pragma once

#include "factor_block_panels.cuh"
#include "factor_block_q.cuh"
#include "factor_block_tall.cuh"

static_assert(panel == 8 || panel == 16 || panel == 32, "of whole strips");
static_assert(threads_per_block >= 2 * panel && threads_per_block >= 64, "a thread an exchange");

/// LU of few rows: one warp factors eight columns in its registers faster than all with two barriers a column: 3320
/// GFLOP/s instead of 2130 at 256 columns of f64 on an H100, no more at 320.
constexpr bool in_one_warp = is_lu && rows > 0 && rows <= 256;

constexpr int scratch_ld = panel + 4;
struct blocked_memory {
    panel_results<panel> results;
    panel_results<strip> part;
    tall_exchange shared;
    element scratch[warps][strip * scratch_ld];
    int info;
};
constexpr long long panel_offset = (sizeof(blocked_memory) + 127) / 128 * 128;

struct sizes {
    int m, n, r, ld; ///< ld: of panels
    RICCI_FUNCTION explicit sizes(const arguments& a)
        : m(static_cast<int>(rows == argument ? a.row_count : rows)),
          n(static_cast<int>(columns == argument ? a.column_count : columns)),
          r(static_cast<int>(right_sides == argument ? a.side_count : right_sides)),
          ld(leading_dimension(padded())) {}
    RICCI_FUNCTION int padded() const { return round_up(m > panel ? m : panel, 8); }
    RICCI_FUNCTION long long panel_elements() const { return static_cast<long long>(ld) * panel; }
};

template <class View, class Move>
RICCI_FUNCTION void each_element(const View& v, const Move& move) {
    const long long along = v.along < 0 ? -v.along : v.along, across = v.across < 0 ? -v.across : v.across;
    const unsigned lines = static_cast<unsigned>(along <= across ? v.width : v.height),
                   length = static_cast<unsigned>(along <= across ? v.height : v.width);
    const unsigned long long all = static_cast<unsigned long long>(lines) * length;
    RICCI_UNROLL_2
    for (unsigned long long e = threadIdx.x; e < all; e += threads_per_block) {
        const int line = static_cast<int>(e / length), place = static_cast<int>(e % length);
        if (along <= across)
            move(place, line);
        else
            move(line, place);
    }
}

/// Between a panel and its columns of the matrix, neighbors in memory by neighboring threads: move(i, c), i < height.
template <class View, class Move>
RICCI_FUNCTION void each_of_panel(const View& v, int height, const Move& move) {
    const int thread = static_cast<int>(threadIdx.x);
    const bool is_along = (v.along < 0 ? -v.along : v.along) <= (v.across < 0 ? -v.across : v.across);
    if (is_along) {
        RICCI_UNROLL_ONCE
        for (int c = 0; c < panel; c += 4)
            for (int i = thread; i < height; i += threads_per_block)
                RICCI_UNROLL
                for (int k = 0; k < 4; ++k) move(i, c + k);
    } else {
        RICCI_UNROLL_4
        for (int e = thread; e < height * panel; e += threads_per_block) move(e / panel, e % panel);
    }
}

struct state {
    int info = 0;
    bool is_odd = false; ///< an odd number of exchanges
};

/// Factors p, whose first row and column are `first` of the matrix; height: padded.
RICCI_FUNCTION void factor_panel(const arguments& a, long long at, const sizes& of, element* p, int height, int first,
                                 blocked_memory& memory, state& now) {
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, ld = of.ld;
    const int count = smaller_of(panel, smaller_of(of.m, of.n) - first);
    for (int e = thread; e < panel * panel; e += threads_per_block) memory.results.g[e] = zero();
    RICCI_UNROLL_ONCE
    for (int part = 0; part < count; part += strip) {
        element* const mine = p + part + part * ld;
        const int steps = smaller_of(strip, count - part);
        int failed = 0;
        if constexpr (method == cholesky_method)
            failed = factor_tall_cholesky(mine, ld, height - part, steps, memory.part);
        else if constexpr (in_one_warp) {
            const int tail = of.padded() - part;
            if (warp == 0)
                failed = factor_lu_panel(mine, ld, of.m - first - part, tail, steps, memory.part, now.is_odd);
            __syncthreads();
            if (method == lu_method && thread < steps)
                write_pivot(a, at, first + part + thread, first + part + memory.part.pivots[thread]);
        } else if constexpr (is_lu)
            failed = factor_tall_lu(mine, ld, of.m - first - part, steps, memory.part, memory.shared, a, at,
                                    first + part, now.is_odd);
        else
            factor_tall_qr(mine, ld, height - part, steps, memory.part, memory.shared, a, at, first + part);
        if (failed != 0 && now.info == 0) now.info = first + part + failed;
        if (thread < strip) {
            memory.results.g[(part + thread) * (panel + 1)] = memory.part.g[thread * (strip + 1)];
            if (is_lu) memory.results.pivots[part + thread] = part + memory.part.pivots[thread];
        }
        if constexpr (panel > strip) {
            const int others = panel / strip - 1;
            for (int e = warp; e < others; e += warps) {
                const int s = e * strip < part ? e * strip : (e + 1) * strip;
                if (s < part && method != lu_method) continue;
                update_near_strip<strip>(mine, ld, height - part, memory.part, p + part + s * ld, s - part,
                                         memory.scratch[warp], scratch_ld);
            }
            __syncthreads();
        }
    }
    if constexpr (method == lu_method) {
        if constexpr (panel == strip) __syncthreads();
        if (thread < 2 * panel)
            write_exchanges<panel>(memory.results.rows_moved, thread, count,
                                   [&](int c) { return memory.results.pivots[c]; });
    }
    if constexpr (method == qr_method) multiply_reflectors<panel>({p, ld}, height, memory.results);
    __syncthreads();
}

/// The height of a panel, of which there are as many rows as columns at least.
RICCI_FUNCTION int height_from(const sizes& of, int first) {
    const int padded = round_up(of.m - first, 8);
    return padded > panel ? padded : panel;
}

/// x = Q R^-H x of a matrix that is factored.
template <class View, class Sides>
RICCI_FUNCTION void solve_smallest(const sizes& of, const View& v, const Sides& x, const element* taus, element* p,
                                   blocked_memory& memory) {
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, side_strips = (of.r + strip - 1) / strip;
    element* const scratch = memory.scratch[warp];
    const auto l = [&](int i, int k) { return conjugate(v.get(k, i)); };
    RICCI_UNROLL_ONCE
    for (int e = warp; e < side_strips; e += warps)
        solve_lower_rows(of.n, l, x.at(0, e * strip), scratch, scratch_ld);
    RICCI_UNROLL_ONCE
    for (int first = (of.n - 1) / panel * panel; first >= 0; first -= panel) {
        const int height = height_from(of, first);
        const View mine = v.at(first, first);
        each_of_panel(v, height, [&](int i, int c) { p[i + c * of.ld] = mine.get(i, c); });
        if (thread < panel)
            memory.results.g[thread * (panel + 1)] = first + thread < of.n ? taus[first + thread] : zero();
        __syncthreads();
        multiply_reflectors<panel>({p, of.ld}, height, memory.results);
        __syncthreads();
        RICCI_UNROLL_ONCE
        for (int e = warp; e < side_strips; e += warps)
            multiply_by_q<panel>({p, of.ld}, height, memory.results, x.at(first, e * strip), scratch, scratch_ld);
        __syncthreads();
    }
}

/// v: the matrix; x: the right-hand sides, which become solutions; taus: memory of smallest_norm.
template <class View, class Sides>
RICCI_FUNCTION void factor_matrix(const arguments& a, long long at, const sizes& of, const View& v, const Sides& x,
                                  element* taus, element* p, blocked_memory& memory) {
    const int warp = static_cast<int>(threadIdx.x) / 32, side_strips = (of.r + strip - 1) / strip;
    element* const scratch = memory.scratch[warp];
    state now;
    RICCI_UNROLL_ONCE
    for (int first = 0; first < smaller_of(of.m, of.n); first += panel) {
        const int height = height_from(of, first);
        const View mine = v.at(first, first);
        each_of_panel(v, height, [&](int i, int c) { p[i + c * of.ld] = mine.get(i, c); });
        __syncthreads();
        factor_panel(a, at, of, p, height, first, memory, now);
        each_of_panel(v, height, [&](int i, int c) { mine.put(i, c, p[i + c * of.ld]); });
        const int behind = of.n - first - panel, right = behind > 0 ? (behind + strip - 1) / strip : 0,
                  left = method == lu_method ? first / strip : 0;
        RICCI_UNROLL_ONCE
        for (int e = warp; e < right + left; e += warps) {
            const int begin = e < right ? panel + e * strip : -1,
                      column = e < right ? first + begin : (e - right) * strip;
            update_far_strip<panel>(p, of.ld, height, memory.results, v.at(first, column), begin, scratch,
                                    scratch_ld);
        }
        if constexpr (smallest_norm) {
            const int c = static_cast<int>(threadIdx.x);
            if (c < panel && first + c < of.n) taus[first + c] = memory.results.g[c * (panel + 1)];
        } else if constexpr (has_sides) {
            RICCI_UNROLL_ONCE
            for (int e = warp; e < side_strips; e += warps)
                update_far_strip<panel>(p, of.ld, height, memory.results, x.at(first, e * strip),
                                        method == cholesky_method ? -1 : 0, scratch, scratch_ld);
        }
        __syncthreads();
    }
    const auto diagonal = [&](int c) { return v.get(c, c); };
    if (warp == 0) {
        if constexpr (method == qr_method && has_sides) now.info = first_zero(of.n, diagonal);
        if (threadIdx.x == 0) {
            memory.info = now.info;
            store_info(a, at, now.info);
        }
        write_determinant(a, at, smaller_of(of.m, of.n), now.info, now.is_odd, diagonal);
    }
    if constexpr (smallest_norm) {
        solve_smallest(of, v, x, taus, p, memory);
    } else if constexpr (has_sides) {
        const auto u = [&](int i, int k) { return method == cholesky_method ? conjugate(v.get(k, i)) : v.get(i, k); };
        RICCI_UNROLL_ONCE
        for (int e = warp; e < side_strips; e += warps) solve_upper(of.n, u, x.at(0, e * strip), scratch, scratch_ld);
        __syncthreads();
    }
}

RICCI_FUNCTION void factor_with_sides(const arguments& a, long long at, const sizes& of, unsigned char* shared) {
    blocked_memory& memory = *reinterpret_cast<blocked_memory*>(shared);
    element* work = static_cast<element*>(a.workspace);
    const far_view<conjugated, method == cholesky_method> v{
        operand_of<matrix_role>(a, at), offset_of<matrix_role>(a, 1, 0), offset_of<matrix_role>(a, 0, 1), of.m, of.n};
    const far_view<false, method == cholesky_method> copy{work + at * of.m * of.n, 1, of.m, of.m, of.n};
    if constexpr (!keeps_factors) {
        each_element(v, [&](int i, int j) { copy.put(i, j, v.get(i, j)); });
        work += a.matrices * of.m * of.n;
    }
    const int given_rows = smallest_norm ? of.n : of.m, solution_rows = smallest_norm ? of.m : of.n;
    far_view<false, false> solution{nullptr, 1, solution_rows, solution_rows, of.r};
    if constexpr (has_sides)
        solution = {operand_of<solution_role>(a, at), offset_of<solution_role>(a, 1, 0),
                    offset_of<solution_role>(a, 0, 1), solution_rows, of.r};
    far_view<false, false> x = solution;
    element* taus = nullptr;
    if constexpr (smallest_norm) {
        taus = work + at * of.n;
        work += a.matrices * of.n;
    }
    if constexpr (has_sides) {
        if (given_rows > solution_rows) {
            x = {work + at * of.m * of.r, 1, of.m, of.m, of.r};
            work += a.matrices * of.m * of.r;
        }
        if constexpr (has_role[given_role]) {
            const far_view<false, false> given{operand_of<given_role>(a, at), offset_of<given_role>(a, 1, 0),
                                               offset_of<given_role>(a, 0, 1), given_rows, of.r};
            if (given.p != x.p) each_element(given, [&](int i, int j) { x.put(i, j, given.get(i, j)); });
            if constexpr (smallest_norm)
                each_element(x.at(given_rows, 0), [&](int i, int j) { x.put(given_rows + i, j, zero()); });
        } else {
            each_element(x, [&](int i, int j) { x.put(i, j, i == j ? one() : zero()); });
        }
    }
    const bool fits = panel_offset + of.panel_elements() * static_cast<long long>(sizeof(element)) <= shared_bytes;
    element* p = reinterpret_cast<element*>(shared + panel_offset);
    if (!fits) p = work + at * of.panel_elements();
    __syncthreads();
    if constexpr (keeps_factors)
        factor_matrix(a, at, of, v, x, taus, p, memory);
    else
        factor_matrix(a, at, of, copy, x, taus, p, memory);
    if constexpr (has_sides) {
        const int info = memory.info;
        if (info != 0 || x.p != solution.p)
            each_element(solution,
                         [&](int i, int j) { solution.put(i, j, info == 0 ? x.get(i, j) : not_a_number()); });
    }
}

extern "C" __global__ void __launch_bounds__(threads_per_block, at_least_one(stages))
    ricci_factor(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(shared);
    const sizes of(a);
    const long long first = block_number() * matrices_of_block;
    for (long long at = first; at < first + matrices_of_block && at < a.matrices; ++at) {
        if (at > first) __syncthreads();
        factor_with_sides(a, at, of, shared);
    }
}
