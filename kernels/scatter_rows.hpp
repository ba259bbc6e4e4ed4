// scatter_rows: += and -= through tables with equal entries: what each element of the output gets, in the order of
// the tables; what scatter.cuh and scatter_cpu.hpp share. A short row is added to the element number by number, as a
// loop over the table would (a chain on one thread is such a loop, chain_additions_cpu.hpp); a longer one is added up
// first, by pieces, as direct_tree's sums. Rounded to the element's type once.
//
// A contribution is a right side without sums, evaluated for one combination of all the output's axes. The axes of
// the tables are taken together as a list: number n of a contribution is a combination of their values, the first of
// them fastest. The tables' inverse has a row for each element that gets something, or for all there are: the numbers
// of its contributions, rising.
//
// The prelude gives, beside direct_tree.hpp's constants (of an output without those tables, and with strides of zero
// along their axes; left_axis_count is not used):
//   list_axis_count, list_axis[]   the list's axes
//   free_axis_count, free_axis[]   the output's others, the nearest in memory first;
//   nearer_axis_count              so many of which are nearer than what the tables say
//   list_type, key_type            of the inverse's numbers: index_table.hpp's codes
//   rows_together                  rows of which one number says where they begin, where that is possible
//   longest_row_in_order           entries of a row that is added number by number, at most
#pragma once

#include "direct_tree.hpp"

struct scatter_arguments {
    arguments tree;
    long long rows;
    const void* begins;          ///< of each row's entries, which end where the next row's begin; or of every
                                 ///< rows_together-th row's
    const unsigned char* behind; ///< so many entries more, of each row; null: begins has each row's
    const void* entries;         ///< numbers of contributions
    const void* keys;            ///< of each row; null: the row's number
    long long unit;              ///< elements of the output that a key counts
    long long start_from_zero;   ///< 1: what elements hold does not count, and those without entries become zero
};

template <int Type> struct list_number { using type = unsigned; };
template <> struct list_number<7> { using type = long long; };

/// The list's axes of contribution `n`, from the First on.
template <int First = 0, class Number>
RICCI_FUNCTION void unflatten_list(const arguments& a, Number n, long long* x) {
    if constexpr (First + 1 == list_axis_count) {
        x[list_axis[First]] = n;
    } else if constexpr (First < list_axis_count) {
        const Number length = static_cast<Number>(extent<list_axis[First]>(a));
        x[list_axis[First]] = n % length;
        unflatten_list<First + 1>(a, n / length, x);
    }
}

/// Free axes [First, Last) of `t`, the first fastest; returns what is left of it.
template <int First, int Last>
RICCI_FUNCTION long long unflatten_free(const arguments& a, long long t, long long* x) {
    if constexpr (First < Last) {
        const long long length = extent<free_axis[First]>(a);
        x[free_axis[First]] = t % length;
        return unflatten_free<First + 1, Last>(a, t / length, x);
    } else {
        return t;
    }
}

struct row_of_inverse {
    long long begin, end, key;
};
RICCI_FUNCTION long long begin_of_row(const scatter_arguments& a, long long row) {
    if (a.behind == nullptr) return table_entry<list_type>(a.begins, row);
    return table_entry<list_type>(a.begins, row / rows_together) + a.behind[row];
}
RICCI_FUNCTION row_of_inverse row_at(const scatter_arguments& a, long long row) {
    return {begin_of_row(a, row), begin_of_row(a, row + 1),
            a.keys == nullptr ? row : table_entry<key_type>(a.keys, row)};
}

/// An entry: the number of a contribution.
RICCI_FUNCTION list_number<list_type>::type entry_number(const scatter_arguments& a, long long entry) {
    return static_cast<list_number<list_type>::type>(table_entry<list_type>(a.entries, entry));
}
/// Sets the list's axes to those of an entry.
RICCI_FUNCTION void go_to_entry(const scatter_arguments& a, long long entry, long long* x) {
    unflatten_list(a.tree, entry_number(a, entry), x);
}

RICCI_FUNCTION compute contribution(const scatter_arguments& a, long long* x) {
    return evaluate<node_count - 1>(a.tree, x, alone{});
}

RICCI_FUNCTION bool is_one_piece(const row_of_inverse& row) {
    return row.end - row.begin <= longest_row_in_order;
}

/// An element, or what entries add up to, with one more number.
template <bool IsElement> RICCI_FUNCTION compute with(compute sum, compute x) {
    return IsElement && accumulation != 1 ? sum - x : sum + x;
}
/// Entries whose contributions a GPU's thread has on their way at once: one after another each waits for memory twice.
#if RICCI_ON_GPU || defined(RICCI_EMULATED)
constexpr int entries_at_once = node_count <= 8 ? 4 : 1;
#else
constexpr int entries_at_once = 1;
#endif

/// The same with those of entries [begin, end), with the free axes at x.
template <bool IsElement>
RICCI_FUNCTION compute with_entries(const scatter_arguments& a, long long begin, long long end, long long* x,
                                    compute sum) {
    RICCI_UNROLL_ONCE
    for (long long entry = begin; entry < end; entry += entries_at_once) {
        list_number<list_type>::type numbers[entries_at_once];
        compute some[entries_at_once];
        RICCI_UNROLL
        for (int n = 0; n < entries_at_once; ++n) // the last one again, so that nothing is left out
            numbers[n] = entry_number(a, entry + n < end ? entry + n : end - 1);
        RICCI_UNROLL
        for (int n = 0; n < entries_at_once; ++n) {
            unflatten_list(a.tree, numbers[n], x);
            some[n] = contribution(a, x);
        }
        RICCI_UNROLL
        for (int n = 0; n < entries_at_once; ++n)
            if (entry + n < end) sum = with<IsElement>(sum, some[n]);
    }
    return sum;
}
/// The sum of a row of several pieces.
RICCI_FUNCTION compute sum_of_row(const scatter_arguments& a, const row_of_inverse& row, long long* x) {
    const long long piece = piece_length(row.end - row.begin);
    compute total = from_real<compute>(0, 0);
    for (long long begin = row.begin; begin < row.end; begin += piece)
        total += with_entries<false>(a, begin, row.end - begin < piece ? row.end : begin + piece, x,
                                     from_real<compute>(0, 0));
    return total;
}

using element_of_output = type_of<operand_type[0]>::type;
RICCI_FUNCTION element_of_output* element_of_row(const scatter_arguments& a, const row_of_inverse& row,
                                                 const long long* x) {
    return element_at<0>(a.tree, x) + row.key * a.unit;
}

/// Whether a row changes its element.
RICCI_FUNCTION bool changes_element(const scatter_arguments& a, const row_of_inverse& row) {
    return row.begin < row.end || a.start_from_zero != 0;
}
RICCI_FUNCTION compute old_number(const scatter_arguments& a, const element_of_output& at) {
    return a.start_from_zero != 0 ? from_real<compute>(0, 0) : load_as<compute>(at);
}

/// Adds a row to its element, with the free axes at x; subtracts it for '-='.
RICCI_FUNCTION void add_to_element(const scatter_arguments& a, const row_of_inverse& row, long long* x) {
    element_of_output* const at = element_of_row(a, row, x);
    const compute old = old_number(a, *at);
    *at = store_as<element_of_output>(is_one_piece(row) ? with_entries<true>(a, row.begin, row.end, x, old)
                                                        : with<true>(old, sum_of_row(a, row, x)));
}
