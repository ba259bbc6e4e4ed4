// batched_lane_ring: products that lie interleaved, the batch fastest in memory, by blocks that stay on their SM:
// helper warps bring panels of X and Y and all of a part of C into rings in shared memory, ahead of the warps that
// multiply. sm_90 and later, where lines start at multiples of 16 bytes; batched_lane_shifts takes others,
// batched_lane_panels what neither does: older chips, matrices that all products share, several batch axes.
//
//   X, Y and C come, and C leaves        where
//   as boxes (ptx_box.cuh), one each,    all lines start at multiples of 16 bytes, and end there
//   by one thread
//   element by element, by all helper    where a pointer is not aligned so; C leaves straight from registers
//   warps
//
// A line is one element of a block's neighboring products. Boxes of lines of 128 bytes and more are copied at 91 to
// 95 % of an H200's triad where lines start at multiples of 128 bytes, at 64, 74 and 82 % by 128, 256 and 512 bytes
// where they start at others of 16. Lanes that are neighbors read neighbors in shared memory: no bank is asked for
// twice. Blocks beside one another have parts of C of the same products, and read their X and Y at about the same
// time.
//
// Constants: product.hpp's, lane_parts.cuh's (two helper warps), and
//   blocks_of_an_sm
//   region[3]              bytes from the start of a stage to X and to Y; [0] is unused
//   k_unrolled             steps of the sum unrolled at once
#pragma once

#include "lane_parts.cuh"

#if RICCI_BULK_COPIES

/// Units of a box's line in an element: the copy engine knows none of 16 bytes.
template <class Element> constexpr int box_units = sizeof(Element) > 8 ? 2 : 1;

/// By the first helper warp.
RICCI_FUNCTION void bring_panels(const arguments& a, const lane_ring& ring) {
    constexpr int bytes = products_per_block * k_panel *
                          (rows_of_block * static_cast<int>(sizeof(x_element)) +
                           columns_of_block * static_cast<int>(sizeof(y_element)));
    const bool asks = threadIdx.x % 32 == 0;
    ring_place<stages> to;
    each_part(a, [&](const part_of_c& part) {
        RICCI_UNROLL_ONCE
        for (int p = 0; p < panels; ++p, to.advance()) {
            wait_barrier(ring.empty(to.at), to.parity ^ 1); // at once the first time
            arrive_expecting(ring.full(to.at), asks ? bytes : 0);
            if (!asks) continue;
            unsigned char* const stage = ring.stage(to.at);
            box_load(stage + region[1], a.box[1], part.first * box_units<x_element>, part.row, p * k_panel,
                     ring.full(to.at));
            box_load(stage + region[2], a.box[2], part.first * box_units<y_element>, part.column, p * k_panel,
                     ring.full(to.at));
        }
    });
}

/// By the second one: each part of C when its place is free, and away again.
RICCI_FUNCTION void move_c(const arguments& a, const lane_ring& ring) {
    constexpr int bytes = products_per_block * rows_of_block * columns_of_block * static_cast<int>(sizeof(c_element)),
                  units = box_units<c_element>;
    const bool asks = threadIdx.x % 32 == 0;
    const long long parts = part_count(a);
    const auto bring = [&](long long number, int place) {
        arrive_expecting(ring.c_full(place), accumulate && asks ? bytes : 0);
        if (!accumulate || !asks) return;
        const part_of_c part = part_number(a, number);
        box_load(ring.c(place), a.box[0], part.first * units, part.row, part.column, ring.c_full(place));
    };
    long long next = block_number();
    for (int place = 0; place < c_stages && next < parts; ++place, next += a.blocks) bring(next, place);
    ring_place<c_stages> from;
    each_part(a, [&](const part_of_c& part) {
        wait_barrier(ring.c_done(from.at), from.parity);
        if (asks) {
            box_store(a.box[0], part.first * units, part.row, part.column, ring.c(from.at));
            wait_bulk_stores();
        }
        __syncwarp();
        if (next < parts) bring(next, from.at), next += a.blocks;
        from.advance();
    });
}

