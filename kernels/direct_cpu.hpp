// direct, for a CPU: any statement, right at any size. A work item is a row: all elements along the output's first
// axis.
// Constants: direct_tree.hpp's.
#pragma once

#include "direct_tree.hpp"

extern "C" void ricci_direct(const void* words, long long first, long long last) {
    const arguments& a = *static_cast<const arguments*>(words);
    long long x[at_least_one(axis_count)] = {};
    for (long long row = first; row < last; ++row) {
        if constexpr (left_axis_count == 0) {
            store(a, x, evaluate<node_count - 1>(a, x, alone{}));
        } else {
            unflatten<1>(a, row, x);
            const long long length = extent<0>(a);
            // No iteration reads what another writes: overlaps were resolved before.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
            for (long long i = 0; i < length; ++i) {
                x[0] = i;
                store(a, x, evaluate<node_count - 1>(a, x, alone{}));
            }
        }
    }
}
