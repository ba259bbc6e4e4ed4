// chain_tables: what a chain's kernels are told of its phases, and where its operands lie. See lowering/chain.hpp.
//
// Constants:
//   chain_axes, compute_type; on a GPU elements_of_block (on a CPU: the lanes of a vector)
//   memory_count, memory_type[], memory_is_span[], memory_is_read[], memory_is_written[]; of spans memory_step[],
//   from one element's slice to the next one's, and memory_reach[], to its last element that is used
//   scalar_count
//   view_count, view_space[] (chain_space), view_number[] (of the memory or the slot), view_type[] (of what lies there);
//   view_offset[], view_item[][], view_stream[][], view_inner[][], elements; view_inner_extent[][]
//   view_conjugated[], view_phase[], view_adds_atomically[]; view_first_table[], view_tables[], of table_view[] (the
//   view of an index table) and table_stride[] (elements that an entry counts)
//   matrix_memory[] (-1: a view), matrix_view[], matrix_offset[], matrix_stream[][], matrix_inner[][],
//   matrix_stream_extent[][], matrix_inner_extent[][], matrix_conjugated[], matrix_pitch[], matrix_region[],
//   matrix_constant[]: where its first number is among the kernel's constants, of which a GPU's kernel has
//   constant_count; -1: not there
//   slot_region[], slot_step[], span_region[]
//   phase_count, phase_item_extent[][], phase_stream_extent[][], phase_first_pencil[], phase_pencils[],
//   phase_first_op[], phase_ops[], phase_values[], phase_pencil_numbers[],
//   phase_unrolled[] (points at a time), phase_is_written_out[] (point by point, since constants have fixed places)
//   pencil_view[], pencil_length[], pencil_begin[] (in its phase's registers), pencil_is_output[],
//   pencil_accumulation[]
//   op_kind[], op_function[], op_result[], op_a[], op_b[], op_view[], op_pencil[], op_matrix[], op_accumulation[]
// Rows of the tables of axes have chain_axes elements; extents that are not there are 1, strides 0.
#pragma once

#include "operations.hpp"

// Before loops over arrays that are to be registers.
#if RICCI_ON_GPU || defined(RICCI_EMULATED)
#define RICCI_IN_REGISTERS RICCI_UNROLL
#else
#define RICCI_IN_REGISTERS _Pragma("GCC unroll 128")
#endif

using compute = type_of<compute_type>::type;

enum chain_space { space_memory, space_slot, space_span };

struct arguments {
    void* data[at_least_one(memory_count)]; ///< of each memory, at its offset
    long long element_step[at_least_one(memory_count)];
    long long elements;
    double scalar[at_least_one(scalar_count)][2];
#if !RICCI_ON_GPU && !defined(RICCI_EMULATED)
    long long adds_at_once; ///< chain_additions_cpu.hpp
#endif
};

RICCI_FUNCTION constexpr int product_of(const int (&extents)[chain_axes]) {
    int out = 1;
    for (int a = 0; a < chain_axes; ++a) out *= extents[a];
    return out;
}
template <int P> constexpr int items_of_phase = product_of(phase_item_extent[P]);
template <int P> constexpr int points_of_phase = product_of(phase_stream_extent[P]);

// Axes that a number counts along, the first one fastest: their extents, and an operand's strides along them.
template <int V> struct items_of {
    static RICCI_FUNCTION constexpr int extent(int axis) { return phase_item_extent[view_phase[V]][axis]; }
    static RICCI_FUNCTION constexpr long long stride(int axis) { return view_item[V][axis]; }
};
template <int V> struct stream_of {
    static RICCI_FUNCTION constexpr int extent(int axis) { return phase_stream_extent[view_phase[V]][axis]; }
    static RICCI_FUNCTION constexpr long long stride(int axis) { return view_stream[V][axis]; }
};
template <int V> struct places_of {
    static RICCI_FUNCTION constexpr int extent(int axis) { return view_inner_extent[V][axis]; }
    static RICCI_FUNCTION constexpr long long stride(int axis) { return view_inner[V][axis]; }
};
template <int M> struct rows_of {
    static RICCI_FUNCTION constexpr int extent(int axis) { return matrix_stream_extent[M][axis]; }
    static RICCI_FUNCTION constexpr long long stride(int axis) { return matrix_stream[M][axis]; }
};
template <int M> struct columns_of {
    static RICCI_FUNCTION constexpr int extent(int axis) { return matrix_inner_extent[M][axis]; }
    static RICCI_FUNCTION constexpr long long stride(int axis) { return matrix_inner[M][axis]; }
};

/// Whether an axis, or one behind it, is longer than 1.
template <class Axes> RICCI_FUNCTION constexpr bool counts_from(int axis) {
    for (int a = axis; a < chain_axes; ++a)
        if (Axes::extent(a) > 1) return true;
    return false;
}

/// The sum of stride*digit, where `n` has its digits to the base of the extents. By recursion: of a loop over the axes
/// for each operand's every number the compilers need as long as of all the rest.
template <class Axes, class Number = long long, int Axis = 0> RICCI_FUNCTION constexpr Number offset_of(int n) {
    if constexpr (!counts_from<Axes>(Axis)) return 0;
    else {
        constexpr int extent = Axes::extent(Axis);
        constexpr Number stride = static_cast<Number>(Axes::stride(Axis));
        if constexpr (extent == 1) return offset_of<Axes, Number, Axis + 1>(n);
        else if constexpr (!counts_from<Axes>(Axis + 1)) return stride * n;
        else return stride * (n % extent) + offset_of<Axes, Number, Axis + 1>(n / extent);
    }
}

/// Where an operand's element for an item, a point and a place of the pencil lies in its slice.
template <int V, class Number = long long>
RICCI_FUNCTION Number offset_in_slice(int item, int point, int place) {
    return static_cast<Number>(view_offset[V]) + offset_of<items_of<V>, Number>(item) +
           offset_of<stream_of<V>, Number>(point) + offset_of<places_of<V>, Number>(place);
}

template <int M> constexpr bool matrix_is_constant = matrix_constant[M] >= 0;

/// Where a row's number lies behind its matrix's first.
template <int M> RICCI_FUNCTION constexpr long long offset_in_matrix(int row, int n) {
    return offset_of<rows_of<M>>(row) + offset_of<columns_of<M>>(n);
}

/// What a view's index tables say; `entries.at<view of a table>()` is an entry.
template <int V, int Table = 0, class Entries> RICCI_FUNCTION long long offset_by_tables(const Entries& entries) {
    if constexpr (Table == view_tables[V]) return 0;
    else {
        constexpr int number = view_first_table[V] + Table;
        return entries.template at<table_view[number]>() * table_stride[number] + offset_by_tables<V, Table + 1>(entries);
    }
}
