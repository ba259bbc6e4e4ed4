// batched_lane_shifts: products that lie interleaved, the batch fastest in memory, whose lines start anywhere: as
// batched_lane_ring, but a box has every residues-th line only, for those lie at multiples of 16 bytes from one
// another, from the last such multiple before its first line on. sm_90 and later; elements of 2, 4 and 8 bytes.
//
// A line is one element of a block's neighboring products, in shared memory at a place that is as far behind a
// multiple of 16 bytes as in global memory. By boxes, lines that start anywhere come at 4.1 TB/s of an H200, as
// others do. A box has 16 bytes more than its lines, for their shifts; only the one with which an operand ends is cut
// where that does. C is read and written straight from registers, the reading asked for
// before the sums, so far as registers hold it, else to the L2 cache.
//
// A thread's rows and columns are a multiple of `residues` apart, so that all have one shift at a step of the sum,
// and the same every `residues` steps.
//
// Constants: product.hpp's, lane_parts.cuh's (two helper warps, one product a thread), and
//   blocks_of_an_sm
//   residues               16 bytes in elements; divides row_threads, column_threads, and k_panel if that is not k
//   stages                 panels that shared memory holds
//   box_bytes[3]           of X and Y, multiples of 128
//   region[3]              bytes from the start of a stage to X and to Y
//   stage_bytes            a multiple of 128
//   barrier_bytes          before the first stage: two barriers each
#pragma once

#include "lane_parts.cuh"

#if RICCI_BULK_COPIES

static_assert(products_per_thread == 1, "shifted neighbors are not aligned to more than one");

/// X (O: 1) or Y (2) of the whole batch.
template <int O, class Element> struct shifted_operand {
    static constexpr int size = sizeof(Element), others = O == 1 ? rows_of_block : columns_of_block,
                         lines = others / residues, line_bytes = (products_per_block + residues) * size,
                         boxes = k_panel * residues;
    static constexpr long long all_others = O == 1 ? m : n;
    static_assert(size * residues == 16 && (k_panel % residues == 0 || panels == 1), "shifts repeat");

    const arguments& a;
    long long first; ///< elements from the last multiple of 16 bytes to the operand
    long long other_step, k_step;

    explicit RICCI_FUNCTION shifted_operand(const arguments& a)
        : a(a), first(static_cast<long long>(reinterpret_cast<unsigned long long>(O == 1 ? a.x : a.y) % 16 / size)),
          other_step(O == 1 ? m_offset(a, 1, 1) : n_offset(a, 1, 1)), k_step(k_offset(a, O - 1, 1)) {}

    /// Elements from that multiple of 16 bytes to the line of a row (column) and step, of product 0.
    RICCI_FUNCTION long long line_at(int other, int step) const { return first + other * other_step + step * k_step; }
    /// Elements that lines of this residue are shifted at a step.
    RICCI_FUNCTION int shift(int residue, int step) const {
        return static_cast<int>(line_at(residue, step) & (residues - 1));
    }
    /// Where such lines begin in a stage, those of steps of the sum together.
    static RICCI_FUNCTION int box_at(int residue, int step) {
        return region[O] + (step * residues + residue) * box_bytes[O];
    }

    /// By a warp: asks for a panel.
    RICCI_FUNCTION void ask(unsigned char* stage, const part_of_c& part, int begin, copy_barrier& full) const {
        const int left = static_cast<int>(k) - begin, own_boxes = left < k_panel ? left * residues : boxes,
                  lane = threadIdx.x % 32;
        arrive_expecting(full, lane == 0 ? own_boxes * lines * line_bytes : 0);
        RICCI_UNROLL_ONCE
        for (int b = lane; b < own_boxes; b += 32) {
            const int residue = b % residues, step = b / residues;
            constexpr int last = (all_others - 1) % residues;
            const int map = residue > last ? 1 : residue == last && begin + step == k - 1 ? 2 : 0; // shifted_lines
            box_load(stage + box_at(residue, step), a.box[3 * O - 2 + map], part.first,
                     (O == 1 ? part.row : part.column) / residues,
                     static_cast<int>(line_at(residue, begin + step) / residues), full);
        }
    }

    /// By a warp, where elements do not start at multiples of their size: the same.
    RICCI_FUNCTION void copy(unsigned char* stage, const part_of_c& part, int begin, copy_barrier& full) const {
        const Element* const from = static_cast<const Element*>(O == 1 ? a.x : a.y) - first + part.first;
        const int left = static_cast<int>(k) - begin, steps = left < k_panel ? left : k_panel,
                  own = O == 1 ? part.own_rows : part.own_columns, other = O == 1 ? part.row : part.column;
        RICCI_UNROLL_ONCE
        for (int line = 0; line < steps * others; ++line) {
            const int i = line % others, step = line / others, residue = i % residues;
            if (i >= own) continue;
            unsigned char* const into = stage + box_at(residue, step) + i / residues * line_bytes;
            Element* const to = reinterpret_cast<Element*>(into) + shift(residue, step);
            RICCI_UNROLL_ONCE
            for (int e = threadIdx.x % 32; e < part.own_products; e += 32)
                to[e] = from[line_at(other + i, begin + step) + e];
        }
        arrive_expecting(full, 0);
    }

    /// By a helper warp.
    RICCI_FUNCTION void bring(unsigned char* memory) const {
        copy_barrier* const barriers = reinterpret_cast<copy_barrier*>(memory);
        ring_place<stages> to;
        each_part(a, [&](const part_of_c& part) {
            RICCI_UNROLL_ONCE
            for (int p = 0; p < panels; ++p, to.advance()) {
                wait_barrier(barriers[2 * to.at + 1], to.parity ^ 1); // at once the first time
                unsigned char* const stage = memory + barrier_bytes + to.at * stage_bytes;
                if (a.boxes_are_here) ask(stage, part, p * k_panel, barriers[2 * to.at]);
                else copy(stage, part, p * k_panel, barriers[2 * to.at]);
            }
        });
    }
};

