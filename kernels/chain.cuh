// chain: steps that hand each other temporaries, for a few elements a block. Slices of memory that lie one behind
// another (spans) come and go by bulk copies; what shares a thread's item stays in registers, what passes between
// threads in shared memory; matrices that all elements share are the kernel's constants, which multiply-adds take as
// they take registers, or are copied to shared memory.
//
// Constants: chain_tables.hpp's, phase_waits[] (for each other, before the phase), threads_per_block,
// elements_of_block, blocks_of_processor (that an SM is to have at once). Regions are bytes from the start of shared memory.
#pragma once

#include "span_copy.cuh"
#include "chain_phases.hpp"

/// Written before the kernel starts, from the matrices' memory.
extern "C" {
__constant__ compute ricci_constants[at_least_one(constant_count)];
}

/// A thread's item of an element of the block.
struct place {
    using number = compute;
    const arguments& a;
    unsigned char* memory;
    long long first; ///< element of the block
    int element, item;

    static RICCI_FUNCTION compute zero() { return from_real<compute>(0, 0); }
    RICCI_FUNCTION compute scalar(int n) const { return from_real<compute>(a.scalar[n][0], a.scalar[n][1]); }
    static RICCI_FUNCTION void add_product(compute& sum, compute x, compute y) { ::add_product(sum, x, y); }
    template <int Kind> static RICCI_FUNCTION compute applied(compute p) { return apply<Kind>(p); }
    template <int Kind> static RICCI_FUNCTION compute applied(compute p, compute q) { return apply<Kind>(p, q); }

    template <int M> static RICCI_FUNCTION auto* span(const arguments& a, unsigned char* memory, long long first) {
        using element = typename type_of<memory_type[M]>::type;
        const element* const global = static_cast<const element*>(a.data[M]) + first * memory_step[M];
        return reinterpret_cast<element*>(place_in(memory + span_region[M], global));
    }

    /// Where the element lies.
    template <int V> RICCI_FUNCTION auto* address(int point, int n) const {
        constexpr int number = view_number[V];
        if constexpr (view_space[V] == space_slot) {
            return reinterpret_cast<compute*>(memory + slot_region[number]) +
                   (element * slot_step[number] + offset_in_slice<V, int>(item, point, n));
        } else if constexpr (view_space[V] == space_span) {
            return span<number>(a, memory, first) +
                   (element * memory_step[number] + offset_in_slice<V, int>(item, point, n));
        } else {
            const long long offset = offset_in_slice<V>(item, point, n);
            using type = typename type_of<memory_type[number]>::type;
            type* const at = static_cast<type*>(a.data[number]) + (first + element) * a.element_step[number] + offset;
            return at + offset_by_tables<V>(table_entries{*this, point, n});
        }
    }

    struct table_entries {
        const place& where;
        int point, n;
        template <int V> RICCI_FUNCTION long long at() const { return *where.address<V>(point, n); }
    };

    template <int V> RICCI_FUNCTION compute load(int point, int n) const {
        const compute x = load_as<compute>(*address<V>(point, n));
        return view_conjugated[V] ? conjugate(x) : x;
    }
    template <int V, int Accumulation> RICCI_FUNCTION void store(int point, int n, compute x) const {
        using type = typename type_of<view_type[V]>::type;
        auto* const to = address<V>(point, n);
        if constexpr (view_adds_atomically[V]) {
            add_atomically(to, store_as<type>(Accumulation > 0 ? x : -x));
        } else {
            if constexpr (Accumulation != 0) {
                const compute old = load_as<compute>(*to);
                x = Accumulation > 0 ? old + x : old - x;
            }
            *to = store_as<type>(x);
        }
    }

    /// Neighbors in a row of a matrix: of one in shared memory 16 bytes, which all threads of a warp read at once.
    template <int M> struct factors {
        static constexpr bool is_constant = matrix_is_constant<M>, is_shared = matrix_memory[M] >= 0 && !is_constant;
        static constexpr int count = is_shared && sizeof(compute) < 16 ? 16 / static_cast<int>(sizeof(compute)) : 1;
        struct alignas(count * sizeof(compute)) neighbors { compute x[count]; };
        compute x[count];
        RICCI_FUNCTION factors(const place& at, int point, int n) {
            if constexpr (is_constant) {
                const compute c = ricci_constants[static_cast<int>(matrix_constant[M] + offset_in_matrix<M>(point, n))];
                x[0] = matrix_conjugated[M] ? conjugate(c) : c;
            } else if constexpr (is_shared) {
                const auto row = reinterpret_cast<const compute*>(at.memory + matrix_region[M]) + point * matrix_pitch[M];
                const neighbors some = *reinterpret_cast<const neighbors*>(row + n);
                RICCI_UNROLL
                for (int j = 0; j < count; ++j) x[j] = some.x[j];
            } else {
                x[0] = at.template load<matrix_view[M]>(point, n);
            }
        }
    };
};

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

