// chain, for a CPU: a vector has the same number of neighboring elements, one in each lane, so that every operation
// of a phase is a vector's. Spans are transposed into such vectors when a block of elements begins, and back when it
// ends; slots are vectors; matrices that all elements share are single numbers, broadcast where they multiply.
//
// Constants: chain_tables.hpp's, chain_calls.hpp's and chain_additions_cpu.hpp's; simd_bytes; block_bytes, of a
// block's memory, in which regions lie; memory_is_shared[], whether all elements have the same; span_plane[], numbers
// of a span behind which one is left out (0: none). Work items are blocks of as many elements as a vector has lanes.
#pragma once

#include "chain_phases.hpp"
#include "index_table.hpp"
#include "simd.hpp"

using real = real_part<compute>::type;
constexpr int parts = real_part<compute>::is_complex ? 2 : 1, lanes = simd_lanes<real>;
using vector = simd<real, lanes>;

template <bool First, class A, class B>
struct choose {
    using type = A;
};
template <class A, class B>
struct choose<false, A, B> {
    using type = B;
};

template <int Parts>
struct number_of_lanes {
    using type = vector;
};
template <>
struct number_of_lanes<2> {
    using type = complex<vector>;
};

RICCI_FUNCTION void load_number(const real* p, vector& x) { x = load_whole<real, lanes>(p); }
RICCI_FUNCTION void load_number(const real* p, complex<vector>& x) {
    x = {load_whole<real, lanes>(p), load_whole<real, lanes>(p + lanes)};
}
RICCI_FUNCTION void store_number(real* p, vector x) { store_whole<real, lanes>(p, x); }
RICCI_FUNCTION void store_number(real* p, complex<vector> x) {
    store_whole<real, lanes>(p, x.re);
    store_whole<real, lanes>(p + lanes, x.im);
}
RICCI_FUNCTION real lane_of(vector x, int l) { return x[l]; }
RICCI_FUNCTION complex<real> lane_of(const complex<vector>& x, int l) { return {x.re[l], x.im[l]}; }
template <class T>
RICCI_FUNCTION void set_lane(vector& x, int l, T value) {
    x[l] = value;
}
template <class T>
RICCI_FUNCTION void set_lane(complex<vector>& x, int l, T value) {
    x.re[l] = value.re, x.im[l] = value.im;
}

/// Less 0, which leaves -0 as it is.
RICCI_FUNCTION vector in_all_lanes(real x) { return x - vector{}; }
RICCI_FUNCTION complex<vector> in_all_lanes(complex<real> x) { return {in_all_lanes(x.re), in_all_lanes(x.im)}; }

RICCI_FUNCTION void add_lanes(vector& sum, vector x, real y) { sum += x * y; }
RICCI_FUNCTION void add_lanes(vector& sum, vector x, vector y) { sum += x * y; }
template <class Y>
RICCI_FUNCTION void add_lanes(complex<vector>& sum, complex<vector> x, complex<Y> y) {
    sum.re += x.re * y.re, sum.im += x.re * y.im;
    sum.re -= x.im * y.im, sum.im += x.im * y.re;
}

struct place {
    using number = typename number_of_lanes<parts>::type;
    static constexpr int numbers = parts * lanes; ///< reals
    const arguments& a;
    real* memory;
    long long first; ///< element of the block
    int elements, item;

    static RICCI_FUNCTION number zero() { return number{}; }
    RICCI_FUNCTION number scalar(int n) const {
        return in_all_lanes(from_real<compute>(a.scalar[n][0], a.scalar[n][1]));
    }
    template <class Y>
    static RICCI_FUNCTION void add_product(number& sum, number x, Y y) {
        add_lanes(sum, x, y);
    }

    template <int Kind>
    static constexpr bool is_of_vectors = Kind == op_add || Kind == op_subtract || Kind == op_multiply ||
                                          Kind == op_negate || Kind == op_conjugate ||
                                          (Kind == op_divide && parts == 1);

