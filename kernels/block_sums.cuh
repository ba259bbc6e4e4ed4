// block_sums: C from sums that slices of a block, and blocks of a launch, have each of their own: added up in a fixed
// order.
//
// Constants: product.hpp's, and
//   threads_per_block
//   slices             of a block, each with sums of all of C
//   added_at_once      elements of C that a block adds up over the blocks at a time
//   sums_offset        bytes from the start of the workspace, where the blocks meet, to their sums
#pragma once

#include "grid_meeting.cuh"
#include "product.hpp"

/// The steps of the sum that are a block's own, whole units of them but for the end.
struct own_steps {
    long long first, last;
};
RICCI_FUNCTION own_steps steps_of_block(const arguments& a, long long block, int unit) {
    const long long length = a.k_length[0], units = (length + unit - 1) / unit;
    const long long first = units * block / a.blocks * unit, last = units * (block + 1) / a.blocks * unit;
    return {first, last < length ? last : length};
}

constexpr int c_elements = static_cast<int>(m * n);

RICCI_FUNCTION constexpr int power_of_two_within(int n) { return n < 2 ? 1 : 2 * power_of_two_within(n / 2); }

/// The sum over the slices of each element, sums[slice][element], in the order of slices: threads that C leaves idle
/// add up parts of them.
template <class Take> RICCI_FUNCTION void add_slices(compute* sums, const Take& take) {
    constexpr int idle = power_of_two_within(threads_per_block / c_elements),
                  wanted = power_of_two_within(slices / 4);
    constexpr int parts = idle < wanted ? idle : wanted < 16 ? wanted : 16, length = (slices + parts - 1) / parts;
    const auto sum_of = [&](int element, int first, int count, int step) {
        compute sum = sums[first * c_elements + element];
        RICCI_UNROLL_4
        for (int s = 1; s < count; ++s) sum += sums[(first + s * step) * c_elements + element];
        return sum;
    };
    if constexpr (parts > 1) {
        const int part = threadIdx.x / c_elements, element = threadIdx.x % c_elements, first = part * length;
        if (part < parts && first < slices)
            sums[first * c_elements + element] =
                sum_of(element, first, slices - first < length ? slices - first : length, 1);
        __syncthreads();
    }
    constexpr int left = parts > 1 ? (slices + length - 1) / length : slices, apart = parts > 1 ? length : 1;
    RICCI_UNROLL_ONCE
    for (int e = threadIdx.x; e < c_elements; e += threads_per_block)
        take(e % static_cast<int>(m), e / static_cast<int>(m), sum_of(e, 0, left, apart));
}

/// C from the blocks' sums, sums[block][element]: some elements at a time, by as many rows of threads as there are,
/// which then halve.
RICCI_FUNCTION void add_blocks(const arguments& a, const compute* sums, compute* memory, const grid_share& share) {
    constexpr int width = added_at_once, rows = power_of_two_within(threads_per_block / width);
    const int row = threadIdx.x / width, at = threadIdx.x % width;
    RICCI_UNROLL_ONCE
    for (long long first = share.first * width; first < c_elements; first += share.step * width) {
        const int e = static_cast<int>(first) + at;
        compute sum = from_real<compute>(0, 0);
        if (row < rows && e < c_elements) {
            RICCI_UNROLL_4
            for (int b = row; b < static_cast<int>(a.blocks); b += rows) sum += sums[b * c_elements + e];
        }
        __syncthreads(); // what was in shared memory has been read
        if (row < rows) memory[row * width + at] = sum;
        RICCI_UNROLL_ONCE
        for (int half = rows / 2; half > 0; half /= 2) {
            __syncthreads();
            if (row < half) memory[row * width + at] += memory[(row + half) * width + at];
        }
        if (row == 0 && e < c_elements)
            store_c(a, c_offset(a, e % static_cast<int>(m), e / static_cast<int>(m)), memory[at]);
    }
}

/// By all threads, when the slices' sums lie in shared memory, sums[slice][element]. correct(i, j, sum): the block's
/// own sum, where its slices' is not right.
template <class Correct>
RICCI_FUNCTION void add_to_c(const arguments& a, long long block, compute* of_slices, const Correct& correct) {
    __syncthreads();
    compute* const of_blocks = reinterpret_cast<compute*>(static_cast<unsigned char*>(a.workspace) + sums_offset);
    add_slices(of_slices, [&](int i, int j, compute sum) {
        sum = correct(i, j, sum);
        if (a.blocks == 1) store_c(a, c_offset(a, i, j), sum);
        else of_blocks[block * c_elements + j * static_cast<int>(m) + i] = sum;
    });
    constexpr int waiting = (c_elements + added_at_once - 1) / added_at_once;
    if (a.blocks > 1)
        add_blocks(a, of_blocks, of_slices,
                   meet_grid(static_cast<unsigned long long*>(a.workspace), a.launch, block, a.blocks, waiting));
}

/// What multiply-adds give where the tensor cores' products of split numbers made NaN.
RICCI_FUNCTION compute sum_of_steps(const arguments& a, const own_steps& own, int i, int j) {
    return dot_in_global(a, static_cast<const x_element*>(a.x), static_cast<const y_element*>(a.y), i, j, own.first,
                         own.last);
}
