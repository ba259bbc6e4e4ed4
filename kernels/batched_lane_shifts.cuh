// batched_lane_shifts: products that lie interleaved, the batch fastest in memory, whose lines start anywhere: as
// batched_lane_ring, but a box has every residues-th line only, for those lie at multiples of 16 bytes from one
// another, from the last such multiple before its first line on. sm_90 and later; elements of 2, 4 and 8 bytes.
//
// A line is one element of a block's neighboring products, in shared memory at a place that is as far behind a
// multiple of 16 bytes as in global memory. By boxes, lines that start anywhere come at 4.1 TB/s of an H200, as
// others do. A box has 16 bytes more than its lines, for their shifts; only the one with which an operand ends is cut
// where that does. C comes so too, but leaves straight from registers, which is no slower than through helper warps.
//
// A thread's rows and columns are a multiple of `residues` apart, so that all have one shift at a step of the sum,
// and the same every `residues` steps.
//
// Constants: product.hpp's, lane_parts.cuh's (three helper warps, one product a thread), and
//   blocks_of_an_sm
//   residues               16 bytes in elements; divides row_threads, column_threads, and k_panel if that is not k
//   stages, c_stages       panels and parts of C that shared memory holds
//   box_bytes[3]           of C, X and Y, multiples of 128: lines of one residue, at one step of the sum; C's at a
//                          column
//   region[3]              bytes from the first part of C, from the start of a stage to X and to Y
//   stage_bytes, c_bytes   multiples of 128
//   barrier_bytes          before the first part of C: two barriers a stage, then two a part of C
#pragma once

#include "lane_parts.cuh"

#if RICCI_BULK_COPIES

static_assert(products_per_thread == 1, "shifted neighbors are not aligned to more than one");

/// C (O: 0), X (1) or Y (2) of the whole batch: lines of rows (columns, of Y) at steps of the sum, C's at columns.
template <int O, class Element> struct shifted_operand {
    static constexpr int size = sizeof(Element), others = O == 2 ? columns_of_block : rows_of_block,
                         steps = O == 0 ? columns_of_block : k_panel, lines = others / residues,
                         line_bytes = (products_per_block + residues) * size;
    static constexpr long long all_others = O == 2 ? n : m, all_steps = O == 0 ? n : k;
    static_assert(size * residues == 16, "lines that many apart are aligned alike");

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
    /// Elements that lines of this residue are shifted at a step.
    RICCI_FUNCTION int shift(int residue, int step) const {
        return static_cast<int>(line_at(residue, step) & (residues - 1));
    }
    /// Where the line of a row and step of a block begins in shared memory, those of one residue together.
    static RICCI_FUNCTION int place(int other, int step) {
        return region[O] + (step * residues + other % residues) * box_bytes[O] + other / residues * line_bytes;
    }

    /// By a warp: asks for rows from `row` on and steps from `step` on, of products from `product` on.
    RICCI_FUNCTION void ask(unsigned char* to, long long product, int row, int step, copy_barrier& full) const {
        const int left = static_cast<int>(all_steps) - step, boxes = (left < steps ? left : steps) * residues,
                  lane = threadIdx.x % 32;
        arrive_expecting(full, lane == 0 ? boxes * lines * line_bytes : 0);
        RICCI_UNROLL_ONCE
        for (int b = lane; b < boxes; b += 32) {
            const int residue = b % residues, s = b / residues;
            constexpr int last = (all_others - 1) % residues;
            const bool is_end = residue == last && step + s == all_steps - 1;
            box_load(to + place(residue, s), a.box[3 * O + (residue > last ? 1 : is_end ? 2 : 0)], product,
                     row / residues, static_cast<int>(line_at(residue, step + s) / residues), full);
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
            Element* const into = reinterpret_cast<Element*>(to + place(i, s)) + shift(i % residues, s);
            RICCI_UNROLL_ONCE
            for (int e = threadIdx.x % 32; e < own_products; e += 32) into[e] = from[line_at(row + i, step + s) + e];
        }
        arrive_expecting(full, 0);
    }

    /// By a warp: all panels of X or Y, or all parts of C, each when one of `Places` places is free, `bytes` apart.
    template <int Places> RICCI_FUNCTION void bring(unsigned char* to, int bytes, copy_barrier* barriers) const {
        ring_place<Places> place;
        each_part(a, [&](const part_of_c& part) {
            const int row = O == 2 ? part.column : part.row, own_rows = O == 2 ? part.own_columns : part.own_rows;
            RICCI_UNROLL_ONCE
            for (int p = 0; p < (O == 0 ? 1 : panels); ++p, place.advance()) {
                const int step = O == 0 ? part.column : p * k_panel;
                unsigned char* const into = to + place.at * bytes;
                wait_barrier(barriers[2 * place.at + 1], place.parity ^ 1); // at once the first time
                if (a.boxes_are_here) ask(into, part.first, row, step, barriers[2 * place.at]);
                else copy(into, part.first, part.own_products, row, own_rows, step, barriers[2 * place.at]);
            }
        });
    }
};

