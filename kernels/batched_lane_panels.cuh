// batched_lane_panels: products that lie interleaved, the batch fastest in memory, and are too large for a thread:
// neighboring lanes take neighboring products, X and Y stream through shared memory in panels of k, each thread
// computes a tile of one product in registers, and C is read and written from there. batched_lanes takes products
// that a thread can hold.
//
// A block has `products_per_block` neighbors, at least 64 bytes of each element, and all of C or a part of it: then
// blocks beside one another read the same X or Y at about the same time, once from memory and again from the L2
// cache. Lanes that are neighbors read neighbors in shared memory, or the same element: no bank is asked for twice.
// Constants: product.hpp's, lane_stream.cuh's, and
//   tile_m, tile_n     elements a thread; its rows are row_threads apart, its columns column_threads
//   row_blocks, column_blocks   parts of C, each rows_of_block x columns_of_block
//   stages             panels that shared memory holds, but none twice
//   stage_bytes        bytes of a stage
//   k_unrolled         steps of the sum unrolled at once
//   blocks_of_an_sm    that fit it together
#pragma once

#include "lane_stream.cuh"

constexpr int row_threads = (rows_of_block + tile_m - 1) / tile_m,
              column_threads = (columns_of_block + tile_n - 1) / tile_n;

/// Reads a thread's elements of X (O: 1) or Y (2), the lines of Tile rows or columns `Apart` apart. What it adds to a
/// step's address is constant but for the shifts, which are those of the first row at an even step, or the same
/// changed by 2.
template <int O, class Element, int Tile, int Apart> class lane_reader {
    using stream = lane_stream<O, Element>;
    static constexpr int kinds = stream::shifts ? 2 : 1;

  public:
    RICCI_FUNCTION lane_reader(const stream& s, int first, int lane) {
        const int at = region[O] + first * pitch[O] + (for_all[O] ? 0 : lane * static_cast<int>(sizeof(Element)));
        RICCI_UNROLL
        for (int line = 0; line < kinds; ++line)
            RICCI_UNROLL
            for (int step = 0; step < kinds; ++step) at_[line][step] = at + s.shift(first + line * Apart, step);
    }

    RICCI_FUNCTION compute load(const unsigned char* stage, int step, int t) const {
        const unsigned char* const line =
            stage + at_[t % kinds][step % kinds] + (t * Apart + step * lines[O]) * pitch[O];
        const Element* const element = reinterpret_cast<const Element*>(line);
        return O == 1 ? load_x(element, 0) : load_y(element, 0);
    }

  private:
    int at_[kinds][kinds];
};

/// Whether all tiles of all blocks end where C does.
constexpr bool is_even = rows_of_block % tile_m == 0 && columns_of_block % tile_n == 0 &&
                         row_blocks * rows_of_block == m && column_blocks * columns_of_block == n;

