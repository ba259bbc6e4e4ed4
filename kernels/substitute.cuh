// substitute: solves with factors that are there, for a whole batch: by Cholesky's, LU's and QR's and by triangles,
// and products with Q. The matrices are read only.
//
// Constants: factor.hpp's, and
//   threads_per_block
//   lanes_of_matrix    1, 2, 4, ... 32: so many lanes a matrix, which comes to shared memory whole: substitute_lanes;
//                      but 1 and no slabs: a thread a matrix, for matrices that lie interleaved: substitute_threads
//                      more: a block a matrix, which is streamed: substitute_block
//   lines_of_lane      right-hand sides at a time
// and what these files name.
#pragma once

#include "substitute_block.cuh"
#include "substitute_lanes.cuh"
#include "substitute_threads.cuh"

template <int Lanes> RICCI_FUNCTION void substitute_by(const arguments& a, unsigned char* memory) {
    if constexpr (Lanes == 1 && !in_slabs) matrix_thread<Lanes>::run(a, memory);
    else if constexpr (Lanes <= 32) matrix_lanes<Lanes>::run(a, memory);
    else substitute_by_block<Lanes>(a, memory);
}

extern "C" __global__ void __launch_bounds__(threads_per_block)
    ricci_substitute(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    substitute_by<lanes_of_matrix>(a, memory);
}
