// lane_parts: what the kernels for interleaved products share whose blocks stay on their SM: which part of C a block
// does next, rings in shared memory with their barriers, and a thread's tile of one product, or the same tile of a
// few neighbors.
//
// Constants: product.hpp's, lane_sums.cuh's, and
//   threads_per_block
//   helper_warps           the block's last, which bring what the others multiply
//   products_per_block     neighbors; a thread's rows are row_threads apart, its columns column_threads
//   rows_of_block, columns_of_block, row_blocks, column_blocks     multiples of tile_m, of tile_n; parts of C
//   k_panel, stages        steps of the sum at a time; panels that shared memory holds
//   c_stages               parts of C that it holds
//   stage_bytes, c_bytes   multiples of 128
//   barrier_bytes          before the first part of C: two barriers a stage, then two a part of C
#pragma once

#include "lane_sums.cuh"
#include "neighbors.cuh"
#include "ptx_box.cuh"

#if RICCI_BULK_COPIES

constexpr int row_threads = rows_of_block / tile_m, column_threads = columns_of_block / tile_n;
constexpr int lanes_of_block = products_per_block / products_per_thread;
constexpr int helper_threads = helper_warps * 32, compute_threads = threads_per_block - helper_threads;
constexpr int panels = static_cast<int>((k + k_panel - 1) / k_panel);
static_assert(compute_threads == lanes_of_block * row_threads * column_threads, "a thread has one tile");

/// A part of C of neighboring products.
struct part_of_c {
    int row, column, own_rows, own_columns, own_products;
    long long first; ///< product
    batch_offsets at;
};

static_assert(batch_axes == 1, "neighbors along one axis");

RICCI_FUNCTION long long part_count(const arguments& a) {
    return (a.products + products_per_block - 1) / products_per_block * row_blocks * column_blocks;
}
RICCI_FUNCTION part_of_c part_number(const arguments& a, long long number) {
    part_of_c out;
    out.column = static_cast<int>(number % column_blocks) * columns_of_block;
    number /= column_blocks;
    out.row = static_cast<int>(number % row_blocks) * rows_of_block;
    out.first = number / row_blocks * products_per_block;
    out.own_rows = m - out.row < rows_of_block ? static_cast<int>(m) - out.row : rows_of_block;
    out.own_columns = n - out.column < columns_of_block ? static_cast<int>(n) - out.column : columns_of_block;
    out.own_products = a.products - out.first < products_per_block ? static_cast<int>(a.products - out.first)
                                                                   : products_per_block;
    out.at = offsets_of(a, out.first);
    return out;
}

/// One of `Count` places that are taken in turn, and whether it is an odd turn.
template <int Count> struct ring_place {
    int at = 0, parity = 0;
    RICCI_FUNCTION void advance() {
        if (++at == Count) at = 0, parity ^= 1;
    }
};

/// f(part of C) for this block's.
template <class F> RICCI_FUNCTION void each_part(const arguments& a, const F& f) {
    const long long parts = part_count(a);
    RICCI_UNROLL_ONCE
    for (long long number = block_number(); number < parts; number += a.blocks) f(part_number(a, number));
}

/// The rings in shared memory: panels of X and Y in stages, parts of C in places. Of each two barriers: when what it
/// holds is there, and when it is done with. All lanes arrive: see batched_stationary's slice_ring.
struct lane_ring {
    unsigned char* memory;

    RICCI_FUNCTION copy_barrier& full(int stage) const { return barrier(2 * stage); }
    RICCI_FUNCTION copy_barrier& empty(int stage) const { return barrier(2 * stage + 1); }
    RICCI_FUNCTION copy_barrier& c_full(int place) const { return barrier(2 * (stages + place)); }
    RICCI_FUNCTION copy_barrier& c_done(int place) const { return barrier(2 * (stages + place) + 1); }
    RICCI_FUNCTION unsigned char* c(int place) const { return memory + barrier_bytes + place * c_bytes; }
    RICCI_FUNCTION unsigned char* stage(int s) const {
        return memory + barrier_bytes + c_stages * c_bytes + s * stage_bytes;
    }

    /// By all threads; so many bring a panel, a part of C.
    RICCI_FUNCTION void start(int arrivals, int c_arrivals) const {
        static_assert(2 * (stages + c_stages) * static_cast<int>(sizeof(copy_barrier)) <= barrier_bytes, "room");
        if (threadIdx.x == 0) {
            for (int s = 0; s < stages; ++s)
                start_barrier(full(s), arrivals), start_barrier(empty(s), compute_threads);
            for (int p = 0; p < c_stages; ++p)
                start_barrier(c_full(p), c_arrivals), start_barrier(c_done(p), compute_threads);
        }
        __syncthreads();
    }

  private:
    RICCI_FUNCTION copy_barrier& barrier(int number) const {
        return reinterpret_cast<copy_barrier*>(memory)[number];
    }
};

/// A thread's tile of each of its products.
struct lane_tile {
    int lane, i0, j0;
    lane_sums sums;

    RICCI_FUNCTION lane_tile() {
        const int t = static_cast<int>(threadIdx.x) / lanes_of_block;
        lane = static_cast<int>(threadIdx.x) % lanes_of_block * products_per_thread;
        i0 = t / column_threads, j0 = t % column_threads;
    }

    /// x_at(r), y_at(s): where X's row and Y's column of the tile lie, at one step of the sum.
    template <class XAt, class YAt> RICCI_FUNCTION void add_step(const XAt& x_at, const YAt& y_at) {
        compute xs[tile_m][products_per_thread], ys[tile_n][products_per_thread];
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r) {
            const auto all = load_neighbors<x_element, products_per_thread>(x_at(r));
            RICCI_UNROLL
            for (int e = 0; e < products_per_thread; ++e) {
                const x_element one = all.at(e);
                xs[r][e] = load_x(&one, 0);
            }
        }
        RICCI_UNROLL
        for (int s = 0; s < tile_n; ++s) {
            const auto all = load_neighbors<y_element, products_per_thread>(y_at(s));
            RICCI_UNROLL
            for (int e = 0; e < products_per_thread; ++e) {
                const y_element one = all.at(e);
                ys[s][e] = load_y(&one, 0);
            }
        }
        add_lanes(sums, xs, ys);
    }

    /// f(row, column, the thread's sums there) for all of the tile.
    template <class F> RICCI_FUNCTION void each(const F& f) const {
        RICCI_UNROLL
        for (int s = 0; s < tile_n; ++s)
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r) f(i0 + r * row_threads, j0 + s * column_threads, sums[r][s]);
    }
};

#endif