/// f(r, s, that element of C, whether it is the thread's own) for `Columns` of a thread's columns, or as many as are
/// left of its tile and of C; what is not its own is its last row's. Addresses are computed anew for each call: kept
/// over the sums, they would take their registers, as would predicates of loads.
template <int Columns, class F>
RICCI_FUNCTION void for_tile(c_element* first, long long row_step, long long column_step, int left, int own_rows,
                             int own_columns, const F& f) {
    const long long down = as_if_new(row_step), along = as_if_new(column_step);
    if (own_rows <= 0) return;
    RICCI_UNROLL
    for (int s = 0; s < Columns; ++s, first += along)
        if (s < left && (is_even || s < own_columns)) {
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r) {
                const bool is_own = is_even || r < own_rows;
                f(r, s, first[(is_own ? r : own_rows - 1) * down], is_own);
            }
        }
}

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_an_sm)
    ricci_batched_lane_panels(const __grid_constant__ arguments a) {
    RICCI_SHARED(memory);
    constexpr int panels = static_cast<int>((k + k_panel - 1) / k_panel);
    static_assert(threads_per_block == products_per_block * row_threads * column_threads, "a thread has one tile");
    static_assert(panels == 1 || k_panel % 2 == 0, "odd steps of a panel are odd steps of the sum");
    // Registers for C beside the sums, from the start; larger tiles read C at the end, a part at a time.
    constexpr int c_registers = (sizeof(c_element) + 3) / 4, together = 32 / (tile_m * c_registers);
    constexpr bool early = tile_m * tile_n * (static_cast<int>(sizeof(compute)) / 4 + c_registers) <= 64;
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
    const int lane = threadIdx.x % products_per_block, t = threadIdx.x / products_per_block, i0 = t / column_threads,
              j0 = t % column_threads;
    const long long row_step = m_offset(a, 0, 1), column_step = n_offset(a, 0, 1);
    c_element* const first_c =
        static_cast<c_element*>(a.c) + at.c + first_row * row_step + first_column * column_step;
    // Of the thread's tile, the rows and columns that exist.
    const int tile_rows = lane < own_products ? (own_rows - i0 + row_threads - 1) / row_threads : 0,
              tile_columns = (own_columns - j0 + column_threads - 1) / column_threads;
    const long long down = row_threads * row_step, along = column_threads * column_step;
    c_element* const tile_c = first_c + lane + i0 * row_step + j0 * column_step;
    c_element old[tile_m][columns_at_once];
    const auto read_c = [&](int first) {
        for_tile<columns_at_once>(tile_c + first * along, down, along, tile_n - first, tile_rows,
                                  tile_columns - first,
                                  [&](int r, int s, const c_element& element, bool) { old[r][s] = element; });
    };
    if constexpr (accumulate && !early) { // meanwhile it comes as far as the L2 cache
        constexpr int c_bytes = sizeof(c_element), chunks = (products_per_block * c_bytes + 127) / 128;
        RICCI_UNROLL_ONCE
        for (int e = threadIdx.x; e < own_rows * own_columns * chunks; e += threads_per_block) {
            const int product = e % chunks * 128 / c_bytes, element = e / chunks;
            if (product >= own_products) continue;
            prefetch_to_l2(first_c + product + element % own_rows * row_step + element / own_rows * column_step);
        }
    }

    const lane_reader<1, x_element, tile_m, row_threads> x_tile(x, i0, lane);
    const lane_reader<2, y_element, tile_n, column_threads> y_tile(y, j0, lane);
    compute sums[tile_m][tile_n];
    RICCI_UNROLL
    for (int r = 0; r < tile_m; ++r)
        RICCI_UNROLL
        for (int s = 0; s < tile_n; ++s) sums[r][s] = from_real<compute>(0, 0);
    RICCI_UNROLL_ONCE
    for (int p = 1 - stages; p < panels; ++p) { // below 0 panels are only asked for
        if (p >= 0) {
            if constexpr (accumulate && early)
                if (p == 0) read_c(0);
            wait_async_copies<stages - 2>();
            __syncthreads(); // the panel is here for all, and all are done with the one before
        }
        const int next = p + stages - 1;
        if (next < panels)
            x.load(memory + next % stages * stage_bytes, next), y.load(memory + next % stages * stage_bytes, next);
        commit_async_copies();
        if (p < 0) continue;
        const unsigned char* const stage = memory + p % stages * stage_bytes;
        RICCI_UNROLL_K
        for (int l = 0; l < k_panel; ++l) {
            compute xs[tile_m], ys[tile_n];
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r) xs[r] = x_tile.load(stage, l, r);
            RICCI_UNROLL
            for (int s = 0; s < tile_n; ++s) ys[s] = y_tile.load(stage, l, s);
            RICCI_UNROLL
            for (int r = 0; r < tile_m; ++r)
                RICCI_UNROLL
                for (int s = 0; s < tile_n; ++s) add_product(sums[r][s], xs[r], ys[s]);
        }
    }
    RICCI_UNROLL
    for (int first = 0; first < tile_n; first += columns_at_once) {
        // all before the first store, behind which the compiler would leave them
        if constexpr (accumulate && !early) read_c(first);
        for_tile<columns_at_once>(tile_c + first * along, down, along, tile_n - first, tile_rows,
                                  tile_columns - first, [&](int r, int s, c_element& element, bool is_own) {
                                      c_element value{};
                                      if constexpr (accumulate) value = old[r][s];
                                      update(a, value, sums[r][first + s]);
                                      if (is_own) element = value;
                                  });
    }
}
