// batched_lane_shifts: products that lie interleaved, the batch fastest in memory, whose lines start anywhere: as
// batched_lane_ring, but where neighboring lines are not aligned alike a box has every residues-th line only, for
// those lie at multiples of 16 bytes from one another, from the last such multiple before its first line on. sm_90
// and later; elements of 2, 4 and 8 bytes.
//
// A line is one element of a block's neighboring products, in shared memory at a place that is as far behind a
// multiple of 16 bytes as in global memory. By boxes, lines that start anywhere come at 4.1 TB/s of an H200, as
// others do. A box has 16 bytes more than its lines, for their shifts; only the one with which an operand ends is cut
// where that does. C comes so too, but leaves straight from registers, which is no slower than through helper warps.
//
// Where shifts change with the step of the sum, as they do every `residues` steps in the same way, a thread's rows
// (columns) all have the same: they are aligned alike, or a multiple of `residues` apart.
//
// Constants: product.hpp's, lane_parts.cuh's (three helper warps, one product a thread), and
//   blocks_of_an_sm
//   residues               16 bytes in elements
//   residues_of[3]         of C, X and Y: the same, or 1 where all lines at a step of the sum are aligned alike
//   steps_shift[3]         whether lines at neighboring steps of the sum are not; C's at columns
//   box_bytes[3]           of C, X and Y, multiples of 128: lines of one residue, at one step of the sum; C's at a
//                          column
//   region[3]              bytes from the start of a part of C, of a stage to X and to Y
#pragma once

#include "lane_parts.cuh"

#if RICCI_BULK_COPIES

static_assert(products_per_thread == 1, "shifted neighbors are not aligned to more than one");

