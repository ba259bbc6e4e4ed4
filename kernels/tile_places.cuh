// tile_places: where the elements of a tile are, one of those that small matrices take to others in one direction or
// two: a place of each of the step's axes that count tiles.
//
// Constants: direct_tree.hpp's, and
//   directions, tile_axes      the step's first axes: a tile's elements in the output, in each direction, and the
//   tiles'
#pragma once

#include "direct_tree.hpp"

RICCI_FUNCTION constexpr int output_axis(int d) { return d; }
RICCI_FUNCTION constexpr int tile_axis(int t) { return directions + t; }

template <int Operand, int Axis>
RICCI_FUNCTION long long stride_along(const arguments& a) {
    if constexpr (Axis >= axis_count)
        return 0;
    else if constexpr (operand_stride[Operand][Axis] == argument)
        return a.stride[Operand][Axis];
    else
        return operand_stride[Operand][Axis];
}
/// Along the second direction, which may be absent.
template <int Operand, int Axis>
RICCI_FUNCTION long long second_stride(const arguments& a) {
    if constexpr (directions == 1)
        return 0;
    else
        return stride_along<Operand, Axis>(a);
}

/// Sets the tiles' axes to those of tile number `tile`, which the arguments' work_items are.
RICCI_FUNCTION void go_to_tile(const arguments& a, int tile, long long* x) {
    unsigned rest = static_cast<unsigned>(tile);
    RICCI_UNROLL
    for (int t = 0; t < tile_axes; ++t) {
        const auto length = static_cast<unsigned>(a.extent[tile_axis(t)]);
        x[tile_axis(t)] = t + 1 == tile_axes ? rest : rest % length;
        rest /= length;
    }
}

/// Which of a tile's elements, N0 along axis First and N1 along the next, are inside of a padded operand: bit i +
/// N0*j.
template <int Operand, int First, int N0, int N1>
RICCI_FUNCTION unsigned long long inside_of(const arguments& a, const long long* x) {
    static_assert(N0 * N1 <= 64, "a bit each");
    unsigned long long out = ~0ull >> (64 - N0 * N1);
    RICCI_UNROLL
    for (int b = 0; b < bound_count; ++b) {
        if (bound_operand[b] != Operand) continue;
        int first = static_cast<int>(a.bound_offset[b]);
        RICCI_UNROLL
        for (int t = 0; t < tile_axes; ++t)
            first += static_cast<int>(a.bound_coefficient[b][tile_axis(t)]) * static_cast<int>(x[tile_axis(t)]);
        const int step = static_cast<int>(a.bound_coefficient[b][First]),
                  other_step = directions == 1 ? 0 : static_cast<int>(a.bound_coefficient[b][First + directions - 1]);
        const auto extent = static_cast<unsigned>(a.bound_extent[b]);
        RICCI_UNROLL
        for (int j = 0; j < N1; ++j) RICCI_UNROLL
        for (int i = 0; i < N0; ++i)
            if (static_cast<unsigned>(first + i * step + j * other_step) >= extent) out &= ~(1ull << (i + N0 * j));
    }
    return out;
}