/// Where a thread's elements of X (O: 1) or Y (2) begin in a stage, at each of `residues` steps.
template <int O, class Element> struct shifted_tile {
    using operand = shifted_operand<O, Element>;
    static constexpr int threads = O == 1 ? row_threads : column_threads,
                         apart = threads / residues * operand::line_bytes; ///< from one row (column) to the next
    static_assert(threads % residues == 0 && (k_panel % residues == 0 || panels == 1), "one shift, that repeats");
    int at[residues];

    RICCI_FUNCTION shifted_tile(const arguments& a, int first, int lane) {
        const operand whole(a);
        RICCI_UNROLL
        for (int step = 0; step < residues; ++step)
            at[step] = whole.place(first, step) + (lane + whole.shift(first % residues, step)) * operand::size;
    }
    /// Step `step` of `residues`, of the `group`th such group.
    RICCI_FUNCTION const Element* element(const unsigned char* stage, int group, int step, int t) const {
        return reinterpret_cast<const Element*>(stage + at[step] + group * residues * residues * box_bytes[O] +
                                                t * apart);
    }
};

/// C of a thread's tile.
struct shifted_c {
    using operand = shifted_operand<0, c_element>;
    static constexpr int down = row_threads / residues * operand::line_bytes,
                         along = column_threads * residues * box_bytes[0]; ///< from one row, column to the next
    int at; ///< where the first one lies in a part of C in shared memory
    long long row_step, column_step;

    RICCI_FUNCTION shifted_c(const arguments& a, const lane_tile& tile)
        : row_step(row_threads * m_offset(a, 0, 1)), column_step(column_threads * n_offset(a, 0, 1)) {
        const operand whole(a);
        at = whole.place(tile.i0, tile.j0) + (tile.lane + whole.shift(tile.i0 % residues, tile.j0)) * operand::size;
    }

    /// C (+)= the sums, from there to global memory.
    RICCI_FUNCTION void update(const arguments& a, const part_of_c& part, const lane_tile& tile,
                               const unsigned char* old) const {
        if (tile.lane >= part.own_products) return;
        c_element* const first = static_cast<c_element*>(a.c) + part.at.c + tile.lane +
                                 c_offset(a, part.row + tile.i0, part.column + tile.j0);
        const long long row_step = as_if_new(this->row_step), column_step = as_if_new(this->column_step);
        RICCI_UNROLL
        for (int s = 0; s < tile_n; ++s)
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r) {
                if (tile.i0 + r * row_threads >= part.own_rows || tile.j0 + s * column_threads >= part.own_columns)
                    continue;
                c_element value = {};
                if constexpr (accumulate)
                    value = *reinterpret_cast<const c_element*>(old + at + r * down + s * along);
                ::update(a, value, tile.sums[r][s][0]);
                first[r * row_step + s * column_step] = value;
            }
    }
};

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_an_sm)
    ricci_batched_lane_shifts(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    copy_barrier *const barriers = reinterpret_cast<copy_barrier*>(memory), *const c_barriers = barriers + 2 * stages;
    unsigned char *const c_parts = memory + barrier_bytes, *const panel_stages = c_parts + c_stages * c_bytes;
    static_assert(2 * (stages + c_stages) * static_cast<int>(sizeof(copy_barrier)) <= barrier_bytes, "room");
    if (threadIdx.x == 0) {
        start_lane_barriers(barriers, stages, 64);
        start_lane_barriers(c_barriers, c_stages, 32);
    }
    __syncthreads();
    if (threadIdx.x >= compute_threads) {
        const int helper = (static_cast<int>(threadIdx.x) - compute_threads) / 32;
        if (helper == 0) shifted_operand<1, x_element>(a).bring<stages>(panel_stages, stage_bytes, barriers);
        if (helper == 1) shifted_operand<2, y_element>(a).bring<stages>(panel_stages, stage_bytes, barriers);
        if (accumulate && helper == 2) shifted_operand<0, c_element>(a).bring<c_stages>(c_parts, c_bytes, c_barriers);
        return;
    }
    lane_tile tile;
    const shifted_tile<1, x_element> x(a, tile.i0, tile.lane);
    const shifted_tile<2, y_element> y(a, tile.j0, tile.lane);
    const shifted_c c(a, tile);
    ring_place<stages> from;
    ring_place<c_stages> c_at;
    each_part(a, [&](const part_of_c& part) {
        tile.clear();
        RICCI_UNROLL_ONCE
        for (int p = 0; p < panels; ++p, from.advance()) {
            const unsigned char* const stage = panel_stages + from.at * stage_bytes;
            const int left = static_cast<int>(k) - p * k_panel, steps = left < k_panel ? left : k_panel;
            wait_barrier(barriers[2 * from.at], from.parity);
            RICCI_UNROLL_ONCE
            for (int group = 0; group * residues < steps; ++group)
                RICCI_UNROLL
                for (int step = 0; step < residues; ++step)
                    if (k % residues == 0 || group * residues + step < steps)
                        tile.add_step([&](int r) { return x.element(stage, group, step, r); },
                                      [&](int s) { return y.element(stage, group, step, s); });
            arrive_expecting(barriers[2 * from.at + 1], 0);
        }
        if constexpr (accumulate) wait_barrier(c_barriers[2 * c_at.at], c_at.parity);
        c.update(a, part, tile, c_parts + c_at.at * c_bytes);
        if constexpr (accumulate) arrive_expecting(c_barriers[2 * c_at.at + 1], 0), c_at.advance();
    });
}

#endif
