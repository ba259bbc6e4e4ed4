// grid_meeting: where blocks of a launch wait for all others: the last ones, in the order in which blocks start. If
// several wait, all must fit the GPU together; one may wait in any launch.
//
// Each block has a flag in memory, which it sets to the launch's number; a block has met all when all flags have it.
// Whatever a flag was before, it was not this number, so nothing is set back: but a captured launch, whose number
// comes again, needs flags set to zero before.
#pragma once

#include "ptx.cuh"

/// The part of common work that is a block's: its first piece and the distance to its next.
struct grid_share {
    long long first, step;
};
constexpr grid_share no_share{1LL << 40, 1};

/// What blocks wrote before, those that wait see after: the last `waiting` ones, which share common work. By all
/// threads of all blocks.
RICCI_FUNCTION grid_share meet_grid(unsigned long long* flags, unsigned long long number, long long block,
                                    long long blocks, int waiting) {
    __syncthreads();
    if (threadIdx.x == 0) release_flag(flags[block], number);
#if RICCI_ON_GPU
    const long long from_last = blocks - 1 - block;
    if (from_last >= waiting) return no_share;
    for (long long b = threadIdx.x; b < blocks; b += blockDim.x)
        while (acquire_flag(flags[b]) != number) {}
    __syncthreads();
    return {from_last, waiting < blocks ? waiting : blocks};
#else
    // Blocks run one after another: the last to come does what all would.
    __syncthreads();
    for (long long b = 0; b < blocks; ++b)
        if (acquire_flag(flags[b]) != number) return no_share;
    return {0, 1};
#endif
}
