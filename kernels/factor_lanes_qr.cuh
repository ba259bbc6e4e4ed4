// factor_lanes_qr: Householder's QR of matrices up to 64 x 64 in the registers of one lane, a group of lanes, a warp
// or a few, and least squares with it. One-shot blocks: a block's matrices come into shared memory, are factored,
// leave.
//
//   factor_lanes_qr_shape       which lane holds what
//   factor_lanes_qr_shared      what lies where in shared memory, and who reads it when
//   factor_lanes_qr_registers   between shared memory and registers
//   factor_lanes_qr_reflection  one column's reflection
//   factor_lanes_qr_alone       the reflections of a matrix that one lane has
//   factor_lanes_qr_ahead       those of a matrix that several have
//   factor_lanes_qr_scaled      the same where squares leave the range
//   factor_lanes_qr_sides       right-hand sides become solutions
#pragma once

#include "factor_lanes_qr_sides.cuh"

/// Whether one of the matrix's lanes says so; in each of them.
RICCI_FUNCTION bool is_said(bool by_lane, unsigned char* memory, lane_place at) {
    if constexpr (one_lane) {
        return by_lane;
    } else if constexpr (many_warps) {
        volatile int* const said = reinterpret_cast<int*>(memory + unsafe_place);
        if (threadIdx.x == 0) *said = 0;
        meet();
        if (by_lane) *said = 1;
        meet();
        const bool out = *said != 0;
        meet();
        return out;
    } else {
        return (__ballot_sync(0xffffffffu, by_lane) & of_matrix(at)) != 0;
    }
}

/// As many of the block's matrices as it can have at a time, from number `before` on.
RICCI_FUNCTION void factor_some(const matrices_in_shared& matrices, element* all_sides, unsigned char* memory,
                                const arguments& a, const block_share& share, int before) {
    const int zero_for_all = static_cast<int>(a.matrices >> 62);
    lane_place at = place_of(static_cast<int>(threadIdx.x) + zero_for_all);
    at.zero = zero_for_all;
    const int lane = number_of(at), p = before + at.group;
    at.idle = at.idle || p >= share.count;
    // lanes without a matrix come along with whatever lies there
    static_assert(matrices_of_block % groups == 0, "a place for each lane's");
    element* const matrix = matrices.matrix(p);
    element* const right = all_sides + p * given_in_shared::apart;
    // lanes without a column have no tau to write, but may read what others wrote to shared memory
    element* const taus = reinterpret_cast<element*>(memory + taus_place) + at.group * n;
    element* tau = nullptr;
    if constexpr (smallest_norm) {
        if (!at.idle) tau = taus;
    } else if constexpr (has_role[vector_role])
        if (!at.idle) tau = operand_of<vector_role>(a, share.first + p);

    lane_columns x;
    load_columns(x, matrix, right, at);
    bool is_unsafe = false;
    if constexpr (one_lane)
        is_unsafe = reflect_alone(x, tau, a) && !at.idle;
    else
        is_unsafe = is_said(reflect_together(x, memory, tau, a, at), memory, at);
    int info = 0;
    if constexpr (solves_alone)
        if (!is_unsafe) info = solve_alone(x);
    if constexpr (keeps_factors || sides > 0)
        if (!is_unsafe) store_columns(x, matrix, right, at);
    // lanes without a column come along
    if (one_lane || many_warps ? is_unsafe : __any_sync(0xffffffffu, is_unsafe))
        factor_scaled(matrix, right, tau, a, lane, is_unsafe && !at.idle);

    if constexpr (sides > 0) {
        if (!solves_alone || is_unsafe) {
            meet();
            auto* const inverses =
                reinterpret_cast<element*>(memory + vectors_place + at.group * (row_lanes * vector_units * 16));
            info = solve_sides(matrix, right, inverses, taus, at, !at.idle);
        }
    }
    if constexpr (has_role[info_role])
        if (!at.idle && lane == 0)
            *operand_of<info_role>(a, share.first + p) = static_cast<typename role_element<info_role>::type>(info);
}

extern "C" __global__ void __launch_bounds__(threads_per_block, at_least_one(stages))
    ricci_factor(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    const block_share share = share_of_block(a);
    if (share.count <= 0) return; // the whole block
    slab_barrier& loaded = *reinterpret_cast<slab_barrier*>(memory);
    const matrices_in_shared matrices(a, memory + matrices_place, share.first, share.count);
    element* const all_sides = reinterpret_cast<element*>(memory + sides_place);
    matrices.start_loading(a, loaded);
    if constexpr (sides > 0 && has_role[given_role]) {
        const given_in_shared given(a, memory + sides_place, share.first, share.count);
        given.start_loading(a, loaded);
    }
    matrices.finish_loading(loaded);
    if constexpr (matrices_of_block <= groups) {
        factor_some(matrices, all_sides, memory, a, share, 0);
    } else {
        RICCI_UNROLL_ONCE
        for (int before = 0; before < share.count; before += groups)
            factor_some(matrices, all_sides, memory, a, share, before);
    }
    if constexpr (keeps_factors) matrices.store(a);
    if constexpr (sides > 0) {
        const solutions_in_shared solutions(a, memory + sides_place, share.first, share.count);
        solutions.store(a);
    }
}