/// Where a thread's elements of an operand begin in a stage, at each of `residues` steps.
template <int O, class Element> struct shifted_tile {
    static constexpr int apart = (O == 1 ? row_threads : column_threads) / residues *
                                 shifted_operand<O, Element>::line_bytes; ///< from one row (column) to the next
    static_assert((O == 1 ? row_threads : column_threads) % residues == 0, "one shift for all");
    int at[residues];

    RICCI_FUNCTION shifted_tile(const arguments& a, int first, int lane) {
        const shifted_operand<O, Element> operand(a);
        RICCI_UNROLL
        for (int step = 0; step < residues; ++step)
            at[step] = operand.box_at(first % residues, step) + first / residues * operand.line_bytes +
                       (lane + operand.shift(first % residues, step)) * operand.size;
    }
    /// Step `step` of `residues`, of the `group`th such group.
    RICCI_FUNCTION const Element* element(const unsigned char* stage, int group, int step, int t) const {
        return reinterpret_cast<const Element*>(stage + at[step] + group * residues * residues * box_bytes[O] +
                                                t * apart);
    }
};

/// C of a thread's tile: read at the start where registers hold it beside the sums, else asked for then and read a
/// few columns at a time.
struct shifted_c {
    static constexpr int words = (static_cast<int>(sizeof(c_element)) + 3) / 4,
                         sum_words = static_cast<int>(sizeof(compute)) / 4, together = 32 / (tile_m * words);
    static constexpr bool early = accumulate && tile_m * tile_n * (sum_words + words) <= 64;
    static constexpr int columns_at_once = early || together >= tile_n ? tile_n : together > 0 ? together : 1;

    c_element* first;
    long long down, along;
    int own_rows, own_columns; ///< of the tile; none of lanes without a product
    c_element old[tile_m][columns_at_once];

    RICCI_FUNCTION void begin(const arguments& a, const part_of_c& part, const lane_tile& tile) {
        const bool exists = tile.lane < part.own_products;
        down = row_threads * m_offset(a, 0, 1), along = column_threads * n_offset(a, 0, 1);
        first = static_cast<c_element*>(a.c) + part.at.c + tile.lane +
                c_offset(a, part.row + tile.i0, part.column + tile.j0);
        own_rows = exists ? (part.own_rows - tile.i0 + row_threads - 1) / row_threads : 0;
        own_columns = (part.own_columns - tile.j0 + column_threads - 1) / column_threads;
        if constexpr (early) read(0);
        else if constexpr (accumulate) each<tile_n>(0, [](int, int, c_element* c) { prefetch_to_l2(c); });
    }

    RICCI_FUNCTION void update(const arguments& a, const lane_tile& tile) {
        RICCI_UNROLL
        for (int column = 0; column < tile_n; column += columns_at_once) {
            if constexpr (accumulate && !early) read(column);
            each<columns_at_once>(column, [&](int r, int s, c_element* c) {
                c_element value = {};
                if constexpr (accumulate) value = old[r][s];
                ::update(a, value, tile.sums[r][column + s][0]);
                *c = value;
            });
        }
    }

  private:
    RICCI_FUNCTION void read(int column) {
        each<columns_at_once>(column, [&](int r, int s, c_element* c) { old[r][s] = *c; });
    }
    /// f(row, column from `begin` on, element) for those of `Columns` columns that exist.
    template <int Columns, class F> RICCI_FUNCTION void each(int begin, const F& f) const {
        RICCI_UNROLL
        for (int s = 0; s < Columns; ++s)
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r)
                if (begin + s < tile_n && begin + s < own_columns && r < own_rows)
                    f(r, s, first + r * down + (begin + s) * along);
    }
};

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_an_sm)
    ricci_batched_lane_shifts(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    copy_barrier* const barriers = reinterpret_cast<copy_barrier*>(memory);
    static_assert(2 * stages * static_cast<int>(sizeof(copy_barrier)) <= barrier_bytes, "the barriers' room");
    start_lane_barriers(barriers, stages, helper_threads);
    if (threadIdx.x >= compute_threads) {
        const int helper = (static_cast<int>(threadIdx.x) - compute_threads) / 32;
        if (helper == 0) shifted_operand<1, x_element>(a).bring(memory);
        else shifted_operand<2, y_element>(a).bring(memory);
        return;
    }
    lane_tile tile;
    const shifted_tile<1, x_element> x(a, tile.i0, tile.lane);
    const shifted_tile<2, y_element> y(a, tile.j0, tile.lane);
    ring_place<stages> from;
    each_part(a, [&](const part_of_c& part) {
        shifted_c c;
        c.begin(a, part, tile);
        tile.clear();
        RICCI_UNROLL_ONCE
        for (int p = 0; p < panels; ++p, from.advance()) {
            const unsigned char* const stage = memory + barrier_bytes + from.at * stage_bytes;
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
        c.update(a, tile);
    });
}

#endif
