// chain_spans: how the slices of a block's elements that lie one behind another come to shared memory, and go back.
// Constants: chain.cuh's.
#pragma once

#include "chain_place.cuh"

/// The slices of a memory that belong to the block's elements.
template <int M> struct block_span {
    using element = typename type_of<memory_type[M]>::type;
    using unit = unit_of<element>;
    element *global, *shared;
    span_parts parts;
    bool is_inside; ///< 16 bytes before and behind it lie between the memory's first and last, used or not
    RICCI_FUNCTION block_span(const arguments& a, unsigned char* memory, long long first, int elements)
        : global(static_cast<element*>(a.data[M]) + first * memory_step[M]),
          shared(place::span<M>(a, memory, first)), parts(parts_of(global, bytes_to(elements))),
          is_inside(bytes_to(first) >= 16 && bytes_to(a.elements) - bytes_to(first + elements) >= 16) {}

    /// From an element on to the last number of `elements`.
    static RICCI_FUNCTION constexpr long long bytes_to(long long elements) {
        return ((elements - 1) * memory_step[M] + memory_reach[M]) * static_cast<int>(sizeof(element));
    }
    /// What is loaded by a bulk copy: inside of the memory whole 16 bytes, so that nobody waits for the ends (a tenth
    /// of the time of mass of p = 4 in blocks of 5 elements on an H100, 2026-11-25).
    struct aligned_part {
        unsigned char* to;
        const unsigned char* from;
        int bytes;
    };
    RICCI_FUNCTION aligned_part loaded() const {
        if (!is_inside) return {middle_of(shared, parts), middle_of(global, parts), parts.middle};
        const int before = static_cast<int>(reinterpret_cast<unsigned long long>(global) % 16);
        return {reinterpret_cast<unsigned char*>(shared) - before, reinterpret_cast<unsigned char*>(global) - before,
                (before + parts.head + parts.middle + parts.tail + 15) / 16 * 16};
    }
};

/// Spans that the first phase uses, which is often what finds its operands, have a barrier of their own: of an H100's
/// time for mass on global vectors (2026-11-25) a quarter was waiting for all of them.
enum span_set { early_spans, late_spans, loaded_spans, stored_spans };
RICCI_FUNCTION constexpr bool is_in(span_set set, int memory) {
    if (!memory_is_span[memory]) return false;
    if (set == stored_spans) return memory_is_written[memory];
    return memory_is_read[memory] && (set == loaded_spans || (memory_first_phase[memory] > 0) == (set == late_spans));
}
RICCI_FUNCTION constexpr bool has_spans(span_set set) {
    for (int m = 0; m < memory_count; ++m)
        if (is_in(set, m)) return true;
    return false;
}
/// The first phase that uses one of the late spans.
RICCI_FUNCTION constexpr int first_late_phase() {
    int out = phase_count;
    for (int m = 0; m < memory_count; ++m)
        if (is_in(late_spans, m) && memory_first_phase[m] < out) out = memory_first_phase[m];
    return out;
}

/// f(span) for each of them.
template <span_set Set, int M = 0, class F>
RICCI_FUNCTION void for_each_span(const arguments& a, unsigned char* memory, long long first, int elements,
                                  const F& f) {
    if constexpr (M < memory_count) {
        if constexpr (is_in(Set, M)) f(block_span<M>(a, memory, first, elements));
        for_each_span<Set, M + 1>(a, memory, first, elements, f);
    }
}

// What is done with each of a block's spans. (Classes: NVRTC takes a lambda's template for a host's function.)
struct count_bulk_bytes {
    int& bytes;
    template <class Span> RICCI_FUNCTION void operator()(const Span& s) const { bytes += s.loaded().bytes; }
};
#if RICCI_BULK_COPIES
struct start_bulk_load {
    copy_barrier& loaded;
    template <class Span> RICCI_FUNCTION void operator()(const Span& s) const {
        const auto part = s.loaded();
        if (part.bytes > 0) bulk_load(part.to, part.from, part.bytes, loaded);
    }
};

/// By one thread.
template <span_set Set>
RICCI_FUNCTION void load_spans(const arguments& a, unsigned char* memory, long long first, int elements,
                               copy_barrier& loaded) {
    if constexpr (has_spans(Set)) {
        int bytes = 0;
        for_each_span<Set>(a, memory, first, elements, count_bulk_bytes{bytes});
        arrive_expecting(loaded, bytes);
        for_each_span<Set>(a, memory, first, elements, start_bulk_load{loaded});
    }
}
#endif
struct load_by_threads {
    template <class Span> RICCI_FUNCTION void operator()(const Span& s) const {
#if RICCI_BULK_COPIES
        if (s.is_inside) return;
#else
        copy_middle(s.shared, s.global, s.parts);
#endif
        copy_ends<typename Span::unit>(s.shared, s.global, s.parts);
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

#if RICCI_BULK_COPIES
RICCI_FUNCTION copy_barrier& barrier_of(span_set set, unsigned char* memory) {
    return reinterpret_cast<copy_barrier*>(memory)[set];
}

/// Index tables of the block that follows when all that the chip has now are done: then they come from the L2 cache.
template <int M = 0> RICCI_FUNCTION void ask_for_later_tables(const arguments& a, long long first) {
    if constexpr (M < memory_count) {
        using element = typename type_of<memory_type[M]>::type;
        if constexpr (is_in(early_spans, M) && is_index_code(memory_type[M])) {
            constexpr int bytes = static_cast<int>(block_span<M>::bytes_to(elements_of_block));
            const long long later = first + static_cast<long long>(blocks_at_once) * elements_of_block;
            if (later + elements_of_block <= a.elements)
                prefetch_line_to_l2<bytes>(static_cast<const element*>(a.data[M]) + later * memory_step[M], bytes);
        }
        ask_for_later_tables<M + 1>(a, first);
    }
}
#endif
