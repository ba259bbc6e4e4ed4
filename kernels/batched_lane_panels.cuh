// batched_lane_panels: products that lie interleaved, the batch fastest in memory, and are too large for a thread:
// neighboring lanes take neighboring products, X and Y stream through shared memory in panels of k, each thread
// computes a tile of one product, or the same tile of a few neighbors, in registers, and C is read and written from
// there. batched_lanes takes products that a thread can hold; batched_lane_ring and batched_lane_shifts, from sm_90
// on, those of one batch axis where X and Y have matrices of their own.
//
// A block has `products_per_block` neighbors and all of C or a part of it. What it reads and writes at once, a line,
// is one element of its neighbors: an H100's memory gives 0.55 of its rate by lines of 64 bytes, 0.87 of 128 and 0.93
// of 256. So a block has as many neighbors as make long lines, and no more of C than its registers hold: then blocks
// beside one another read the same X or Y at about the same time, once from memory and again from the L2 cache. Lanes
// that are neighbors read neighbors in shared memory, or the same element: no bank is asked for twice. Two 2-byte
// elements are one word, of shared memory and of C.
//
// Constants: product.hpp's, lane_stream.cuh's, and
//   products_per_thread    neighbors
//   tile_m, tile_n     elements of each product a thread; its rows are row_threads apart, its columns column_threads
//   row_blocks, column_blocks   parts of C, each rows_of_block x columns_of_block
//   stages             panels that shared memory holds, but none twice
//   stage_bytes        bytes of a stage
//   k_unrolled         steps of the sum unrolled at once
//   blocks_of_an_sm    that fit it together
#pragma once

#include "lane_stream.cuh"
#include "lane_sums.cuh"
#include "neighbors.cuh"

constexpr int row_threads = (rows_of_block + tile_m - 1) / tile_m,
              column_threads = (columns_of_block + tile_n - 1) / tile_n;
constexpr int lanes_of_block = products_per_block / products_per_thread;
constexpr int panels = static_cast<int>((k + k_panel - 1) / k_panel);

/// Reads a thread's elements of X (O: 1) or Y (2), the lines of Tile rows or columns `Apart` apart. What it adds to a
/// step's address is constant but for the shifts of lines, if there are any, which are those of the first row at an
/// even step, or the same changed by 2.
template <int O, class Element, int Tile, int Apart, bool Shifted> class lane_reader {
    using stream = lane_stream<O, Element>;
    static constexpr bool shifts = Shifted && stream::shifts;
    static constexpr int kinds = shifts ? 2 : 1;

  public:
    RICCI_FUNCTION lane_reader(const stream& s, int first, int lane) {
        const int at = region[O] + first * pitch[O] +
                       (for_all[O] ? 0 : lane * products_per_thread * static_cast<int>(sizeof(Element)));
        RICCI_UNROLL
        for (int line = 0; line < kinds; ++line)
            RICCI_UNROLL
            for (int step = 0; step < kinds; ++step)
                at_[line][step] = at + (shifts ? s.shift(first + line * Apart, step) : 0);
    }

    /// Those of row (column) `t` of the tile, of all products of the thread.
    RICCI_FUNCTION void load(const unsigned char* stage, int step, int t, compute (&out)[products_per_thread]) const {
        const int at = shifts && step % 2 != 0 ? at_[t % kinds][kinds - 1] : at_[t % kinds][0];
        const Element* const first =
            reinterpret_cast<const Element*>(stage + at + (t * Apart + step * lines[O]) * pitch[O]);
        if constexpr (shifts) {
            RICCI_UNROLL
            for (int p = 0; p < products_per_thread; ++p) out[p] = number(first[p]);
        } else {
            const auto all = load_neighbors < Element, for_all[O] ? 1 : products_per_thread > (first);
            RICCI_UNROLL
            for (int p = 0; p < products_per_thread; ++p) out[p] = number(all.at(for_all[O] ? 0 : p));
        }
    }

  private:
    static RICCI_FUNCTION compute number(Element e) {
        if constexpr (O == 1)
            return load_x(&e, 0);
        else
            return load_y(&e, 0);
    }

    int at_[kinds][kinds];
};

/// Whether all tiles of all blocks end where C does.
constexpr bool is_even = rows_of_block % tile_m == 0 && columns_of_block % tile_n == 0 &&
                         row_blocks * rows_of_block == m && column_blocks * columns_of_block == n;

/// A thread's tile of one or a few neighboring products, or what is left of it at the end of C.
struct tile_of_c {
    c_element* first;
    long long down, along; ///< from one row, one column to the thread's next
    int rows, columns;

