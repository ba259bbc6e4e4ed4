// winograd: convolutions by minimal filtering in one kernel, V and M of which never leave an SM:
//
//   V(u, v, c, tile) = sum over p, q of Bt(u, p)*Bt(v, q)*D(c, tile's inputs p, q)
//   M(u, v, k, tile) = sum over c of U(u, v, k, c)*V(u, v, c, tile)
//   O(k, tile's outputs a, e) = tree(sum over u, v of At(a, u)*At(e, v)*M(u, v, k, tile))
//
// The work is cut into parts, filters_of_block k of tiles_of_block tiles each, which the blocks take in turn. The last
// four warps of a block bring the inputs of the tiles, transform them, channels_of_stage channels at a time, and have U
// copied in bulk; the others multiply, each for points (u, v) of its own, and keep M in registers until the sum is
// complete. Then M passes through the memory of the last stage, some k at a time, is transformed and leaves as outputs,
// while the first stages of the next part are on their way. winograd_filters.cuh runs before.
//
// Infinite U or V make their outputs infinite or NaN, not always what the statements would, and zeros of the inputs'
// matrix may be left out; of f32 below 2^-114 a product loses digits.
//
// Constants: winograd_parts.cuh's.
#pragma once

#include "winograd_inputs.cuh"
#include "winograd_outputs.cuh"

/// Unrolled, so that registers hold no sums that have passed.
template <int Pass, class Settle>
RICCI_FUNCTION void finish_passes(const arguments& a, const block_memory& at, float* memory, int first_tile,
                                  int first_filter, const warp_sums& sums, const Settle& settle) {
    if constexpr (Pass < passes_of_sums) {
        store_sums<Pass>(memory, sums);
        settle();
        finish(a, at, memory, first_tile, first_filter + Pass * filters_of_pass);
        settle();
        finish_passes<Pass + 1>(a, at, memory, first_tile, first_filter, sums, settle);
    }
}

RICCI_FUNCTION void consume(const arguments& a, const block_memory& at) {
    const int stage_count = stages_of_sum(a);
    ring_turn ring;
    int settled = 0; // parity
    const auto settle = [&] {
        arrive_expecting(at.settled(), 0);
        wait_barrier(at.settled(), settled);
        settled ^= 1;
    };
    const auto release = [&] {
        show_to_copy_engine(); // U's place is copied to next
        arrive_expecting(at.empty(ring.slot), 0);
        ring.move_on();
    };
    warp_sums sums;
    RICCI_UNROLL_ONCE
    for (work_part part; part.exists(a); part.move_on()) {
        RICCI_UNROLL
        for (int i = 0; i < points_of_warp; ++i) clear_sums(sums[i]);
        RICCI_UNROLL_ONCE
        for (int stage = 0; stage < stage_count; ++stage) {
            wait_barrier(at.full(ring.slot), ring.parity);
            multiply_stage(at, ring.slot, sums);
            if (stage + 1 < stage_count) release();
        }
        settle();
        float* const memory = at.sums(ring.slot);
        const int first_filter = part.filter_block(a) * filters_of_block;
        finish_passes<0>(a, at, memory, part.first_tile(a), first_filter, sums, settle);
        release();
    }
}

extern "C" __global__ void __launch_bounds__(threads, 1) ricci_winograd(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    const block_memory at{memory};
    const bool multiplies = threadIdx.x < 32 * consumer_warps;
    input_transform inputs_of_tiles;
    if (multiplies) {
        load_matrices_of_transforms(a, at);
    } else {
        inputs_of_tiles.start(a);
        if (threadIdx.x == 32 * consumer_warps) {
            for (int s = 0; s < stages; ++s)
                start_barrier(at.full(s), producers + 1), start_barrier(at.empty(s), threads - producers);
            start_barrier(at.settled(), threads - producers);
        }
    }
    __syncthreads();
    if (multiplies) {
        have_registers<consumer_registers, true>();
        consume(a, at);
    } else {
        have_registers<producer_registers, false>();
        produce(a, at, inputs_of_tiles);
    }
}
