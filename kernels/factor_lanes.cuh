// factor_lanes: Cholesky and LU of matrices that fit the registers of a thread or of some lanes, all of a block's in
// one shot: they come into shared memory as one span (factor_slab.cuh), are factored, solved with, and leave.
// Occupancy hides the latency; there is no ring.
//
//   lanes_of_matrix   lines_of_lane
//   1                 -                a thread a matrix, everything unrolled (factor_lanes_thread.cuh): n <= 12
//   4 to 64           rows of a lane   of Cholesky whole ones, of LU parts (factor_lanes_rows.cuh); 64: two warps
//
// Constants: factor.hpp's, and
//   matrices_of_block * lanes_of_matrix == threads_per_block
//   panel            columns after which the rows' registers become fewer (factor_lanes_rows.cuh)
//   in_slabs         factor_slab.cuh
//   shared_bytes     at least factor_lanes_shared, which lowering computes too
#pragma once

#include "factor_lanes_rows.cuh"
#include "factor_lanes_thread.cuh"

template <int Lanes>
struct lanes_kernel {
    using type = factor_by_rows;
};
template <>
struct lanes_kernel<1> {
    using type = factor_by_threads;
};
using lanes_factor = lanes_kernel<lanes_of_matrix>::type;

constexpr int factor_lanes_shared = lanes_factor::bytes;
static_assert(shared_bytes >= factor_lanes_shared, "lowering and the kernel count the same");
static_assert(matrices_of_block * lanes_of_matrix == threads_per_block && threads_per_block % 32 == 0);

extern "C" __global__ void __launch_bounds__(threads_per_block, lanes_factor::blocks_of_sm)
    ricci_factor(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    const block_share share = share_of_block(a);
    if (share.count == 0) return; // the whole block
    lanes_factor::run(a, memory, share);
}
