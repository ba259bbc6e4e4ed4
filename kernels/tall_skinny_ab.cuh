// tall_skinny_ab: C = X*Y with a long m, of one axis or several, and small n and k. A block brings its rows of X and
// all of Y into shared memory as one panel, computes its rows of C there and sends them out: occupancy hides the
// latency. Where Y is as large as the rows of X, so that bringing it would count, a block takes turns at several
// blocks of rows.
//
//   tall_skinny_ab_threads, _warps     where m has one axis and X's numbers can go from memory straight into
//                                      registers: the model says which is faster (lowering/tall_skinny_ab_model)
//   tall_skinny_ab_boxes               where X and C are columns that the copy engine moves in boxes, and the model
//                                      says that it is faster: mostly from 24 columns on
//   this one                           everything else
//
//   X, Y, C move                                             where
//   by bulk copies, a line each                              lines are long, start at multiples of 16 bytes, and the
//                                                            block is full
//   X, Y as panel_stream has it, C element by element,       else
//   neighbors in memory together
//   C directly                                               m has several axes
//
// Constants: product.hpp's, batched_fma.cuh's, batched_mma.cuh's, panel_stream.cuh's, and
//   threads_per_block, core
//   blocks_of_an_sm    at least, so that the compiler does not spill to make room for more
//   panel_bytes        of X and Y in shared memory, behind the barrier that bulk copies complete on
//   c_lines            of C in shared memory, behind X and Y: 0 its columns, 1 its rows, 2 its rows without a gap, as
//                      they follow one another in memory. Where m has several axes the places of the block's rows in
//                      X and C lie there instead
#pragma once

#include "batched_tiles.cuh"
#include "panel_stream.cuh"

/// The block's rows of C in shared memory.
struct c_stage {
    static constexpr int columns = static_cast<int>(n);
    static constexpr int line_count = c_lines == 0 ? columns : c_lines == 1 ? rows_of_block : 1;
    static constexpr int line_length = c_lines == 0   ? rows_of_block
                                       : c_lines == 1 ? columns
                                                      : rows_of_block * columns;
    static constexpr int size = sizeof(c_element);

    const arguments& a;
    c_element* shared;
    c_element* global; ///< the block's first row
    int own;           ///< rows that exist
    bool by_bulk;

    RICCI_FUNCTION c_stage(const arguments& args, unsigned char* memory, long long first, int rows)
        : a(args), shared(reinterpret_cast<c_element*>(memory)),
          global(static_cast<c_element*>(args.c) + m_offset(args, 0, first)), own(rows) {
        // Lines one after another in memory as they are here: columns of one axis upwards, or rows of which each
        // follows the last.
        const long long down = m_offset(a, 0, 1), across = n_offset(a, 0, 1), between = c_lines == 0 ? across : 0;
        const bool in_order =
            n_axes == 1 && (c_lines == 0 ? down == 1 : c_lines == 2 && across == 1 && down == columns);
        by_bulk =
            RICCI_BULK_COPIES && in_order && line_length * size % 16 == 0 && own == rows_of_block &&
            (reinterpret_cast<unsigned long long>(global) | static_cast<unsigned long long>(between * size)) % 16 ==
                0;
    }

    RICCI_FUNCTION c_element& at(int i, int j) const { return shared[i * row[0] + j * column[0]]; }

    /// Calls move(element in global memory, in shared memory), neighbors in memory by neighboring threads.
    template <class Move> RICCI_FUNCTION void each(const Move& move) const {
        if constexpr (c_lines == 0 && rows_of_block % 32 == 0 && threads_per_block % 32 == 0)
            if (m_offset(a, 0, 1) == 1 && own == rows_of_block) return each_of_columns(move);
        RICCI_UNROLL_2
        for (int e = threadIdx.x; e < rows_of_block * columns; e += threads_per_block) {
            const int i = c_lines == 0 ? e % rows_of_block : e / columns,
                      j = c_lines == 0 ? e / rows_of_block : e % columns;
            if (i < own) move(global[c_offset(a, i, j)], at(i, j));
        }
    }

    /// The same of whole columns: a warp takes one, and only counts up addresses.
    template <class Move> RICCI_FUNCTION void each_of_columns(const Move& move) const {
        const int lane = threadIdx.x % 32;
        RICCI_UNROLL_2
        for (int j = threadIdx.x / 32; j < columns; j += threads_per_block / 32) {
            c_element* const in_global = global + n_offset(a, 0, j) + lane;
            c_element* const in_shared = &at(lane, j);
            RICCI_UNROLL
            for (int i = 0; i < rows_of_block; i += 32) move(in_global[i], in_shared[i * row[0]]);
        }
    }

    /// Calls copy(in global memory, in shared memory) for the lines, by the threads of one warp.
    template <class Copy> RICCI_FUNCTION void each_line(const Copy& copy) const {
        for (int l = threadIdx.x; l < line_count; l += 32)
            copy(global + (c_lines == 0 ? n_offset(a, 0, l) : 0), shared + l * column[0]);
    }
};

