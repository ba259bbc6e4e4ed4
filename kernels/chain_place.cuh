// chain_place: where a chain's item is: its numbers in global and shared memory, and among the kernel's constants.
// Constants: chain.cuh's.
#pragma once

#include "chain_phases.hpp"
#include "span_copy.cuh"

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
                const auto row =
                    reinterpret_cast<const compute*>(at.memory + matrix_region[M]) + point * matrix_pitch[M];
                const neighbors some = *reinterpret_cast<const neighbors*>(row + n);
                RICCI_UNROLL
                for (int j = 0; j < count; ++j) x[j] = some.x[j];
            } else {
                x[0] = at.template load<matrix_view[M]>(point, n);
            }
        }
    };
};
