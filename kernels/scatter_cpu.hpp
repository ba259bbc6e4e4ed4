// scatter, for a CPU: += and -= through tables with equal entries, with the same bits for every number of threads. A
// work item is row_part rows of the inverse for one combination of the outer free axes. Where a free axis is nearest
// in memory, inner_tile numbers along it are added up side by side; else one by one.
// Constants: scatter_rows.hpp's, row_part, inner_tile (0: no such axis), and inner_is_tile: whether it is that axis's
// extent.
#pragma once

#include "scatter_rows.hpp"
#include "unrolled.hpp"

constexpr int first_outer_axis = inner_tile > 0 ? 1 : 0;

/// Adds entries [begin, end) to `count` elements along the innermost axis from `first` on, or to sums for them.
template <bool AreElements, class Count>
RICCI_FUNCTION void add_entries(const scatter_arguments& a, long long begin, long long end, long long* x,
                                long long first, Count count, compute* sums) {
    constexpr int axis = free_axis[0];
    for (long long entry = begin; entry < end; ++entry) {
        go_to_entry(a, entry, x);
        for (int t = 0; t < count; ++t) {
            x[axis] = first + t;
            sums[t] = with<AreElements>(sums[t], contribution(a, x));
        }
    }
}

/// `count` elements of a row along the innermost axis, inner_tile at most, from `first` on.
template <class Count>
RICCI_FUNCTION void add_neighbors(const scatter_arguments& a, const row_of_inverse& row, long long* x, long long first,
                                  Count count) {
    constexpr int axis = free_axis[0];
    const auto element = [&](int t) -> element_of_output& {
        x[axis] = first + t;
        return *element_of_row(a, row, x);
    };
    compute totals[at_least_one(inner_tile)];
    for (int t = 0; t < count; ++t) totals[t] = old_number(a, element(t));
    if (is_one_piece(row)) {
        add_entries<true>(a, row.begin, row.end, x, first, count, totals);
    } else {
        const long long piece = piece_length(row.end - row.begin);
        compute sums[at_least_one(inner_tile)], parts[at_least_one(inner_tile)];
        for (int t = 0; t < count; ++t) sums[t] = from_real<compute>(0, 0);
        for (long long begin = row.begin; begin < row.end; begin += piece) {
            for (int t = 0; t < count; ++t) parts[t] = from_real<compute>(0, 0);
            add_entries<false>(a, begin, row.end - begin < piece ? row.end : begin + piece, x, first, count, parts);
            for (int t = 0; t < count; ++t) sums[t] += parts[t];
        }
        for (int t = 0; t < count; ++t) totals[t] = with<true>(totals[t], sums[t]);
    }
    for (int t = 0; t < count; ++t) element(t) = store_as<element_of_output>(totals[t]);
}

RICCI_FUNCTION void add_row(const scatter_arguments& a, const row_of_inverse& row, long long* x) {
    if constexpr (inner_is_tile) {
        add_neighbors(a, row, x, 0, constant<inner_tile>());
    } else if constexpr (inner_tile > 0) {
        const long long length = extent<free_axis[0]>(a.tree);
        long long first = 0;
        for (; length - first >= inner_tile; first += inner_tile)
            add_neighbors(a, row, x, first, constant<inner_tile>());
        if (first < length) add_neighbors(a, row, x, first, static_cast<int>(length - first));
    } else {
        add_to_element(a, row, x);
    }
}

/// Rows [first, last), whose keys are their numbers or in a list.
template <bool HasKeys>
RICCI_FUNCTION void add_rows(const scatter_arguments& a, long long* x, long long first, long long last) {
    long long begin = begin_of_row(a, first);
    for (long long r = first; r < last; ++r) {
        const long long end = begin_of_row(a, r + 1);
        const row_of_inverse row{begin, end, HasKeys ? table_entry<key_type>(a.keys, r) : r};
        if (changes_element(a, row)) add_row(a, row, x);
        begin = end;
    }
}

extern "C" void ricci_scatter(const void* words, long long first, long long last) {
    const scatter_arguments& a = *static_cast<const scatter_arguments*>(words);
    long long x[at_least_one(axis_count)] = {};
    const long long parts = (a.rows + row_part - 1) / row_part;
    for (long long item = first; item < last; ++item) {
        unflatten_free<first_outer_axis, free_axis_count>(a.tree, item / parts, x);
        const long long begin = item % parts * row_part, end = a.rows - begin < row_part ? a.rows : begin + row_part;
        if (a.keys == nullptr) add_rows<false>(a, x, begin, end);
        else add_rows<true>(a, x, begin, end);
    }
}