/// A block whose rows lie along several axes: what it stores goes straight to C.
template <class Tile>
RICCI_FUNCTION void compute_scattered(const arguments& a, unsigned char* memory, long long first, int own) {
    unsigned char* const panel = memory + barrier_bytes;
    long long* const x_places = reinterpret_cast<long long*>(panel + panel_bytes);
    long long* const c_places = x_places + rows_of_block;
    for (int i = threadIdx.x; i < rows_of_block; i += threads_per_block) {
        const long long at = i < own ? first + i : first;
        x_places[i] = m_offset(a, 1, at), c_places[i] = m_offset(a, 0, at);
    }
    __syncthreads();
    const panel_stream<1, x_element> x(a, static_cast<const x_element*>(a.x), own, k, x_places);
    const panel_stream<2, y_element> y(a, static_cast<const y_element*>(a.y), static_cast<int>(n), k);
    x.load(panel, 0);
    y.load(panel, 0);
    commit_async_copies();
    wait_async_copies<0>();
    __syncthreads();
    bring_into_place(panel, 0, y);
    const int number = threadIdx.x / Tile::threads;
    if (number >= Tile::count) return;
    Tile mine(number);
    const x_element* const xs = reinterpret_cast<const x_element*>(panel + region[1]);
    const y_element* const ys = reinterpret_cast<const y_element*>(panel + region[2]);
    mine.template add<k_panel>(xs, ys);
    mine.finish(
        [&](int i, int j, compute sum) {
            if (i < own) store_c(a, c_places[i] + n_offset(a, 0, j), sum);
        },
        [&](int i, int j) { return dot_in_shared(xs + i * row[1], ys + j * column[2], k); });
}

/// Brings Y once and takes turns at the rows of C, `a.blocks` blocks of them apart.
template <class Tile> RICCI_FUNCTION void compute_lines(const arguments& a, unsigned char* memory, long long rows) {
    unsigned char* const panel = memory + barrier_bytes;
    const x_element* const xs = reinterpret_cast<const x_element*>(panel + region[1]);
    const y_element* const ys = reinterpret_cast<const y_element*>(panel + region[2]);
    const panel_stream<2, y_element> y(a, static_cast<const y_element*>(a.y), static_cast<int>(n), k);
    y.load(panel, 0);
#if RICCI_BULK_COPIES
    copy_barrier& loaded = *reinterpret_cast<copy_barrier*>(memory);
    if (threadIdx.x == 0) start_barrier(loaded, 1);
    int parity = 0;
#endif
    const long long begin = block_number() * rows_of_block;
    RICCI_UNROLL_ONCE
    for (long long first = begin; first < rows; first += a.blocks * rows_of_block) {
        const int own = rows - first < rows_of_block ? static_cast<int>(rows - first) : rows_of_block;
        const panel_stream<1, x_element> x(a, static_cast<const x_element*>(a.x) + m_offset(a, 1, first), own, k);
        const c_stage c(a, panel + panel_bytes, first, own);
#if RICCI_BULK_COPIES
        if (threadIdx.x < 32) {
            __syncwarp(); // the barrier has been started
            if (threadIdx.x == 0)
                arrive_expecting(loaded,
                                 x.bulk_bytes() + (accumulate && c.by_bulk
                                                       ? c_stage::line_count * c_stage::line_length * c_stage::size
                                                       : 0));
            __syncwarp();
            x.load_by_bulk(panel, loaded);
            if (accumulate && c.by_bulk)
                c.each_line([&](c_element* global, c_element* shared) {
                    bulk_load(shared, global, c_stage::line_length * c_stage::size, loaded);
                });
        }
        if (x.bulk_bytes() == 0) x.load(panel, 0);
#else
        x.load(panel, 0);
#endif
        commit_async_copies();
        if (accumulate && !c.by_bulk)
            c.each([](c_element& in_global, c_element& in_shared) { in_shared = in_global; });
        wait_async_copies<0>();
        __syncthreads();
#if RICCI_BULK_COPIES
        wait_barrier(loaded, parity);
        parity ^= 1;
#endif
        if (first == begin) bring_into_place(panel, 0, x, y);
        else bring_into_place(panel, 0, x);
        const int number = threadIdx.x / Tile::threads;
        if (number < Tile::count) {
            Tile mine(number);
            mine.template add<k_panel>(xs, ys);
            mine.update_c(a, [&](int i, int j) -> c_element& { return c.at(i, j); },
                          [&](int i, int j) { return dot_in_shared(xs + i * row[1], ys + j * column[2], k); });
        }
#if RICCI_BULK_COPIES
        show_to_copy_engine(); // C, which it stores, and that X has been read, which it overwrites
        __syncthreads();
        if (c.by_bulk && threadIdx.x < 32) {
            c.each_line([](c_element* global, c_element* shared) {
                bulk_store(global, shared, c_stage::line_length * c_stage::size);
            });
            wait_bulk_stores();
        }
#else
        __syncthreads();
#endif
        if (!c.by_bulk) c.each([](c_element& in_global, c_element& in_shared) { in_global = in_shared; });
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_an_sm)
    ricci_tall_skinny_ab(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    using tile = typename tile_of<core>::type;
    static_assert(tile::count * tile::threads <= threads_per_block, "a thread has one tile");
    const long long first = block_number() * rows_of_block, rows = row_count(a);
    if (block_number() >= a.blocks) return;
    if constexpr (m_axes > 1)
        compute_scattered<tile>(a, memory, first,
                                rows - first < rows_of_block ? static_cast<int>(rows - first) : rows_of_block);
    else compute_lines<tile>(a, memory, rows);
}
