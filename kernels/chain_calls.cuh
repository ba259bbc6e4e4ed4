// chain_calls: a chain's calls on a GPU: each item's matrix by some neighboring lanes of a warp, which have a row
// each, or several. All of a warp's lanes come along, those without an item too.
#pragma once

#include "chain_calls.hpp"
#include "chain_place.cuh"

/// Shared memory's elements are counted in 32 bits.
template <bool Global> struct distance_in { using type = int; };
template <> struct distance_in<true> { using type = long long; };

/// Of the lanes that share call C's matrix: one of them.
template <int C> struct lane_team {
    using number = compute;
    using real = typename real_part<compute>::type;
    using truth = bool;
    using position = int;
    static constexpr int lanes = call_lanes[C];

    const place& at;
    int lane;
    bool is_there; ///< has an item

    // ---- its numbers ----

    static RICCI_FUNCTION real real_of(double x) { return static_cast<real>(x); }
    static RICCI_FUNCTION position position_of(int n) { return n; }
    static RICCI_FUNCTION bool is_none(position n) { return n == 0; }
    template <class T> static RICCI_FUNCTION T choose(bool which, T yes, T no) { return which ? yes : no; }
    static RICCI_FUNCTION bool both(bool a, bool b) { return a && b; }
    static RICCI_FUNCTION bool either(bool a, bool b) { return a || b; }
    static RICCI_FUNCTION bool negated(bool a) { return !a; }
    static RICCI_FUNCTION bool any(bool a) { return a; }
    static RICCI_FUNCTION bool is_less(real a, real b) { return a < b; }
    static RICCI_FUNCTION bool is_equal(real a, real b) { return a == b; }
    static RICCI_FUNCTION real larger(real a, real b) { return a > b ? a : b; }
    static RICCI_FUNCTION real root(real x) { return real_sqrt(x); }
    static RICCI_FUNCTION real with_sign(real x, real of) { return of < 0 || (of == 0 && 1 / of < 0) ? -x : x; }
    static RICCI_FUNCTION real magnitude(real x) { return real_abs(x); }
    static RICCI_FUNCTION number quotient(number x, number y) { return x / y; }
    static RICCI_FUNCTION void take_larger(real& best, position& at, real size, int row) {
        if (best < size) best = size, at = row;
    }

    // ---- its matrix ----

    template <int V> RICCI_FUNCTION auto* address(int i, int j) const {
        using distance = typename distance_in<view_space[V] == space_memory>::type;
        return at.template address<V>(0, 0) +
               (static_cast<distance>(view_inner[V][0]) * i + static_cast<distance>(view_inner[V][1]) * j);
    }
    template <int V> RICCI_FUNCTION number load(int i, int j) const {
        if (!is_there) return from_real<number>(0, 0);
        const number x = load_as<number>(*address<V>(i, j));
        return view_conjugated[V] ? conjugate(x) : x;
    }
    template <int V> RICCI_FUNCTION void store(int i, int j, number x) const {
        if (is_there) *address<V>(i, j) = store_as<typename type_of<view_type[V]>::type>(x);
    }
    template <int V> RICCI_FUNCTION position load_position(int k) const {
        return is_there ? static_cast<position>(*address<V>(k, 0)) : k;
    }
    template <int V> RICCI_FUNCTION void store_position(int k, position n) const {
        if (is_there && lane == 0) *address<V>(k, 0) = n;
    }

    // ---- with its neighbors ----

    RICCI_FUNCTION void meet() const { __syncwarp(); }

    RICCI_FUNCTION real total(real x) const {
        RICCI_UNROLL
        for (int apart = 1; apart < lanes; apart *= 2) x += __shfl_xor_sync(0xffffffffu, x, apart);
        return x;
    }
    RICCI_FUNCTION real largest(real x) const {
        RICCI_UNROLL
        for (int apart = 1; apart < lanes; apart *= 2) x = larger(__shfl_xor_sync(0xffffffffu, x, apart), x);
        return x;
    }
    /// Of equal ones the first row.
    RICCI_FUNCTION void largest(real& best, position& row) const {
        RICCI_UNROLL
        for (int apart = 1; apart < lanes; apart *= 2) {
            const real other = __shfl_xor_sync(0xffffffffu, best, apart);
            const position its = __shfl_xor_sync(0xffffffffu, row, apart);
            if (other > best || (other == best && its < row)) best = other, row = its;
        }
    }

    template <int V> RICCI_FUNCTION void exchange(int row, position other, int columns) const {
        if (row == other) return;
        RICCI_UNROLL_ONCE
        for (int j = lane; j < columns; j += lanes) {
            const number x = load<V>(row, j);
            store<V>(row, j, load<V>(other, j)), store<V>(other, j, x);
        }
    }
};

template <int P>
RICCI_FUNCTION void run_call(const arguments& a, unsigned char* memory, long long first, int elements) {
    constexpr int items = items_of_phase<P>, lanes = call_lanes[phase_call[P]];
    RICCI_UNROLL_ONCE
    for (int before = 0; before < items * elements; before += threads_per_block / lanes) {
        const int t = before + static_cast<int>(threadIdx.x) / lanes;
        const bool is_there = t < items * elements;
        const place at{a, memory, first, is_there ? t / items : 0, is_there ? t % items : 0};
        const lane_team<phase_call[P]> team{at, static_cast<int>(threadIdx.x) % lanes, is_there};
        call_work<phase_call[P], lane_team<phase_call[P]>>(team).run();
    }
}
