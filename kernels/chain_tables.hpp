// chain_tables: what a chain's kernels are told of its phases, and where its operands lie. See lowering/chain.hpp.
//
// Constants:
//   chain_axes, compute_type; on a GPU elements_of_block (on a CPU: the lanes of a vector)
//   memory_count, memory_type[], memory_is_span[], memory_is_read[], memory_is_written[]; of spans memory_step[],
//   from one element's slice to the next one's, and memory_reach[], to its last element that is used
//   scalar_count
//   view_space[] (chain_space), view_number[] (of the memory or the slot), view_type[] (of what lies there);
//   view_offset[], view_item[][], view_stream[][], view_inner[][], elements; view_inner_extent[][]
//   view_conjugated[], view_phase[], view_adds_atomically[]; view_first_table[], view_tables[], of table_view[] (the
//   view of an index table) and table_stride[] (elements that an entry counts)
//   matrix_memory[] (-1: a view), matrix_view[], matrix_offset[], matrix_stream[][], matrix_inner[][],
//   matrix_stream_extent[][], matrix_inner_extent[][], matrix_conjugated[], matrix_pitch[], matrix_region[]
//   slot_region[], slot_step[], span_region[]
//   phase_count, phase_item_extent[][], phase_stream_extent[][], phase_first_pencil[], phase_pencils[],
//   phase_first_op[], phase_ops[], phase_values[], phase_pencil_numbers[],
//   phase_unrolled[] (points at a time)
//   pencil_view[], pencil_length[], pencil_begin[] (in its phase's registers), pencil_is_output[],
//   pencil_accumulation[]
//   op_kind[], op_function[], op_result[], op_a[], op_b[], op_view[], op_pencil[], op_matrix[], op_accumulation[]
// Rows of the tables of axes have chain_axes elements; extents that are not there are 1, strides 0.
#pragma once

#include "index_table.hpp"
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

/// The sum of stride*digit, where `n` has its digits to the base of the extents.
template <class Number = long long>
RICCI_FUNCTION constexpr Number offset_of(int n, const int (&extents)[chain_axes],
                                          const long long (&strides)[chain_axes]) {
    Number out = 0;
    RICCI_IN_REGISTERS
    for (int a = 0; a < chain_axes; ++a) {
        out += static_cast<Number>(strides[a]) * (n % extents[a]);
        n /= extents[a];
    }
    return out;
}

/// Where an operand's element for an item, a point and a place of the pencil lies in its slice.
template <int V, class Number = long long>
RICCI_FUNCTION Number offset_in_slice(int item, int point, int place) {
    constexpr int P = view_phase[V];
    return static_cast<Number>(view_offset[V]) + offset_of<Number>(item, phase_item_extent[P], view_item[V]) +
           offset_of<Number>(point, phase_stream_extent[P], view_stream[V]) +
           offset_of<Number>(place, view_inner_extent[V], view_inner[V]);
}

/// What a view's index tables say for an element.
template <int V, int Table = 0>
RICCI_FUNCTION long long offset_by_tables(const arguments& a, long long element, int item, int point, int place) {
    if constexpr (Table == view_tables[V]) return 0;
    else {
        constexpr int number = view_first_table[V] + Table, table = table_view[number], memory = view_number[table];
        const long long at = element * a.element_step[memory] + offset_in_slice<table>(item, point, place);
        return table_entry<memory_type[memory]>(a.data[memory], at) * table_stride[number] +
               offset_by_tables<V, Table + 1>(a, element, item, point, place);
    }
}