/// The slices of a memory that belong to the block's elements.
template <int M> struct block_span {
    using element = typename type_of<memory_type[M]>::type;
    using unit = unit_of<element>;
    element *global, *shared;
    span_parts parts;
    RICCI_FUNCTION block_span(const arguments& a, unsigned char* memory, long long first, int elements)
        : global(static_cast<element*>(a.data[M]) + first * memory_step[M]),
          shared(place::span<M>(a, memory, first)),
          parts(parts_of(global, ((elements - 1) * memory_step[M] + memory_reach[M]) * static_cast<int>(sizeof(element)))) {}
};

template <int M> constexpr bool loads_span = memory_is_span[M] && memory_is_read[M];
template <int M> constexpr bool stores_span = memory_is_span[M] && memory_is_written[M];

/// f(span) for the spans that are loaded, or for those that are stored.
template <int M, bool Stored, class F>
RICCI_FUNCTION void for_each_span(const arguments& a, unsigned char* memory, long long first, int elements, const F& f) {
    if constexpr (M < memory_count) {
        if constexpr (Stored ? stores_span<M> : loads_span<M>) f(block_span<M>(a, memory, first, elements));
        for_each_span<M + 1, Stored>(a, memory, first, elements, f);
    }
}

template <int M = 0> RICCI_FUNCTION constexpr bool has_stored_spans() {
    if constexpr (M == memory_count) return false;
    else return stores_span<M> || has_stored_spans<M + 1>();
}

// What is done with each of a block's spans. (Classes: NVRTC takes a lambda's template for a host's function.)
struct count_bulk_bytes {
    int& bytes;
    template <class Span> RICCI_FUNCTION void operator()(const Span& s) const { bytes += s.parts.middle; }
};
#if RICCI_BULK_COPIES
struct start_bulk_load {
    copy_barrier& loaded;
    template <class Span> RICCI_FUNCTION void operator()(const Span& s) const {
        if (s.parts.middle > 0)
            bulk_load(middle_of(s.shared, s.parts), middle_of(s.global, s.parts), s.parts.middle, loaded);
    }
};
#endif
struct load_by_threads {
    template <class Span> RICCI_FUNCTION void operator()(const Span& s) const {
        copy_ends<typename Span::unit>(s.shared, s.global, s.parts);
#if !RICCI_BULK_COPIES
        copy_middle(s.shared, s.global, s.parts);
#endif
    }
};
struct store_back {
    template <class Span> RICCI_FUNCTION void operator()(const Span& s) const {
#if RICCI_BULK_COPIES
        if (threadIdx.x == 0 && s.parts.middle > 0)
            bulk_store(middle_of(s.global, s.parts), middle_of(s.shared, s.parts), s.parts.middle);
#else
        copy_middle(s.global, s.shared, s.parts);
#endif
        copy_ends<typename Span::unit>(s.global, s.shared, s.parts);
    }
};

template <int P> RICCI_FUNCTION void run_phases(const arguments& a, unsigned char* memory, long long first, int elements) {
    if constexpr (P < phase_count) {
        constexpr int items = items_of_phase<P>;
        RICCI_UNROLL_ONCE
        for (int t = threadIdx.x; t < items * elements; t += threads_per_block) {
            const place at{a, memory, first, t / items, t % items};
            run_item<P>(at);
        }
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
    copy_barrier& loaded = *reinterpret_cast<copy_barrier*>(memory);
    if (threadIdx.x == 0) start_barrier(loaded, 1);
    if (threadIdx.x < 32) __syncwarp(); // for compute-sanitizer's racecheck, as in batched_small.cuh
    if (threadIdx.x == 0) {
        int bytes = 0;
        for_each_span<0, false>(a, memory, first, elements, count_bulk_bytes{bytes});
        arrive_expecting(loaded, bytes);
        for_each_span<0, false>(a, memory, first, elements, start_bulk_load{loaded});
    }
#endif
    for_each_span<0, false>(a, memory, first, elements, load_by_threads{});
    copy_matrices<0>(a, memory);
    __syncthreads();
#if RICCI_BULK_COPIES
    wait_barrier(loaded, 0);
#endif
    run_phases<0>(a, memory, first, elements);
    if constexpr (has_stored_spans()) {
#if RICCI_BULK_COPIES
        show_to_copy_engine();
#endif
        __syncthreads();
        for_each_span<0, true>(a, memory, first, elements, store_back{});
#if RICCI_BULK_COPIES
        if (threadIdx.x == 0) wait_bulk_stores();
#endif
    }
}
