// winograd_memory: the shared memory of winograd's blocks: the transforms' matrices, barriers, and a ring of
// stages.
#pragma once

#include "ptx_copy.cuh"
#include "tile_matrices.cuh"
#include "winograd_parts.cuh"

constexpr int matrix_bytes = 4 * matrix_floats * 4;
constexpr int header_bytes = matrix_bytes + 128;
static_assert((2 * stages + 1) * static_cast<int>(sizeof(copy_barrier)) <= 128, "the barriers' room");

struct block_memory {
    unsigned char* memory;

    /// Number of a matrix: Bt of the first direction as [p][u], of the second as [v][q], At as [u][a] and [e][v].
    RICCI_FUNCTION float* matrix(int number) const {
        return reinterpret_cast<float*>(memory) + number * matrix_floats;
    }
    RICCI_FUNCTION copy_barrier& full(int stage) const {
        return reinterpret_cast<copy_barrier*>(memory + matrix_bytes)[stage];
    }
    RICCI_FUNCTION copy_barrier& empty(int stage) const { return (&full(stages))[stage]; }
    /// Of the warps that multiply: all are done with what they read or wrote.
    RICCI_FUNCTION copy_barrier& settled() const { return (&full(2 * stages))[0]; }
    RICCI_FUNCTION unsigned char* filters(int stage) const { return memory + header_bytes + stage * stage_bytes; }
    RICCI_FUNCTION unsigned char* tiles(int stage) const { return filters(stage) + filter_bytes; }
    RICCI_FUNCTION float* sums(int stage) const { return reinterpret_cast<float*>(filters(stage)); }
};

/// A ring's slot, and the parity of the phase in which it is used.
struct ring_turn {
    int slot = 0, parity = 0;
    bool first_round = true;
    RICCI_FUNCTION void move_on() {
        if (++slot < stages) return;
        slot = 0, parity ^= 1, first_round = false;
    }
};

/// By the warps that multiply.
RICCI_FUNCTION void load_matrices_of_transforms(const arguments& a, const block_memory& at) {
    constexpr int multipliers = 32 * consumer_warps; // threads
    load_matrix<input_matrix(0), point_axis(0), input_axis(0), true, multipliers>(a, at.matrix(0), point_extent[0],
                                                                                  input_extent[0]);
    load_matrix<output_matrix(0), output_axis(0), point_axis(0), true, multipliers>(a, at.matrix(2), output_extent[0],
                                                                                    point_extent[0]);
    if constexpr (directions == 2) {
        load_matrix<input_matrix(1), point_axis(1), input_axis(1), false, multipliers>(
            a, at.matrix(1), point_extent[1], input_extent[1]);
        load_matrix<output_matrix(1), output_axis(1), point_axis(1), false, multipliers>(
            a, at.matrix(3), output_extent[1], point_extent[1]);
    }
}
