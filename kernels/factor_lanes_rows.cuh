// factor_lanes_rows: a matrix by lanes_of_matrix lanes; of Cholesky lane l has rows l, l + lanes, ... in registers, of
// LU its part of a grid (factor_lanes_lu.cuh).
//
// What all lanes need of a step (Cholesky: column k, LU: the pivot's row) one or all of them publish in shared
// memory, from where it is read 16 bytes at a time, the same for all lanes. Two places take turns, so that a step has
// one barrier. A step moves the rows' registers on by one element while it updates them, which costs nothing: element
// k of a row is then always its first register, so steps can be a loop, and code and compile time stay small. Every
// `panel` steps another loop with as many registers fewer takes over.
//
// Columns of factors go to the slab as they become final, at their row's first place. LU exchanges no rows: they
// go to their positions once, at the end.
#pragma once

#include "factor_lanes_cholesky.cuh"
#include "factor_lanes_lu.cuh"
#include "factor_lanes_solve.cuh"

struct factor_by_rows {
    static constexpr int slab_at = 128, pivots_at = slab_at + slab::bytes, scratch_at = pivots_at + pivot_bytes,
                         bytes =
                             scratch_at + matrices_of_block * scratch_elements * static_cast<int>(sizeof(element));
    static constexpr int blocks_of_sm = stages > 0 ? stages : 1;

    static RICCI_FUNCTION void run(const arguments& a, unsigned char* memory, block_share share) {
        const slab matrices(a, memory + slab_at, share.first, share.count);
        slab_barrier& loaded = *reinterpret_cast<slab_barrier*>(memory);
        matrices.start_loading(a, loaded);
        int* const positions = reinterpret_cast<int*>(memory + pivots_at);
        const int p = matrices_of_block == 1 ? 0 : matrix_of_lanes(static_cast<int>(threadIdx.x) / lanes);
        const bool exists = matrices_of_block == 1 || p < share.count;
        lane_group group{static_cast<int>(threadIdx.x) % lanes, exists, matrices.matrix(p), positions + p * pivots,
                         reinterpret_cast<element*>(memory + scratch_at) + p * scratch_elements};
        matrices.finish_loading(loaded);

        row_places places(group);
        if constexpr (in_grid) {
            lu_by_grid(group, places);
        } else {
            element x[lines][n];
            group.load(x);
            cholesky_by_rows(group, x, places);
        }
        if (group.lane == 0 && group.exists) store_info(a, share.first + p, places.info);
        if constexpr (has_determinant) store_determinant(a, share.first + p, group, places);
        if constexpr (has_sides) solve_by_rows(a, share.first + p, group, places);
        if constexpr (keeps_factors) {
            if constexpr (exchanges) move_rows(group, places);
            matrices.store(a);
        } else {
            __syncthreads();
        }
        store_pivots(a, positions, share);
    }
};