    /// f(r, s, element, whether it is the thread's own) for `Columns` columns from `begin` on, or as many as there
    /// are; what is not its own is its last row's. Addresses are computed anew for each call: kept over the sums,
    /// they would take their registers, as would predicates of loads.
    template <int Columns, class F> RICCI_FUNCTION void each(int begin, const F& f) const {
        const long long step = as_if_new(down), next = as_if_new(along);
        if (rows <= 0) return;
        c_element* column = first + begin * next;
        RICCI_UNROLL
        for (int s = 0; s < Columns; ++s, column += next)
            if (begin + s < tile_n && (is_even || begin + s < columns)) {
                RICCI_UNROLL
                for (int r = 0; r < tile_m; ++r) {
                    const bool is_own = is_even || r < rows;
                    f(r, s, column + (is_own ? r : rows - 1) * step, is_own);
                }
            }
    }

    /// `Aligned`: by vectors; else of one product.
    template <bool Aligned, int Columns, int Neighbors>
    RICCI_FUNCTION void read(int begin, kept_neighbors<c_element, Neighbors> (&old)[tile_m][Columns]) const {
        each<Columns>(begin, [&](int r, int s, const c_element* c, bool) {
            if constexpr (Aligned)
                old[r][s] = load_neighbors<c_element, Neighbors>(c);
            else
                old[r][s].e[0] = *c;
        });
    }

    /// Of `Neighbors` products, from number `product` of the thread on.
    template <bool Aligned, int Columns, int Neighbors>
    RICCI_FUNCTION void update(const arguments& a, int begin, int product,
                               const kept_neighbors<c_element, Neighbors> (&old)[tile_m][Columns],
                               const lane_sums& sums) const {
        each<Columns>(begin, [&](int r, int s, c_element* c, bool is_own) {
            neighbors<c_element, Neighbors> values{};
            RICCI_UNROLL
            for (int e = 0; e < Neighbors; ++e) {
                if constexpr (accumulate) values.e[e] = old[r][s].at(e);
                ::update(a, values.e[e], sums[r][begin + s][product + e]);
            }
            if (!is_own) return;
            if constexpr (Aligned)
                store_neighbors(c, values);
            else
                *c = values.e[0];
        });
    }
};