    template <int Kind>
    static RICCI_FUNCTION number applied(number p) {
        if constexpr (Kind == op_negate)
            return -p;
        else if constexpr (Kind == op_conjugate)
            return conjugate_lanes(p);
        else {
            number out{};
            for (int l = 0; l < lanes; ++l) set_lane(out, l, apply<Kind>(lane_of(p, l)));
            return out;
        }
    }
    template <int Kind>
    static RICCI_FUNCTION number applied(number p, number q) {
        if constexpr (is_of_vectors<Kind>)
            return apply<Kind>(p, q);
        else {
            number out{};
            for (int l = 0; l < lanes; ++l) set_lane(out, l, apply<Kind>(lane_of(p, l), lane_of(q, l)));
            return out;
        }
    }
    static RICCI_FUNCTION vector conjugate_lanes(vector p) { return p; }
    static RICCI_FUNCTION complex<vector> conjugate_lanes(complex<vector> p) { return {p.re, -p.im}; }

    template <int V>
    RICCI_FUNCTION real* in_block(int point, int n) const {
        constexpr int number = view_number[V];
        constexpr int region = view_space[V] == space_slot ? slot_region[number] : span_region[number];
        return memory + region / static_cast<int>(sizeof(real)) + offset_in_slice<V, int>(item, point, n) * numbers;
    }
    /// Of a lane's element; lanes behind the last one have that.
    template <int V>
    RICCI_FUNCTION auto* in_memory(int point, int n, int lane) const {
        constexpr int number = view_number[V];
        using type = typename type_of<memory_type[number]>::type;
        const long long element = first + (lane < elements ? lane : elements - 1);
        return static_cast<type*>(a.data[number]) + element * a.element_step[number] +
               offset_in_slice<V>(item, point, n) + offset_by_tables<V>(table_entries{*this, element, point, n});
    }
    struct table_entries {
        const place& where;
        long long element;
        int point, n;
        template <int V> RICCI_FUNCTION long long at() const {
            constexpr int memory = view_number[V];
            return table_entry<memory_type[memory]>(where.a.data[memory],
                                                    element * where.a.element_step[memory] +
                                                        offset_in_slice<V>(where.item, point, n));
        }
    };

    template <int V>
    RICCI_FUNCTION number load(int point, int n) const {
        number x{};
        if constexpr (view_space[V] == space_memory && memory_is_shared[view_number[V]] && view_tables[V] == 0) {
            x = in_all_lanes(load_as<compute>(*in_memory<V>(point, n, 0)));
        } else if constexpr (view_space[V] == space_memory) {
            for (int l = 0; l < lanes; ++l) set_lane(x, l, load_as<compute>(*in_memory<V>(point, n, l)));
        } else {
            load_number(in_block<V>(point, n), x);
        }
        if constexpr (view_conjugated[V])
            return conjugate_lanes(x);
        else
            return x;
    }
    template <int V, int Accumulation>
    RICCI_FUNCTION void store(int point, int n, number x) const {
        if constexpr (view_space[V] == space_memory) {
            using type = typename type_of<view_type[V]>::type;
            for (int l = 0; l < elements; ++l) {
                type* const to = in_memory<V>(point, n, l);
                const compute value = lane_of(x, l);
                if constexpr (Accumulation > 0)
                    *to = store_as<type>(load_as<compute>(*to) + value);
                else if constexpr (Accumulation < 0)
                    *to = store_as<type>(load_as<compute>(*to) - value);
                else
                    *to = store_as<type>(value);
            }
        } else {
            real* const to = in_block<V>(point, n);
            if constexpr (Accumulation != 0) {
                number old{};
                load_number(to, old);
                x = Accumulation > 0 ? old + x : old - x;
            }
            store_number(to, x);
        }
    }

    template <int M>
    struct factors {
        static constexpr bool is_shared = matrix_memory[M] >= 0;
        static constexpr int count = 1;
        using factor = typename choose<is_shared, compute, number>::type;
        factor x[1];
        RICCI_FUNCTION factors(const place& at, int point, int n) {
            if constexpr (is_shared)
                x[0] = reinterpret_cast<const compute*>(
                    at.memory + matrix_region[M] / static_cast<int>(sizeof(real)))[point * matrix_pitch[M] + n];
            else
                x[0] = at.template load<matrix_view[M]>(point, n);
        }
    };
};

