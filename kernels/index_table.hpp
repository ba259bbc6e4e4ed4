// index_table: entries of index tables: what gathered operands add to their offsets, or where their matrices lie.
//
// A code is lowering::scalar_type's: 6 int, 7 long long, 8 the address of a matrix.
#pragma once

#include "ptx.cuh"

template <int Type> RICCI_FUNCTION long long table_entry(const void* table, long long at) {
    static_assert(Type >= 6 && Type <= 8, "integers and addresses only");
    if constexpr (Type == 6) return static_cast<const int*>(table)[at];
    else return static_cast<const long long*>(table)[at];
}

/// `at` moved by an entry that counts steps of `stride` elements, or that is an address to which `at`, a number of
/// bytes, is added.
template <int Type, class Element> RICCI_FUNCTION Element* gathered(Element* at, long long entry, long long stride) {
    if constexpr (Type == 8)
        return reinterpret_cast<Element*>(reinterpret_cast<unsigned long long>(at) +
                                          static_cast<unsigned long long>(entry));
    else return at + entry * stride;
}