/// C (O: 0), X (1) or Y (2) of the whole batch: lines of rows (columns, of Y) at steps of the sum, C's at columns.
template <int O, class Element> struct shifted_operand {
    static constexpr int size = sizeof(Element), others = O == 2 ? columns_of_block : rows_of_block,
                         steps = O == 0 ? columns_of_block : k_panel, own = residues_of[O], lines = others / own,
                         line_bytes = (products_per_block + residues) * size;
    static constexpr long long all_others = O == 2 ? n : m, all_steps = O == 0 ? n : k;
    static_assert(size * residues == 16, "16 bytes in elements");

    const arguments& a;
    long long first; ///< elements from the last multiple of 16 bytes to the operand
    long long other_step, step_step;

    explicit RICCI_FUNCTION shifted_operand(const arguments& a) : a(a) {
        const void* const operand = O == 0 ? a.c : O == 1 ? a.x : a.y;
        first = static_cast<long long>(reinterpret_cast<unsigned long long>(operand) % 16 / size);
        other_step = O == 2 ? n_offset(a, 1, 1) : m_offset(a, O, 1);
        step_step = O == 0 ? n_offset(a, 0, 1) : k_offset(a, O - 1, 1);
    }

    /// Elements from that multiple of 16 bytes to the line of a row and step, of product 0.
    RICCI_FUNCTION long long line_at(int other, int step) const {
        return first + other * other_step + step * step_step;
    }
    /// Elements that the line is shifted.
    RICCI_FUNCTION int shift(int other, int step) const {
        return static_cast<int>(line_at(other, step) & (residues - 1));
    }
    /// Where the line of a row and step of a block begins in shared memory, those of one residue together.
    static RICCI_FUNCTION int place(int other, int step) {
        return region[O] + (step * own + other % own) * box_bytes[O] + other / own * line_bytes;
    }

    /// By a warp: asks for rows from `row` on and steps from `step` on, of products from `product` on.
    RICCI_FUNCTION void ask(unsigned char* to, long long product, int row, int step, copy_barrier& full) const {
        const int left = static_cast<int>(all_steps) - step, boxes = (left < steps ? left : steps) * own,
                  lane = threadIdx.x % 32;
        arrive_expecting(full, lane == 0 ? boxes * lines * line_bytes : 0);
        RICCI_UNROLL_ONCE
        for (int b = lane; b < boxes; b += 32) {
            const int residue = b % own, s = b / own;
            constexpr int last = (all_others - 1) % own;
            const bool is_end = residue == last && step + s == all_steps - 1;
            box_load(to + place(residue, s), a.box[3 * O + (residue > last ? 1 : is_end ? 2 : 0)], product,
                     row / own, static_cast<int>(line_at(residue, step + s) / residues), full);
        }
    }

    /// The same, where elements do not start at multiples of their size.
    RICCI_FUNCTION void copy(unsigned char* to, long long product, int own_products, int row, int own_rows, int step,
                             copy_barrier& full) const {
        const Element* const from = static_cast<const Element*>(O == 0 ? a.c : O == 1 ? a.x : a.y) - first + product;
        const int left = static_cast<int>(all_steps) - step, own_steps = left < steps ? left : steps;
        RICCI_UNROLL_ONCE
        for (int line = 0; line < own_steps * own_rows; ++line) {
            const int i = line % own_rows, s = line / own_rows;
            Element* const into = reinterpret_cast<Element*>(to + place(i, s)) + shift(row + i, step + s);
            RICCI_UNROLL_ONCE
            for (int e = threadIdx.x % 32; e < own_products; e += 32) into[e] = from[line_at(row + i, step + s) + e];
        }
        arrive_expecting(full, 0);
    }

    /// By a warp: all panels of X or Y, or all parts of C, each when there is a place.
    RICCI_FUNCTION void bring(const lane_ring& ring) const {
        ring_place<O == 0 ? c_stages : stages> place;
        each_part(a, [&](const part_of_c& part) {
            const int row = O == 2 ? part.column : part.row, own_rows = O == 2 ? part.own_columns : part.own_rows;
            RICCI_UNROLL_ONCE
            for (int p = 0; p < (O == 0 ? 1 : panels); ++p, place.advance()) {
                const int step = O == 0 ? part.column : p * k_panel;
                unsigned char* const into = O == 0 ? ring.c(place.at) : ring.stage(place.at);
                copy_barrier& full = O == 0 ? ring.c_full(place.at) : ring.full(place.at);
                copy_barrier& done = O == 0 ? ring.c_done(place.at) : ring.empty(place.at);
                wait_barrier(done, place.parity ^ 1); // at once the first time
                if (a.boxes_are_here) ask(into, part.first, row, step, full);
                else copy(into, part.first, part.own_products, row, own_rows, step, full);
            }
        });
    }
};

/// Where a thread's elements of X (O: 1) or Y (2) begin in a stage.
template <int O, class Element> struct shifted_tile {
    using operand = shifted_operand<O, Element>;
    static constexpr int threads = O == 1 ? row_threads : column_threads, tile = O == 1 ? tile_m : tile_n;
    static constexpr bool by_steps = threads % operand::own == 0; ///< else by rows, all steps alike
    static constexpr int count = !by_steps ? tile : steps_shift[O] ? residues : 1;
    static_assert(!steps_shift[O] || (by_steps && (k_panel % residues == 0 || panels == 1)), "shifts repeat");
    int at[count];

    RICCI_FUNCTION shifted_tile(const arguments& a, int first, int lane) {
        const operand whole(a);
        RICCI_UNROLL
        for (int c = 0; c < count; ++c) {
            const int other = by_steps ? first : first + c * threads, step = by_steps ? c : 0;
            at[c] = whole.place(other, 0) + (lane + whole.shift(other, step)) * operand::size;
        }
    }
    /// Of row `t` of the tile, `step` steps behind a multiple of `residues`.
    RICCI_FUNCTION const Element* element(const unsigned char* panel, int step, int t) const {
        const int line = by_steps ? at[step % count] + t * (threads / operand::own * operand::line_bytes) : at[t];
        return reinterpret_cast<const Element*>(panel + line + step * operand::own * box_bytes[O]);
    }
    static RICCI_FUNCTION const unsigned char* behind(const unsigned char* panel, int steps) {
        return panel + steps * operand::own * box_bytes[O];
    }
};

