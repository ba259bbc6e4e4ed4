// product_neighbors: elements of C side by side in memory.
#pragma once

#include "neighbors.cuh"
#include "product.hpp"

/// Count neighbors of C: each (+)= alpha * its sum.
template <int Count>
RICCI_FUNCTION void update_neighbors(const arguments& a, c_element* first, const compute (&sums)[Count]) {
    neighbors<c_element, Count> c;
    if constexpr (accumulate) c = *reinterpret_cast<const neighbors<c_element, Count>*>(first);
    RICCI_UNROLL
    for (int i = 0; i < Count; ++i) update(a, c.e[i], sums[i]);
    store_neighbors(first, c);
}
