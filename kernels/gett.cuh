// gett: any product of two operands, however many axes its sides and its sum have and wherever these lie, and with
// padded operands: convolutions among them, which are matrix products whose rows are pixels and whose sum runs over
// filter places and channels ("implicit GEMM", Chetlur et al., "cuDNN: Efficient primitives for deep learning",
// 2014). Nothing is copied to memory: elements are found where they are on their way into shared memory. The CPU's
// twin is gett_cpu.hpp.
//
// A block has rows_of_block by columns_of_block elements of one product's C, whose sums stay in registers, and goes
// along the sum by panels of k_panel steps, of which some are under way while one is multiplied.
//
// Constants: product.hpp's, where all that a tensor's size decides comes in the arguments, so that one kernel serves
// many; gett_panels.cuh's, batched_fma.cuh's or batched_mma.cuh's, and
//   core               which of the two multiplies
//   stages             panels that shared memory holds
//   stage_bytes        of a panel of X and Y, a multiple of 128
//   places_bytes       of shared memory behind the stages
//   blocks_of_an_sm
//   sums_apart         whether each panel is summed apart and added by an addition: a tensor core cuts off what does not
//                      fit a sum of its own, three times a product for f32; and the error of long sums grows with the
//                      root of their panels
#pragma once

#include "batched_tiles.cuh"
#include "gett_panels.cuh"

/// The block's rows and columns in C.
struct block_of_c {
    long long rows[rows_of_block], columns[columns_of_block];

    RICCI_FUNCTION void fill(const arguments& a, long long first_row, int row_count, long long first_column,
                             int column_count) {
        for (int i = threadIdx.x; i < row_count; i += threads_per_block) {
            rows[i] = 0;
            each_axis(static_cast<unsigned>(first_row + i), m_axes, a.m_length,
                      [&](int axis, int at) { rows[i] += at * a.m_step[0][axis]; });
        }
        for (int j = threadIdx.x; j < column_count; j += threads_per_block) {
            columns[j] = 0;
            each_axis(static_cast<unsigned>(first_column + j), n_axes, a.n_length,
                      [&](int axis, int at) { columns[j] += at * a.n_step[0][axis]; });
        }
    }
};

/// Adds the product of a panel of X and one of Y.
template <class Tile>
RICCI_FUNCTION void add_panels(Tile& sums, int number, const x_element* x, const y_element* y) {
    if constexpr (sums_apart) {
        Tile own(number);
        own.template add<k_panel>(x, y);
        sums.add_sums(own);
    } else {
        sums.template add<k_panel>(x, y);
    }
}

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_an_sm)
    ricci_gett(const __grid_constant__ gett_arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    using tile = typename tile_of<core>::type;
    static_assert(tile::count * tile::threads == threads_per_block, "every thread has one tile");
    static_assert(sizeof(block_places) <= places_bytes && sizeof(block_of_c) <= stages * stage_bytes);
    const long long all_rows = count_along(a.m_length, m_axes), all_columns = count_along(a.n_length, n_axes),
                    steps = count_along(a.k_length, k_axes);
    const long long column_blocks = (all_columns + columns_of_block - 1) / columns_of_block,
                    row_blocks = (all_rows + rows_of_block - 1) / rows_of_block;
    const long long block = block_number(), product = block / (row_blocks * column_blocks);
    if (product >= a.products) return;
    // Neighboring blocks share their rows of X.
    const long long first_row = block / column_blocks % row_blocks * rows_of_block,
                    first_column = block % column_blocks * columns_of_block;
    const batch_places in = places_of(a, product);
    long long bounds_here[at_least_one(bound_count)];
    find_bounds(a, product, bounds_here);

    auto& places = *reinterpret_cast<block_places*>(memory + stages * stage_bytes);
    for (int i = threadIdx.x; i < rows_of_block; i += threads_per_block)
        places.rows[i] = place_of_line<1>(a, bounds_here, first_row + i, all_rows);
    for (int j = threadIdx.x; j < columns_of_block; j += threads_per_block)
        places.columns[j] = place_of_line<2>(a, bounds_here, first_column + j, all_columns);
    places.find_steps(a, 0, steps);
    __syncthreads();

    gett_panels<1, x_element> x(a, in.x, places.rows);
    gett_panels<2, y_element> y(a, in.y, places.columns);
    const int number = static_cast<int>(threadIdx.x) / tile::threads;
    tile sums(number);
    const int panels = static_cast<int>((steps + k_panel - 1) / k_panel);
    RICCI_UNROLL_ONCE
    for (int p = 1 - stages; p < panels; ++p) { // below 0 panels are only asked for
        if (p >= 0) wait_async_copies<stages - 2>();
        __syncthreads(); // the panel is here for all, and all are done with the one before
        const int next = p + stages - 1;
        unsigned char* const into = memory + next % stages * stage_bytes;
        if (next < panels) x.start(into, places.x_steps_of(next)), y.start(into, places.y_steps_of(next));
        commit_async_copies();
        if (next + 1 < panels && places.begins_turn(next + 1)) places.find_steps(a, places.turn_of(next + 1), steps);
        if (p >= 0) {
            const unsigned char* const stage = memory + p % stages * stage_bytes;
            add_panels(sums, number, reinterpret_cast<const x_element*>(stage + region[1]),
                       reinterpret_cast<const y_element*>(stage + region[2]));
        }
        if (next < panels) x.finish(into), y.finish(into);
    }

    __syncthreads();
    auto& c = *reinterpret_cast<block_of_c*>(memory);
    const int rows = at_most(all_rows - first_row, rows_of_block),
              columns = at_most(all_columns - first_column, columns_of_block);
    c.fill(a, first_row, rows, first_column, columns);
    __syncthreads();
    sums.finish(
        [&](int i, int j, compute sum) {
            if (i < rows && j < columns) update(a, in.c[c.rows[i] + c.columns[j]], sum);
        },
        [&](int i, int j) { return padded_dot(a, in, places.rows[i], places.columns[j], steps); });
}