/// Copies lines by all helper threads, `Others` x `Steps` of them, of elements of `Bytes` or parts of them, to where
/// a box would have them; address(other, step) of a line's first element. What does not exist becomes zero.
template <int Bytes, int Others, int Steps, class Element, class Address>
RICCI_FUNCTION void copy_lines(unsigned char* to, int own_others, int own_steps, int own_products, const void* any,
                               const Address& address) {
    constexpr int line_bytes = products_per_block * static_cast<int>(sizeof(Element)), chunks = line_bytes / Bytes;
    RICCI_UNROLL_2
    for (int i = static_cast<int>(threadIdx.x) - compute_threads; i < Others * Steps * chunks; i += helper_threads) {
        const int at = i % chunks * Bytes, other = i / chunks % Others, step = i / chunks / Others;
        const bool exists = other < own_others && step < own_steps &&
                            at < own_products * static_cast<int>(sizeof(Element));
        const void* const from =
            exists ? reinterpret_cast<const unsigned char*>(address(other, step)) + at : any;
        if constexpr (Bytes >= 4)
            async_copy<Bytes>(to + i * Bytes, from, exists ? Bytes : 0);
        else
            *reinterpret_cast<unsigned short*>(to + i * Bytes) =
                exists ? *static_cast<const unsigned short*>(from) : static_cast<unsigned short>(0);
    }
}

/// The same by whole elements where those are aligned to their size.
template <int Others, int Steps, class Element, class Address>
RICCI_FUNCTION void copy_elements(unsigned char* to, int own_others, int own_steps, int own_products, const void* any,
                                  const Address& address) {
    constexpr int size = sizeof(Element), part = sizeof(typename real_part<Element>::type);
    if constexpr (size != part)
        if (reinterpret_cast<unsigned long long>(any) % size == 0)
            return copy_lines<size, Others, Steps, Element>(to, own_others, own_steps, own_products, any, address);
    copy_lines<part, Others, Steps, Element>(to, own_others, own_steps, own_products, any, address);
}

/// When all is there that a thread has copied, of elements of `Smallest` bytes and more.
template <int Smallest> RICCI_FUNCTION void arrive_with_elements(copy_barrier& b) {
    if constexpr (Smallest >= 4) return arrive_after_async_copies(b);
    commit_async_copies();
    wait_async_copies<0>();
    arrive_expecting(b, 0);
}

/// By all helper warps: what bring_panels and move_c do by boxes.
RICCI_FUNCTION void bring_elements(const arguments& a, const lane_ring& ring) {
    constexpr int smallest = sizeof(x_element) < sizeof(y_element) ? sizeof(x_element) : sizeof(y_element);
    ring_place<stages> to;
    ring_place<c_stages> c_to;
    each_part(a, [&](const part_of_c& part) {
        const x_element* const x = static_cast<const x_element*>(a.x) + part.at.x + m_offset(a, 1, part.row);
        const y_element* const y = static_cast<const y_element*>(a.y) + part.at.y + n_offset(a, 1, part.column);
        RICCI_UNROLL_ONCE
        for (int p = 0; p < panels; ++p, to.advance()) {
            const int begin = p * k_panel, left = static_cast<int>(k) - begin;
            wait_barrier(ring.empty(to.at), to.parity ^ 1);
            copy_elements<rows_of_block, k_panel, x_element>(
                ring.stage(to.at) + region[1], part.own_rows, left, part.own_products, x,
                [&](int i, int l) { return x + x_offset(a, i, begin + l); });
            copy_elements<columns_of_block, k_panel, y_element>(
                ring.stage(to.at) + region[2], part.own_columns, left, part.own_products, y,
                [&](int j, int l) { return y + y_offset(a, begin + l, j); });
            arrive_with_elements<smallest>(ring.full(to.at));
        }
        wait_barrier(ring.c_done(c_to.at), c_to.parity ^ 1);
        if constexpr (accumulate) {
            const c_element* const c =
                static_cast<const c_element*>(a.c) + part.at.c + c_offset(a, part.row, part.column);
            copy_elements<rows_of_block, columns_of_block, c_element>(
                ring.c(c_to.at), part.own_rows, part.own_columns, part.own_products, c,
                [&](int i, int j) { return c + c_offset(a, i, j); });
        }
        arrive_with_elements<sizeof(c_element)>(ring.c_full(c_to.at));
        c_to.advance();
    });
}

