// chain_additions_cpu: what a chain on one thread adds through tables at once, instead of storing the numbers for a
// second pass: the thread goes through elements, and each element's numbers, in the order of that pass, whose bits it
// gives. (Where each row of the table's inverse is one piece: scatter_rows.hpp.)
//
// Constants:
//   addition_count, addition_from[] (the span), addition_to[] (the memory), addition_subtracts[], addition_offset[]
//   (in the span's slice), addition_axes[], addition_extent[][], addition_from_stride[][], addition_to_stride[][]
//   addition_first_table[], addition_tables[], of addition_table_memory[], addition_table_factor[] (elements that an
//   entry counts), addition_table_stride[][]
#pragma once

#include "chain_tables.hpp"

/// The addition of a span's numbers; -1: none.
template <int M, int N = 0> RICCI_FUNCTION constexpr int addition_of() {
    if constexpr (N == addition_count) return -1;
    else if constexpr (addition_from[N] == M) return N;
    else return addition_of<M, N + 1>();
}

/// Where an element's entries are, of each table.
template <int N> struct entry_places {
    long long at[at_least_one(addition_tables[N])];

    template <int Axis> RICCI_FUNCTION entry_places along(int x) const {
        entry_places out;
        RICCI_IN_REGISTERS
        for (int t = 0; t < addition_tables[N]; ++t)
            out.at[t] = at[t] + addition_table_stride[addition_first_table[N] + t][Axis] * x;
        return out;
    }
    template <int Table = 0> RICCI_FUNCTION long long offset(const arguments& a) const {
        if constexpr (Table == addition_tables[N]) return 0;
        else {
            constexpr int number = addition_first_table[N] + Table, memory = addition_table_memory[number];
            return table_entry<memory_type[memory]>(a.data[memory], at[Table]) * addition_table_factor[number] +
                   offset<Table + 1>(a);
        }
    }
};

/// Along the axes up to Axis, the first fastest.
template <int N, int Axis>
RICCI_FUNCTION void add_along(const arguments& a, const compute* from, compute* to, const entry_places<N>& entries) {
    if constexpr (Axis < 0) {
        compute& element = to[entries.offset(a)];
        element = addition_subtracts[N] ? element - *from : element + *from;
    } else {
        for (int x = 0; x < addition_extent[N][Axis]; ++x)
            add_along<N, Axis - 1>(a, from + addition_from_stride[N][Axis] * x, to + addition_to_stride[N][Axis] * x,
                                   entries.template along<Axis>(x));
    }
}

/// Adds what a block's span holds, as slices first, which the elements' order wants.
template <int N, class Span> RICCI_FUNCTION void add_at_once(const arguments& a, const Span& span, long long first) {
    alignas(64) static thread_local compute memory[lanes * Span::step];
    compute* const slices = anchored(memory); // as the chain's own memory: found once
    const Span here{slices, span.vectors, span.elements};
    here.store();
    for (int l = 0; l < span.elements; ++l) {
        const long long element = first + l;
        entry_places<N> entries;
        for (int t = 0; t < addition_tables[N]; ++t)
            entries.at[t] = element * a.element_step[addition_table_memory[addition_first_table[N] + t]];
        add_along<N, addition_axes[N] - 1>(a, slices + l * Span::step + addition_offset[N],
                                           static_cast<compute*>(a.data[addition_to[N]]) +
                                               element * a.element_step[addition_to[N]],
                                           entries);
    }
}
