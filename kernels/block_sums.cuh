// block_sums: C (+)= alpha times the sums that the blocks of tall_skinny_atb left, added up in a fixed order: the
// kernel that runs behind it, with the same arguments. A block has some elements of C, and rows of threads for each
// of them, each row some of the blocks; rows then halve.
//
// A launch of its own takes 1 to 1.5 us behind another (ptx.cuh, wait_for_stream). Blocks that meet within one
// launch, by flags in memory, took 2.7 us, and 4.5 where several wait, which wants a cooperative launch (H200).
// Constants: product.hpp's, and
//   threads_per_block
//   columns            elements of C that a block adds up, a power of two
#pragma once

#include "product.hpp"

extern "C" __global__ void __launch_bounds__(threads_per_block)
    ricci_block_sums(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    constexpr int c_elements = static_cast<int>(m * n), rows = threads_per_block / columns, at_once = 16;
    const int row = threadIdx.x / columns, column = threadIdx.x % columns,
              e = static_cast<int>(block_number()) * columns + column, blocks = static_cast<int>(a.blocks);
    const compute* const of_blocks = static_cast<const compute*>(a.workspace);
    compute* const of_rows = reinterpret_cast<compute*>(memory);
    compute sum = from_real<compute>(0, 0);
    RICCI_UNROLL_ONCE
    for (int first = row; first < blocks && e < c_elements; first += at_once * rows) {
        compute own[at_once]; // all asked for before the first is added
        RICCI_UNROLL
        for (int t = 0; t < at_once; ++t) {
            const int block = first + t * rows;
            own[t] = block < blocks ? of_blocks[static_cast<long long>(block) * c_elements + e]
                                    : from_real<compute>(0, 0);
        }
        RICCI_UNROLL
        for (int t = 0; t < at_once; ++t) sum += own[t];
    }
    of_rows[row * columns + column] = sum;
    RICCI_UNROLL_ONCE
    for (int half = rows / 2; half > 0; half /= 2) {
        __syncthreads();
        if (row < half) of_rows[row * columns + column] += of_rows[(row + half) * columns + column];
    }
    if (row == 0 && e < c_elements)
        store_c(a, c_offset(a, e % static_cast<int>(m), e / static_cast<int>(m)), of_rows[column]);
}