/// The slices of a memory for a block's elements, in vectors.
template <int M>
struct block_span {
    using element = typename type_of<memory_type[M]>::type;
    using element_real = typename real_part<element>::type;
    /// Elements that are numbers of the chain are moved as reals, a square of them at a time.
    static constexpr bool is_plain = is_same<element_real, real> && real_part<element>::is_complex == (parts == 2);
    static constexpr int step = memory_step[M], reach = memory_reach[M];
    element* global;
    real* vectors;
    int elements;

    RICCI_FUNCTION element* slice(int lane) const {
        return global + static_cast<long long>(lane < elements ? lane : elements - 1) * step;
    }
    RICCI_FUNCTION real* reals(int lane) const { return reinterpret_cast<real*>(slice(lane)); }
    /// Where the vector of a slice's real lies.
    RICCI_FUNCTION real* vector_at(int real_number) const {
        constexpr int plane = span_plane[M] * parts;
        return vectors + (plane > 0 ? real_number + real_number / at_least_one(plane) * parts : real_number) * lanes;
    }

    /// From long spans numbers are asked for some squares ahead: as many short streams as there are lanes come late
    /// from the L2 cache (an EPYC: diffusion took 1.05 to 1.09 times as long).
    RICCI_FUNCTION void load() const {
        constexpr int ahead = 10, least = 20;
        int at = 0;
        if constexpr (is_plain) {
            for (; at + lanes <= reach * parts; at += lanes) {
                vector v[lanes];
                RICCI_ALL_UNROLLED for (int l = 0; l < lanes; ++l) {
                    const real* const row = reals(l) + at;
                    v[l] = load_whole<real, lanes>(row);
                    if constexpr (reach * parts >= least * lanes) __builtin_prefetch(row + ahead * lanes, 0, 3);
                }
                transpose<real, lanes, 1>(v);
                RICCI_ALL_UNROLLED for (int l = 0; l < lanes; ++l)
                    store_whole<real, lanes>(vector_at(at) + l * lanes, v[l]);
            }
            for (; at < reach * parts; ++at)
                for (int l = 0; l < lanes; ++l) vector_at(at)[l] = reals(l)[at];
        } else {
            for (; at < reach; ++at)
                for (int l = 0; l < lanes; ++l) {
                    typename place::number x{};
                    load_number(vector_at(at * parts), x);
                    set_lane(x, l, load_as<compute>(slice(l)[at]));
                    store_number(vector_at(at * parts), x);
                }
        }
    }

    RICCI_FUNCTION void store() const {
        int at = 0;
        if constexpr (is_plain) {
            if (elements == lanes)
                for (; at + lanes <= reach * parts; at += lanes) {
                    vector v[lanes];
                    RICCI_ALL_UNROLLED for (int l = 0; l < lanes; ++l) v[l] =
                        load_whole<real, lanes>(vector_at(at) + l * lanes);
                    transpose<real, lanes, 1>(v);
                    RICCI_ALL_UNROLLED for (int l = 0; l < lanes; ++l) store_whole<real, lanes>(reals(l) + at, v[l]);
                }
            for (; at < reach * parts; ++at)
                for (int l = 0; l < elements; ++l) reals(l)[at] = vector_at(at)[l];
        } else {
            for (; at < reach; ++at) {
                typename place::number x{};
                load_number(vector_at(at * parts), x);
                for (int l = 0; l < elements; ++l) slice(l)[at] = store_as<element>(lane_of(x, l));
            }
        }
    }
};

#include "chain_calls_cpu.hpp"

// What a span holds of each element goes to memory, or it is added where tables say.
#include "chain_additions_cpu.hpp"

