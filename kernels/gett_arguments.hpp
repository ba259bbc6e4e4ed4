// gett_arguments: what the kernels for products of any axes are given of padded positions, beside product.hpp's
// arguments. Constants: bound_count and bound_side[]: 1 for X's padded positions, 2 for Y's.
#pragma once

#include "product.hpp"

constexpr int side_axes = m_axes > n_axes ? m_axes : n_axes;

/// product.hpp's, and of each padded position: offset + the sum of step*axis is in [0, extent).
struct gett_arguments : arguments {
    long long bound_offset[at_least_one(bound_count)];
    long long bound_extent[at_least_one(bound_count)];
    long long bound_step[at_least_one(bound_count)][at_least_one(side_axes)]; ///< along X's rows, or Y's columns
    long long bound_sum_step[at_least_one(bound_count)][at_least_one(k_axes)];
    long long bound_batch_step[at_least_one(bound_count)][at_least_one(batch_axes)];
};

/// Padded positions' values at the first row, column and step of product `number` of the batch.
RICCI_FUNCTION void find_bounds(const gett_arguments& a, long long number,
                                long long (&here)[at_least_one(bound_count)]) {
    RICCI_UNROLL
    for (int b = 0; b < bound_count; ++b) here[b] = a.bound_offset[b];
    each_batch_axis(a, number, [&](int axis, long long at) {
        RICCI_UNROLL
        for (int b = 0; b < bound_count; ++b) here[b] += at * a.bound_batch_step[b][axis];
    });
}

RICCI_FUNCTION long long count_along(const long long* lengths, int axes) {
    long long count = 1;
    RICCI_UNROLL
    for (int axis = 0; axis < axes; ++axis) count *= lengths[axis];
    return count;
}
RICCI_FUNCTION int at_most(long long count, int limit) { return count < limit ? static_cast<int>(count) : limit; }
