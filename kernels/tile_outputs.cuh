// tile_outputs: evaluates the tree around a tile's sums, and stores its outputs.
//
// Constants: tile_places.cuh's, and
//   sum_operand                an access of which stands for the sum in the tree
//   output_extent[2]           a tile's elements in each direction, at most 8; 1 in a direction that there is not
#pragma once

#include "neighbors.cuh"
#include "tile_places.cuh"

/// Evaluates the tree around the sum.
struct around_sum : alone {
    compute value;
    RICCI_FUNCTION explicit around_sum(compute sum) : value(sum) {}
    template <int Operand>
    RICCI_FUNCTION compute load(const arguments& a, const long long* x) const {
        if constexpr (Operand == sum_operand)
            return value;
        else
            return ::load<Operand>(a, x);
    }
};

using tile_outputs = compute[output_extent[1]][output_extent[0]];

/// Makes of a tile's sums what the tree around them gives, all before the first store, which might be to the same
/// memory. `x`: the tile's axes.
RICCI_FUNCTION void evaluate_outputs(const arguments& a, long long* x, tile_outputs& values) {
    RICCI_UNROLL
    for (int e = 0; e < output_extent[1]; ++e) RICCI_UNROLL
    for (int o = 0; o < output_extent[0]; ++o) {
        x[output_axis(0)] = o;
        if constexpr (directions == 2) x[output_axis(1)] = e;
        const around_sum team(values[e][o]);
        values[e][o] = updated(a, x, evaluate<node_count - 1>(a, x, team), team);
    }
}

/// Neighbors that a store has, of a line of outputs.
constexpr int outputs_of_store = operand_stride[0][output_axis(0)] != 1 ? 1
                                 : output_extent[0] % 4 == 0            ? 4
                                 : output_extent[0] % 2 == 0            ? 2
                                                                        : 1;

/// Where the outputs of a tile go, and which there are.
struct output_places {
    using element = typename type_of<operand_type[0]>::type;
    element* first;
    long long line_step;
    unsigned long long inside;

    RICCI_FUNCTION output_places(const arguments& a, const long long* x)
        : first(element_at<0>(a, x)), line_step(second_stride<0, output_axis(directions - 1)>(a)),
          inside(inside_of<0, output_axis(0), output_extent[0], output_extent[1]>(a, x)) {}

    /// The tile that lies `further` elements further on.
    RICCI_FUNCTION void put(const arguments& a, long long further, const tile_outputs& values) const {
        const long long step = stride_along<0, output_axis(0)>(a);
        element* const begin = first + further;
        const bool aligned = have_aligned_lines<element, outputs_of_store>(begin, line_step);
        RICCI_UNROLL
        for (int e = 0; e < output_extent[1]; ++e) {
            element* const line = begin + e * line_step;
            constexpr unsigned whole = (1u << output_extent[0]) - 1;
            const unsigned exist = static_cast<unsigned>(inside >> (output_extent[0] * e)) & whole;
            if (outputs_of_store > 1 && aligned && exist == whole) {
                RICCI_UNROLL
                for (int o = 0; o < output_extent[0]; o += outputs_of_store) {
                    neighbors<element, outputs_of_store> several;
                    RICCI_UNROLL
                    for (int i = 0; i < outputs_of_store; ++i) several.e[i] = store_as<element>(values[e][o + i]);
                    store_neighbors(line + o, several);
                }
                continue;
            }
            RICCI_UNROLL
            for (int o = 0; o < output_extent[0]; ++o)
                if (exist >> o & 1) line[o * step] = store_as<element>(values[e][o]);
        }
    }
};