/// Adds a panel's products. `Shifted`: lines may be, where they have 2-byte elements.
template <bool Shifted> RICCI_FUNCTION void add_panel(lane_sums& sums, const lane_stream<1, x_element>& x,
                                                      const lane_stream<2, y_element>& y, int i0, int j0, int lane,
                                                      const unsigned char* stage) {
    const lane_reader<1, x_element, tile_m, row_threads, Shifted> x_tile(x, i0, lane);
    const lane_reader<2, y_element, tile_n, column_threads, Shifted> y_tile(y, j0, lane);
    constexpr int k_unrolled =
        Shifted ? 1 : ::k_unrolled; // the rarer of two loops: unrolled, both would take NVRTC long
    RICCI_UNROLL_K
    for (int l = 0; l < k_panel; ++l) {
        compute xs[tile_m][products_per_thread], ys[tile_n][products_per_thread];
        RICCI_UNROLL
        for (int r = 0; r < tile_m; ++r) x_tile.load(stage, l, r, xs[r]);
        RICCI_UNROLL
        for (int s = 0; s < tile_n; ++s) y_tile.load(stage, l, s, ys[s]);
        add_lanes(sums, xs, ys);
    }
}

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_an_sm)
    ricci_batched_lane_panels(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    using c_neighbors = kept_neighbors<c_element, products_per_thread>;
    static_assert(threads_per_block == lanes_of_block * row_threads * column_threads, "a thread has one tile");
    static_assert(panels == 1 || k_panel % 2 == 0, "odd steps of a panel are odd steps of the sum");
    // Registers for C beside the sums, from the start; larger tiles read C at the end, a part at a time.
    constexpr int c_registers = (products_per_thread * static_cast<int>(sizeof(c_element)) + 3) / 4,
                  together = 32 / (tile_m * c_registers);
    constexpr bool early =
        tile_m * tile_n * (products_per_thread * static_cast<int>(sizeof(compute)) / 4 + c_registers) <= 64;
    constexpr int columns_at_once = early || together >= tile_n ? tile_n : together > 0 ? together : 1;

    long long group = block_number();
    if (group >= a.blocks) return;
    const int first_column = static_cast<int>(group % column_blocks) * columns_of_block;
    group /= column_blocks;
    const int first_row = static_cast<int>(group % row_blocks) * rows_of_block;
    group /= row_blocks;
    // A block's products are neighbors: they do not go on from one end of the first axis to the next beginning.
    const long long length = a.batch_length[0],
                    segments = batch_axes > 1 ? (length + products_per_block - 1) / products_per_block : a.blocks;
    const long long segment = batch_axes > 1 ? group % segments : group,
                    outer = batch_axes > 1 ? group / segments : 0;
    const long long left = length - segment * products_per_block;
    const int own_products = left < products_per_block ? static_cast<int>(left) : products_per_block;
    const int own_rows = m - first_row < rows_of_block ? static_cast<int>(m) - first_row : rows_of_block;
    const int own_columns =
        n - first_column < columns_of_block ? static_cast<int>(n) - first_column : columns_of_block;
    const batch_offsets at = offsets_of(a, outer * length + segment * products_per_block);
    const lane_stream<1, x_element> x(a, static_cast<const x_element*>(a.x) + at.x + m_offset(a, 1, first_row),
                                      own_rows, own_products, segment > 0);
    const lane_stream<2, y_element> y(a, static_cast<const y_element*>(a.y) + at.y + n_offset(a, 1, first_column),
                                      own_columns, own_products, segment > 0);
    // Neighbors in shared memory are columns, of Y, for lanes that have the same product too.
    const int lane = threadIdx.x % lanes_of_block, t = threadIdx.x / lanes_of_block, i0 = t / column_threads,
              j0 = t % column_threads;
    const long long row_step = m_offset(a, 0, 1), column_step = n_offset(a, 0, 1);
    c_element* const first_c =
        static_cast<c_element*>(a.c) + at.c + first_row * row_step + first_column * column_step;
    // Of the thread's tile, the products, rows and columns that exist.
    const int tile_products = own_products - lane * products_per_thread;
    const int tile_rows = tile_products > 0 ? (own_rows - i0 + row_threads - 1) / row_threads : 0,
              tile_columns = (own_columns - j0 + column_threads - 1) / column_threads;
    // Whether C comes and goes by vectors: numbers of one part, one a thread, always do.
    constexpr bool has_vectors = products_per_thread > 1 || real_part<c_element>::is_complex;
    const bool whole =
        tile_products >= products_per_thread &&
        (!has_vectors || have_aligned_lines<c_element, products_per_thread>(first_c, row_step | column_step));
    const tile_of_c tile{first_c + lane * products_per_thread + i0 * row_step + j0 * column_step,
                         row_threads * row_step, column_threads * column_step, tile_rows, tile_columns};
    c_neighbors old[tile_m][columns_at_once];
    // Meanwhile C comes as far as the L2 cache, a part with each panel.
    const auto prefetch_c = [&](int panel) {
        constexpr int all = rows_of_block * columns_of_block, part = (all + panels - 1) / panels;
        const int end = (panel + 1) * part < all ? (panel + 1) * part : all;
        RICCI_UNROLL_ONCE
        for (int e = panel * part + static_cast<int>(threadIdx.x); e < end; e += threads_per_block) {
            const int i = e % rows_of_block, j = e / rows_of_block;
            if (is_even || (i < own_rows && j < own_columns))
                prefetch_line_to_l2<products_per_block* static_cast<int>(sizeof(c_element))>(
                    first_c + i * row_step + j * column_step, own_products * static_cast<int>(sizeof(c_element)));
        }
    };
    lane_sums sums;
    clear_lanes(sums);
    RICCI_UNROLL_ONCE
    for (int p = 1 - stages; p < panels; ++p) { // below 0 panels are only asked for
        if (p >= 0) {
            if constexpr (accumulate && early)
                if (p == 0 && whole) tile.read<true>(0, old);
            wait_async_copies<stages - 2>();
            __syncthreads(); // the panel is here for all, and all are done with the one before
        }
        const int next = p + stages - 1;
        if (next < panels) {
            x.load(memory + next % stages * stage_bytes, next), y.load(memory + next % stages * stage_bytes, next);
            if constexpr (accumulate && !early) prefetch_c(next);
        }
        commit_async_copies();
        if (p < 0) continue;
        const unsigned char* const stage = memory + p % stages * stage_bytes;
        if (x.is_shifted() || y.is_shifted())
            add_panel<true>(sums, x, y, i0, j0, lane, stage);
        else
            add_panel<false>(sums, x, y, i0, j0, lane, stage);
    }
    // All of C that is read at once before the first store, behind which the compiler would leave it.
    if (whole) {
        RICCI_UNROLL
        for (int begin = 0; begin < tile_n; begin += columns_at_once) {
            if constexpr (accumulate && !early) tile.read<true>(begin, old);
            tile.update<true>(a, begin, 0, old, sums);
        }
    } else if constexpr (has_vectors) {
        RICCI_UNROLL
        for (int product = 0; product < products_per_thread; ++product) {
            if (product >= tile_products) return;
            const tile_of_c own{tile.first + product, tile.down, tile.along, tile.rows, tile.columns};
            RICCI_UNROLL
            for (int begin = 0; begin < tile_n; begin += columns_at_once) {
                kept_neighbors<c_element, 1> one[tile_m][columns_at_once];
                if constexpr (accumulate) own.read<false>(begin, one);
                own.update<false>(a, begin, product, one, sums);
            }
        }
    }
}
