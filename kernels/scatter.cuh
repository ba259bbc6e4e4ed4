// scatter: += and -= through tables with equal entries, with the same bits on every run. A thread has one element of
// the output; neighboring threads have neighbors in memory.
#pragma once

#include "scatter_rows.hpp"

constexpr int scatter_threads = 256;

extern "C" __global__ void __launch_bounds__(scatter_threads)
    ricci_scatter(const __grid_constant__ scatter_arguments a) {
    wait_for_stream();
    long long x[at_least_one(axis_count)] = {};
    const long long item = block_number() * scatter_threads + threadIdx.x;
    if (item >= a.rows * a.tree.work_items) return; // work_items: combinations of the free axes
    const long long behind = unflatten_free<0, nearer_axis_count>(a.tree, item, x);
    unflatten_free<nearer_axis_count, free_axis_count>(a.tree, behind / a.rows, x);
    const row_of_inverse row = row_at(a, behind % a.rows);
    if (changes_element(a, row)) add_to_element(a, row, x);
}
