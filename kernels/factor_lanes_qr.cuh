// factor_lanes_qr: Householder's QR of matrices up to 64 x 64 in the registers of one lane, a group of lanes, a warp
// or a few, and least squares with it. One-shot blocks: a block's matrices come into shared memory, are factored,
// leave.
//
//   factor_lanes_qr_shape       which lane holds what, and the places in shared memory
//   factor_lanes_qr_registers   between shared memory and registers
//   factor_lanes_qr_steps       the reflections
//   factor_lanes_qr_scaled      the same where squares leave the range
//   factor_lanes_qr_sides       right-hand sides become solutions
#pragma once

#include "factor_lanes_qr_sides.cuh"

/// As many of the block's matrices as it can have at a time, from number `before` on.
RICCI_FUNCTION void factor_some(const matrices_in_shared& matrices, element* all_sides, unsigned char* memory,
                                const arguments& a, const block_share& share, int before) {
    const int zero_for_all = static_cast<int>(a.matrices >> 62);
    lane_place at = place_of(static_cast<int>(threadIdx.x) + zero_for_all);
    at.zero = zero_for_all;
    const int lane = at.q * row_lanes + at.r, p = before + at.group;
    at.idle = at.idle || p >= share.count;
    element* const matrix = matrices.matrix(p);
    element* const right = all_sides + p * given_in_shared::apart;
    // lanes without a column have no tau to write, but may read what others wrote to shared memory
    element* const taus = reinterpret_cast<element*>(memory + taus_place) + at.group * n;
    element* tau = nullptr;
    if constexpr (smallest_norm) {
        if (!at.idle) tau = taus;
    } else if constexpr (has_role[vector_role])
        if (!at.idle) tau = operand_of<vector_role>(a, share.first + p);
    const element zero = from_real<element>(0, 0);

    lane_columns x;
    column_state state{zero, 0, false};
    pivot_memory pivot(memory, at);
    load_columns(x, matrix, right, at);
    factor_columns(x, state, pivot, tau, a, at);
    const bool unsafe = state.unsafe && !at.idle;
    if constexpr (keeps_factors || sides > 0)
        if (!unsafe) store_columns(x, matrix, right, at);
    // lanes without a column see the same of their matrix, and come along
    if (many_warps ? state.unsafe : one_lane ? unsafe : __any_sync(0xffffffffu, unsafe))
        factor_scaled(matrix, right, tau, a, lane, unsafe);

    int info = 0;
    if constexpr (sides > 0) {
        meet();
        auto* const inverses =
            reinterpret_cast<element*>(memory + vectors_place + at.group * (row_lanes * vector_units * 16));
        info = solve_sides(matrix, right, inverses, taus, lane, !at.idle);
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
