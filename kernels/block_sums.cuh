// block_sums: C from sums that slices of a block, and blocks of a launch, have each of their own: added up in a fixed order.
//
// Constants: product.hpp's, and
//   threads_per_block
//   slices             of a block, each with sums of all of C
#pragma once

#include "grid_meeting.cuh"
#include "product.hpp"

constexpr int c_elements = static_cast<int>(m * n);

RICCI_FUNCTION constexpr int power_of_two_within(int n) { return n < 2 ? 1 : 2 * power_of_two_within(n / 2); }

/// The sum over the slices of each element, sums[slice][element], in the order of slices: threads that C leaves idle add up parts of them.
template <class Take> RICCI_FUNCTION void add_slices(compute* sums, const Take& take) {
    constexpr int idle = power_of_two_within(threads_per_block / c_elements), wanted = power_of_two_within(slices / 4);
    constexpr int parts = idle < wanted ? idle : wanted < 16 ? wanted : 16, length = (slices + parts - 1) / parts;
    const auto sum_of = [&](int element, int first, int count, int step) {
        compute sum = sums[first * c_elements + element];
        RICCI_UNROLL_4
        for (int s = 1; s < count; ++s) sum += sums[(first + s * step) * c_elements + element];
        return sum;
    };
    if constexpr (parts > 1) {
        const int part = threadIdx.x / c_elements, element = threadIdx.x % c_elements, first = part * length;
        if (part < parts && first < slices) sums[first * c_elements + element] = sum_of(element, first, slices - first < length ? slices - first : length, 1);
        __syncthreads();
    }
    constexpr int left = parts > 1 ? (slices + length - 1) / length : slices, apart = parts > 1 ? length : 1;
    RICCI_UNROLL_ONCE
    for (int e = threadIdx.x; e < c_elements; e += threads_per_block) take(e % static_cast<int>(m), e / static_cast<int>(m), sum_of(e, 0, left, apart));
}

/// C from the blocks' sums, sums[block][element]: some elements at a time, as many as make whole sectors of memory or give each block
/// some, by as many rows of threads as there are, which then halve.
RICCI_FUNCTION void add_blocks(const arguments& a, const compute* sums, compute* memory, const grid_share& share) {
    constexpr int sector = 32 / static_cast<int>(sizeof(compute)), spread = power_of_two_within((c_elements + 127) / 128 * 2 - 1);
    constexpr int width = sector > spread ? sector : spread < 32 ? spread : 32, rows = power_of_two_within(threads_per_block / width);
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
        if (row == 0 && e < c_elements) store_c(a, c_offset(a, e % static_cast<int>(m), e / static_cast<int>(m)), memory[at]);
    }
}