/// Loads the spans that are read, or stores those that are written.
template <int M, bool Stored>
RICCI_FUNCTION void move_spans(const arguments& a, real* memory, long long first, int elements) {
    if constexpr (M < memory_count) {
        if constexpr (memory_is_span[M] && (Stored ? memory_is_written[M] : memory_is_read[M])) {
            using span = block_span<M>;
            const span s{static_cast<typename span::element*>(a.data[M]) + first * memory_step[M],
                         memory + span_region[M] / static_cast<int>(sizeof(real)), elements};
            if constexpr (!Stored)
                s.load();
            else if constexpr (addition_of<M>() >= 0) {
                if (a.adds_at_once)
                    add_at_once<addition_of<M>()>(a, s, first);
                else
                    s.store();
            } else
                s.store();
        }
        move_spans<M + 1, Stored>(a, memory, first, elements);
    }
}

template <int M>
RICCI_FUNCTION void copy_matrices(const arguments& a, real* memory) {
    if constexpr (M < matrix_count) {
        if constexpr (matrix_memory[M] >= 0) {
            constexpr int columns = product_of(matrix_inner_extent[M]), rows = product_of(matrix_stream_extent[M]);
            using element = typename type_of<memory_type[matrix_memory[M]]>::type;
            const element* const from = static_cast<const element*>(a.data[matrix_memory[M]]) + matrix_offset[M];
            compute* const to =
                reinterpret_cast<compute*>(memory + matrix_region[M] / static_cast<int>(sizeof(real)));
            for (int r = 0; r < rows; ++r)
                for (int n = 0; n < columns; ++n) {
                    const compute x = load_as<compute>(from[offset_in_matrix<M>(r, n)]);
                    to[r * matrix_pitch[M] + n] = matrix_conjugated[M] ? conjugate(x) : x;
                }
        }
        copy_matrices<M + 1>(a, memory);
    }
}

// ---- the next block's spans, fetched while this one is computed: left to itself the processor sees as many short
// streams as a vector has lanes, and gets a third of the memory's rate (f64, p = 4). To be read, also where they are
// written: asked for to be written they go to the L1 cache at once (an EPYC: mass took 1.07 to 1.3 times as long). ----

template <int P = 0>
constexpr int items_of_all() {
    if constexpr (P == phase_count)
        return 0;
    else
        return items_of_phase<P> + items_of_all<P + 1>();
}

template <int M>
RICCI_FUNCTION void fetch_ahead(const arguments& a, long long block_after, int item) {
    if constexpr (M < memory_count) {
        if constexpr (memory_is_span[M]) {
            constexpr int line = 64,
                          bytes = memory_step[M] * static_cast<int>(sizeof(typename type_of<memory_type[M]>::type));
            constexpr int all = (lanes * bytes + line - 1) / line, each = (all + items_of_all() - 1) / items_of_all();
            const char* const begin = static_cast<const char*>(a.data[M]) + block_after * bytes;
            for (int l = item * each; l < (item + 1) * each; ++l)
                if (l < all && (addition_of<M>() < 0 || !a.adds_at_once))
                    __builtin_prefetch(begin + l * line, 0, 2);
        }
        fetch_ahead<M + 1>(a, block_after, item);
    }
}

template <int P>
RICCI_FUNCTION void run_phases(const arguments& a, real* memory, long long first, int elements, int done) {
    if constexpr (P < phase_count) {
        for (int item = 0; item < items_of_phase<P>; ++item) {
            fetch_ahead<0>(a, first + lanes, done++);
            if constexpr (phase_call[P] >= 0)
                run_call<P>(place{a, memory, first, elements, item});
            else
                run_item<P>(place{a, memory, first, elements, item});
        }
        run_phases<P + 1>(a, memory, first, elements, done);
    }
}

extern "C" void ricci_chain(const void* words, long long first, long long last) {
    const arguments& a = *static_cast<const arguments*>(words);
    alignas(64) static thread_local real block_memory[block_bytes / sizeof(real)];
    real* const memory = anchored(block_memory); // else each item asks for this thread's again, by a call
    copy_matrices<0>(a, memory);
    for (long long block = first; block < last; ++block) {
        const long long begin = block * lanes, left = a.elements - begin;
        const int elements = static_cast<int>(left < lanes ? left : lanes);
        move_spans<0, false>(a, memory, begin, elements);
        run_phases<0>(a, memory, begin, elements, 0);
        move_spans<0, true>(a, memory, begin, elements);
    }
}