struct ring_tile : lane_tile {
    RICCI_FUNCTION void add_panel(const unsigned char* stage) {
        const x_element* const x =
            reinterpret_cast<const x_element*>(stage + region[1]) + i0 * products_per_block + lane;
        const y_element* const y =
            reinterpret_cast<const y_element*>(stage + region[2]) + j0 * products_per_block + lane;
        RICCI_UNROLL_K
        for (int l = 0; l < k_panel; ++l)
            add_step([&](int r) { return x + (l * rows_of_block + r * row_threads) * products_per_block; },
                     [&](int s) { return y + (l * columns_of_block + s * column_threads) * products_per_block; });
    }

    /// C (+)= the sums, in shared memory.
    RICCI_FUNCTION void update_in_place(const arguments& a, unsigned char* c) const {
        each([&](int i, int j, const compute(&own)[products_per_thread]) {
            using vector = neighbors<c_element, products_per_thread>;
            vector& to = *reinterpret_cast<vector*>(in_place(c, i, j)); // shared: update_neighbors stores to global
            vector now = {};
            if constexpr (accumulate) now = to;
            RICCI_UNROLL
            for (int e = 0; e < products_per_thread; ++e) update(a, now.e[e], own[e]);
            to = now;
        });
    }

    /// C (+)= the sums, from shared to global memory.
    RICCI_FUNCTION void update_outside(const arguments& a, const part_of_c& part, unsigned char* c) const {
        c_element* const first =
            static_cast<c_element*>(a.c) + part.at.c + c_offset(a, part.row, part.column) + lane;
        each([&](int i, int j, const compute(&own)[products_per_thread]) {
            if (i >= part.own_rows || j >= part.own_columns) return;
            RICCI_UNROLL
            for (int e = 0; e < products_per_thread; ++e) {
                if (lane + e >= part.own_products) return;
                c_element value = in_place(c, i, j)[e];
                update(a, value, own[e]);
                first[c_offset(a, i, j) + e] = value;
            }
        });
    }

  private:
    RICCI_FUNCTION c_element* in_place(unsigned char* c, int i, int j) const {
        return reinterpret_cast<c_element*>(c) + (j * rows_of_block + i) * products_per_block + lane;
    }
};

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_an_sm)
    ricci_batched_lane_ring(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    const bool by_boxes = a.boxes_are_here != 0;
    const lane_ring ring{memory};
    ring.start(by_boxes ? 32 : helper_threads, by_boxes ? 32 : helper_threads);
    if (threadIdx.x >= compute_threads) {
        if (!by_boxes) return bring_elements(a, ring);
        const int helper = (static_cast<int>(threadIdx.x) - compute_threads) / 32;
        if (helper == 0) bring_panels(a, ring);
        if (helper == 1) move_c(a, ring);
        return;
    }
    ring_tile tile;
    ring_place<stages> from;
    ring_place<c_stages> c_at;
    each_part(a, [&](const part_of_c& part) {
        clear_lanes(tile.sums);
        RICCI_UNROLL_ONCE
        for (int p = 0; p < panels; ++p, from.advance()) {
            wait_barrier(ring.full(from.at), from.parity);
            tile.add_panel(ring.stage(from.at));
            arrive_expecting(ring.empty(from.at), 0);
        }
        wait_barrier(ring.c_full(c_at.at), c_at.parity);
        if (by_boxes) {
            tile.update_in_place(a, ring.c(c_at.at));
            show_to_copy_engine();
        } else {
            tile.update_outside(a, part, ring.c(c_at.at));
        }
        arrive_expecting(ring.c_done(c_at.at), 0);
        c_at.advance();
    });
}

#endif
