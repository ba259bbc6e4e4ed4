// batched_tiles: which kind of tile multiplies, by the constant `core`: 0 multiply-adds, 1 the tensor cores.
#pragma once

#include "batched_fma.cuh"
#include "batched_mma.cuh"

template <int Core> struct tile_of;
template <> struct tile_of<0> { using type = fma_tile<>; };
template <> struct tile_of<1> { using type = mma_tile<>; };
