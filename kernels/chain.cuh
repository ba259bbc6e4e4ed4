// chain: steps that hand each other temporaries, for a few elements a block. Slices of memory that lie one behind
// another (spans) come and go by bulk copies; what shares a thread's item stays in registers, what passes between
// threads in shared memory; matrices that all elements share are the kernel's constants, which multiply-adds take as
// they take registers, or are copied to shared memory.
//
// Constants: chain_tables.hpp's and chain_calls.hpp's, memory_first_phase[] (that uses it), phase_waits[] (for each
// other, before the phase), threads_per_block, elements_of_block, blocks_of_processor (that an SM is to have at once),
// blocks_at_once (on the whole chip). Regions are bytes from the start of shared memory.
#pragma once

#include "chain_calls.cuh"
#include "chain_gathers.cuh"
#include "chain_spans.cuh"

/// What all elements share and is no constant.
template <int M> RICCI_FUNCTION void copy_matrices(const arguments& a, unsigned char* memory) {
    if constexpr (M < matrix_count) {
        if constexpr (matrix_memory[M] >= 0 && !matrix_is_constant<M>) {
            constexpr int columns = product_of(matrix_inner_extent[M]), rows = product_of(matrix_stream_extent[M]);
            using element = typename type_of<memory_type[matrix_memory[M]]>::type;
            const element* const from = static_cast<const element*>(a.data[matrix_memory[M]]) + matrix_offset[M];
            compute* const to = reinterpret_cast<compute*>(memory + matrix_region[M]);
            RICCI_UNROLL_ONCE
            for (int e = threadIdx.x; e < rows * columns; e += threads_per_block) {
                const int r = e / columns, n = e % columns;
                const compute x = load_as<compute>(from[offset_in_matrix<M>(r, n)]);
                to[r * matrix_pitch[M] + n] = matrix_conjugated[M] ? conjugate(x) : x;
            }
        }
        copy_matrices<M + 1>(a, memory);
    }
}

/// A phase for the block's elements.
template <int P> struct phase_of_block {
    static constexpr int items = items_of_phase<P>;
    const arguments& a;
    unsigned char* memory;
    long long first;
    int elements;

    RICCI_FUNCTION place at(int t) const { return {a, memory, first, t / items, t % items}; }

    RICCI_FUNCTION void run() const {
        RICCI_UNROLL_ONCE
        for (int t = threadIdx.x; t < items * elements; t += threads_per_block) run_item<P>(at(t));
    }

    /// What tables find for a thread's items is on its way at once.
    RICCI_FUNCTION void run_gathering() const {
        constexpr int rounds = gathers_of<P>::rounds;
        compute numbers[rounds][at_least_one(gathers_of<P>::numbers)];
        RICCI_UNROLL
        for (int r = 0; r < rounds; ++r)
            if (const int t = threadIdx.x + r * threads_per_block; t < items * elements)
                gather_numbers<P>(at(t), numbers[r]);
        RICCI_UNROLL
        for (int r = 0; r < rounds; ++r)
            if (const int t = threadIdx.x + r * threads_per_block; t < items * elements)
                run_item<P>(place_with_numbers<P>(at(t), numbers[r]));
    }
};

template <int P>
RICCI_FUNCTION void run_phases(const arguments& a, unsigned char* memory, long long first, int elements) {
    if constexpr (P < phase_count) {
#if RICCI_BULK_COPIES
        if constexpr (P == first_late_phase()) wait_barrier(barrier_of(late_spans, memory), 0);
#endif
        const phase_of_block<P> phase{a, memory, first, elements};
        if constexpr (phase_call[P] >= 0) run_call<P>(a, memory, first, elements);
        else if constexpr (gathers_of<P>::come_at_once()) phase.run_gathering();
        else phase.run();
        // Without any wait ptxas takes two phases for one, and twice the registers (f64, p = 8: 168 for 92).
        if constexpr (P + 1 < phase_count) {
            if constexpr (phase_waits[P + 1]) __syncthreads();
            else __syncwarp();
        }
        run_phases<P + 1>(a, memory, first, elements);
    }
}

extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_of_processor)
    ricci_chain(const __grid_constant__ arguments a) {
    wait_for_stream();
    RICCI_SHARED(memory);
    const long long first = block_number() * elements_of_block;
    if (first >= a.elements) return; // the whole block
    const int elements =
        static_cast<int>(a.elements - first < elements_of_block ? a.elements - first : elements_of_block);
#if RICCI_BULK_COPIES
    copy_barrier &early = barrier_of(early_spans, memory), &late = barrier_of(late_spans, memory);
    if (threadIdx.x == 0) start_barrier(early, 1), start_barrier(late, 1);
    if (threadIdx.x < 32) __syncwarp(); // for compute-sanitizer's racecheck, as in batched_small.cuh
    if (threadIdx.x == 0) {
        load_spans<early_spans>(a, memory, first, elements, early);
        load_spans<late_spans>(a, memory, first, elements, late);
        ask_for_later_tables(a, first);
    }
#endif
    for_each_span<loaded_spans>(a, memory, first, elements, load_by_threads{});
    copy_matrices<0>(a, memory);
    __syncthreads();
#if RICCI_BULK_COPIES
    if constexpr (has_spans(early_spans)) wait_barrier(early, 0);
#endif
    run_phases<0>(a, memory, first, elements);
    if constexpr (has_spans(stored_spans)) {
#if RICCI_BULK_COPIES
        show_to_copy_engine();
#endif
        __syncthreads();
        for_each_span<stored_spans>(a, memory, first, elements, store_back{});
#if RICCI_BULK_COPIES
        if (threadIdx.x == 0) wait_bulk_stores();
#endif
    }
}
