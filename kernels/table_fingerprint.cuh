// table_fingerprint: a number that changes with the entries of an index table: the sum, in any order, of what each
// entry and its number give. Constants: axis_count, entry_type (index_table.hpp's codes).
#pragma once

#include "index_table.hpp"

struct arguments {
    const void* table;
    unsigned long long* sum; ///< zero before
    long long entries;
    long long extent[axis_count > 0 ? axis_count : 1];
    long long stride[axis_count > 0 ? axis_count : 1];
};

constexpr int fingerprint_threads = 256, entries_of_thread = 16;

/// As runtime/table_fingerprint.cpp's.
RICCI_FUNCTION unsigned long long mixed(unsigned long long entry, unsigned long long number) {
    const unsigned long long a = entry ^ 0xa0761d6478bd642full, b = (number + 1) * 0x9e3779b97f4a7c15ull | 1;
    return high_product(a, b) ^ (a * b);
}

RICCI_FUNCTION long long offset_of(const arguments& a, long long number) {
    long long offset = 0;
    RICCI_UNROLL
    for (int axis = 0; axis < axis_count; ++axis) {
        offset += number % a.extent[axis] * a.stride[axis];
        number /= a.extent[axis];
    }
    return offset;
}

extern "C" __global__ void __launch_bounds__(fingerprint_threads)
    ricci_table_fingerprint(const __grid_constant__ arguments a) {
    wait_for_stream();
    const long long first = block_number() * fingerprint_threads * entries_of_thread + threadIdx.x;
    unsigned long long sum = 0;
    for (int e = 0; e < entries_of_thread; ++e) {
        const long long number = first + e * fingerprint_threads;
        if (number >= a.entries) break;
        sum += mixed(static_cast<unsigned long long>(table_entry<entry_type>(a.table, offset_of(a, number))), number);
    }
    RICCI_UNROLL
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    if (threadIdx.x % 32 == 0) atomicAdd(a.sum, sum);
}
