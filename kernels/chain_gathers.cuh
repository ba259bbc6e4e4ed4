// chain_gathers: what a chain's phase reads from where index tables say, for all items of a thread at once.
// Constants: chain.cuh's.
#pragma once

#include "chain_place.cuh"

/// What a phase loads from where tables say: each of these waits for memory.
template <int P> struct gathers_of {
    static RICCI_FUNCTION constexpr bool is_pencil(int view) {
        for (int q = phase_first_pencil[P]; q < phase_first_pencil[P] + phase_pencils[P]; ++q)
            if (!pencil_is_output[q] && pencil_view[q] == view) return true;
        return false;
    }
    static RICCI_FUNCTION constexpr bool is_load(int view) {
        for (int op = phase_first_op[P]; op < phase_first_op[P] + phase_ops[P]; ++op)
            if (op_kind[op] == work_load && op_view[op] == view) return true;
        return false;
    }
    static RICCI_FUNCTION constexpr bool has(int view) {
        return view_phase[view] == P && view_tables[view] > 0 && (is_pencil(view) || is_load(view));
    }
    /// Numbers of an item, in the order of the views; before a view, or all.
    static RICCI_FUNCTION constexpr int numbers_before(int view) {
        int out = 0;
        for (int v = 0; v < view; ++v)
            if (has(v)) out += is_pencil(v) ? product_of(view_inner_extent[v]) : points_of_phase<P>;
        return out;
    }
    static constexpr int numbers = numbers_before(view_count);

    static constexpr int rounds = (items_of_phase<P> * elements_of_block - 1) / threads_per_block + 1;
    /// Whether those of all items of a thread are asked for at once: where they stay in registers.
    static RICCI_FUNCTION constexpr bool come_at_once() {
        constexpr int most_bytes = 160;
        constexpr bool is_unrolled = phase_is_written_out[P] || points_of_phase<P> == phase_unrolled[P];
        return numbers > 0 && rounds > 1 && is_unrolled &&
               rounds * numbers * static_cast<int>(sizeof(compute)) <= most_bytes;
    }
};

/// An item whose gathered numbers are there.
template <int P> struct place_with_numbers : place {
    const compute (&numbers)[at_least_one(gathers_of<P>::numbers)];
    RICCI_FUNCTION place_with_numbers(const place& at, const compute (&gathered)[at_least_one(gathers_of<P>::numbers)])
        : place(at), numbers(gathered) {}
    template <int V> RICCI_FUNCTION compute load(int point, int n) const {
        if constexpr (gathers_of<P>::has(V))
            return numbers[gathers_of<P>::numbers_before(V) + (gathers_of<P>::is_pencil(V) ? n : point)];
        else return place::load<V>(point, n);
    }
};

template <int P, int V = 0>
RICCI_FUNCTION void gather_numbers(const place& at, compute (&numbers)[at_least_one(gathers_of<P>::numbers)]) {
    using gathers = gathers_of<P>;
    if constexpr (V < view_count) {
        if constexpr (gathers::has(V)) {
            constexpr int count = gathers::numbers_before(V + 1) - gathers::numbers_before(V);
            RICCI_UNROLL
            for (int n = 0; n < count; ++n)
                numbers[gathers::numbers_before(V) + n] =
                    gathers::is_pencil(V) ? at.template load<V>(0, n) : at.template load<V>(n, 0);
        }
        gather_numbers<P, V + 1>(at, numbers);
    }
}