/// C of a thread's tile.
struct shifted_c {
    using operand = shifted_operand<0, c_element>;
    static_assert(!steps_shift[0] || column_threads % residues == 0, "one shift for a thread's columns");
    const operand whole;
    long long row_step, column_step; ///< from one row, column of the tile to the next

    RICCI_FUNCTION shifted_c(const arguments& a)
        : whole(a), row_step(row_threads * m_offset(a, 0, 1)), column_step(column_threads * n_offset(a, 0, 1)) {}

    /// C (+)= the sums, in global memory; `old`: its part in shared memory.
    RICCI_FUNCTION void update(const arguments& a, const part_of_c& part, const lane_tile& tile,
                               const unsigned char* old) const {
        if (tile.lane >= part.own_products) return;
        c_element* const first = static_cast<c_element*>(a.c) + part.at.c + tile.lane +
                                 c_offset(a, part.row + tile.i0, part.column + tile.j0);
        const long long row_step = as_if_new(this->row_step), column_step = as_if_new(this->column_step);
        int at[tile_m];
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r) {
            const int i = tile.i0 + r * row_threads;
            at[r] = whole.place(i, tile.j0) + (tile.lane + whole.shift(i, tile.j0)) * operand::size;
        }
        RICCI_UNROLL
        for (int s = 0; s < tile_n; ++s)
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r) {
                if (tile.i0 + r * row_threads >= part.own_rows || tile.j0 + s * column_threads >= part.own_columns)
                    continue;
                c_element value = {};
                if constexpr (accumulate)
                    value = *reinterpret_cast<const c_element*>(
                        old + at[r] + s * (column_threads * operand::own * box_bytes[0]));
                ::update(a, value, tile.sums[r][s][0]);
                first[r * row_step + s * column_step] = value;
            }
    }
};

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_an_sm)
    ricci_batched_lane_shifts(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    const lane_ring ring{memory};
    ring.start(64, 32);
    if (threadIdx.x >= compute_threads) {
        const int helper = (static_cast<int>(threadIdx.x) - compute_threads) / 32;
        if (helper == 0) shifted_operand<1, x_element>(a).bring(ring);
        if (helper == 1) shifted_operand<2, y_element>(a).bring(ring);
        if (accumulate && helper == 2) shifted_operand<0, c_element>(a).bring(ring);
        return;
    }
    lane_tile tile;
    const shifted_tile<1, x_element> x(a, tile.i0, tile.lane);
    const shifted_tile<2, y_element> y(a, tile.j0, tile.lane);
    const shifted_c c(a);
    ring_place<stages> from;
    ring_place<c_stages> c_at;
    each_part(a, [&](const part_of_c& part) {
        clear_lanes(tile.sums);
        RICCI_UNROLL_ONCE
        for (int p = 0; p < panels; ++p, from.advance()) {
            const unsigned char* const stage = ring.stage(from.at);
            const int left = static_cast<int>(k) - p * k_panel, steps = left < k_panel ? left : k_panel;
            wait_barrier(ring.full(from.at), from.parity);
            RICCI_UNROLL_ONCE
            for (int begin = 0; begin < steps; begin += residues) {
                const unsigned char *const of_x = x.behind(stage, begin), *const of_y = y.behind(stage, begin);
                RICCI_UNROLL
                for (int step = 0; step < residues; ++step)
                    if ((k % residues == 0 && k_panel % residues == 0) || begin + step < steps)
                        tile.add_step([&](int r) { return x.element(of_x, step, r); },
                                      [&](int s) { return y.element(of_y, step, s); });
            }
            arrive_expecting(ring.empty(from.at), 0);
        }
        if constexpr (accumulate) wait_barrier(ring.c_full(c_at.at), c_at.parity);
        c.update(a, part, tile, ring.c(c_at.at));
        if constexpr (accumulate) arrive_expecting(ring.c_done(c_at.at), 0), c_at.advance();
    });
}

#endif
