// slice_sums: what blocks of a launch, each with a part of the steps, leave of a sum over all of them: the sums of a
// block's slices added up in a fixed order.
//
// Constants: product.hpp's, and
//   threads_per_block
//   slices             of a block, each with sums of all of C
#pragma once

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

/// By all threads, when the slices' sums lie in shared memory, sums[slice][element]: the block's own sums, to the
/// workspace, sums[block][element], where block_sums.cuh finds them; to C if there is but one block.
/// correct(i, j, sum): what is right where the slices' sums are not.
template <class Correct>
RICCI_FUNCTION void leave_sums(const arguments& a, long long block, compute* of_slices, const Correct& correct) {
    __syncthreads();
    compute* const of_blocks = static_cast<compute*>(a.workspace);
    add_slices(of_slices, [&](int i, int j, compute sum) {
        sum = correct(i, j, sum);
        if (a.blocks == 1) store_c(a, c_offset(a, i, j), sum);
        else of_blocks[block * c_elements + j * static_cast<int>(m) + i] = sum;
    });
}

/// What multiply-adds give where the tensor cores' products of split numbers made NaN.
RICCI_FUNCTION compute sum_of_steps(const arguments& a, const own_steps& own, int i, int j) {
    return dot_in_global(a, static_cast<const x_element*>(a.x), static_cast<const y_element*>(a.y), i, j, own.first,
                         own.last);
}
