// batched_tiles: which kind of tile multiplies, by the constant `core`: 0 multiply-adds, 1 the tensor cores.
#pragma once

#include "batched_fma.cuh"
#include "batched_mma.cuh"

/// One element of X*Y from `steps` of the sum in shared memory, by multiply-adds; x: its row, y: its column.
RICCI_FUNCTION compute dot_in_shared(const x_element* x, const y_element* y, int steps) {
    compute sum = from_real<compute>(0, 0);
    RICCI_UNROLL_ONCE
    for (int l = 0; l < steps; ++l) sum += load_x(x, l * column[1]) * load_y(y, l * row[2]);
    return sum;
}

template <int Core> struct tile_of;
template <> struct tile_of<0> { using type = fma_tile<>; };
template <> struct tile_of<1> { using type = mma_tile<>; };
