// substitute_cpu: solves with factors that are there, for a CPU.
//
// Constants: factor.hpp's; simd_bytes;
//   matrices_of_block    matrices a work item
//   lanes_of_matrix      1: matrices that lie interleaved, one a lane of a vector: substitute_lanes_cpu; else
//                        vectors go along a matrix's columns or rows: substitute_vectors_cpu
//   lines_of_lane        right-hand sides at a time, where there are as many
#pragma once

#include "substitute_lanes_cpu.hpp"
#include "substitute_vectors_cpu.hpp"

template <int Lanes> RICCI_FUNCTION void substitute_range(const arguments& a, long long first, long long last) {
    if constexpr (Lanes == 1) lane_matrices<Lanes>::run(a, first, last);
    else vector_matrices<Lanes>::run(a, first, last);
}

extern "C" void ricci_substitute(const void* words, long long first, long long last) {
    const arguments& a = *static_cast<const arguments*>(words);
    const long long end = last * matrices_of_block;
    substitute_range<lanes_of_matrix>(a, first * matrices_of_block, end < a.matrices ? end : a.matrices);
}
