// chain_calls, for a CPU: the matrices of the same item of a vector's elements at once, one in each lane. Their
// pivots differ: rows are exchanged lane by lane. chain_cpu.hpp has `place` and the vectors.
#pragma once

#include "chain_calls.hpp"
#include "simd_choices.hpp"

/// Call C's matrices, one of each element.
template <int C> struct vector_team {
    using number = typename place::number;
    using real = ::vector; ///< of all elements
    using truth = indices;
    using position = indices;
    static constexpr int lanes = 1, lane = 0;

    const place& at;

    // ---- its numbers ----

    static RICCI_FUNCTION real real_of(double x) { return all_lanes(static_cast<::real>(x)); }
    static RICCI_FUNCTION position position_of(int n) { return indices{} + static_cast<integer>(n); }
    static RICCI_FUNCTION truth is_none(position n) { return n == 0; }
    static RICCI_FUNCTION position choose(truth which, position yes, position no) { return chosen(which, yes, no); }
    static RICCI_FUNCTION real choose(truth which, real yes, real no) { return chosen(which, yes, no); }
    static RICCI_FUNCTION truth both(truth a, truth b) { return a & b; }
    static RICCI_FUNCTION truth either(truth a, truth b) { return a | b; }
    static RICCI_FUNCTION truth negated(truth a) { return ~a; }
    static RICCI_FUNCTION bool any(truth a) { return any_of(a); }
    static RICCI_FUNCTION truth is_less(real a, real b) { return ::is_less(a, b); }
    static RICCI_FUNCTION truth is_equal(real a, real b) { return ::is_equal(a, b); }
    static RICCI_FUNCTION real larger(real a, real b) { return ::larger(a, b); }
    static RICCI_FUNCTION real root(real x) { return square_roots(x); }
    static RICCI_FUNCTION real with_sign(real x, real of) { return ::with_sign(x, of); }
    static RICCI_FUNCTION real magnitude(real x) { return absolute(x); }
    static RICCI_FUNCTION number quotient(number x, number y) { return place::applied<op_divide>(x, y); }
    static RICCI_FUNCTION void take_larger(real& best, position& at, real size, int row) {
        const truth is_better = ::is_less(best, size);
        best = chosen(is_better, size, best), at = chosen(is_better, position_of(row), at);
    }

    // ---- its matrices ----

    template <int V> static constexpr bool is_in_block = view_space[V] != space_memory;

    template <int V> RICCI_FUNCTION ::real* in_block(int i, int j) const {
        return at.template in_block<V>(0, 0) +
               (static_cast<int>(view_inner[V][0]) * i + static_cast<int>(view_inner[V][1]) * j) * place::numbers;
    }
    template <int V> RICCI_FUNCTION auto* in_memory(int i, int j, int l) const {
        return at.template in_memory<V>(0, 0, l) + (view_inner[V][0] * i + view_inner[V][1] * j);
    }
    template <int V> RICCI_FUNCTION number load(int i, int j) const {
        number x{};
        if constexpr (is_in_block<V>) load_number(in_block<V>(i, j), x);
        else
            for (int l = 0; l < ::lanes; ++l) set_lane(x, l, load_as<compute>(*in_memory<V>(i, j, l)));
        return view_conjugated[V] ? place::conjugate_lanes(x) : x;
    }
    template <int V> RICCI_FUNCTION void store(int i, int j, number x) const {
        if constexpr (is_in_block<V>) store_number(in_block<V>(i, j), x);
        else
            for (int l = 0; l < at.elements; ++l)
                *in_memory<V>(i, j, l) = store_as<typename type_of<view_type[V]>::type>(lane_of(x, l));
    }
    template <int V> RICCI_FUNCTION position load_position(int k) const {
        position n{};
        for (int l = 0; l < ::lanes; ++l) n[l] = static_cast<integer>(*in_memory<V>(k, 0, l));
        return n;
    }
    template <int V> RICCI_FUNCTION void store_position(int k, position n) const {
        for (int l = 0; l < at.elements; ++l)
            *in_memory<V>(k, 0, l) = static_cast<typename type_of<view_type[V]>::type>(n[l]);
    }

    template <int V> RICCI_FUNCTION void exchange(int row, position other, int columns) const {
        for (int l = 0; l < ::lanes; ++l) {
            const int to = static_cast<int>(other[l]);
            if (to == row) continue;
            for (int j = 0; j < columns; ++j)
                for (int p = 0; p < parts; ++p) {
                    ::real &x = in_block<V>(row, j)[p * ::lanes + l], &y = in_block<V>(to, j)[p * ::lanes + l];
                    const ::real old = x;
                    x = y, y = old;
                }
        }
    }

    // ---- it is alone ----

    RICCI_FUNCTION void meet() const {}
    RICCI_FUNCTION real total(real x) const { return x; }
    RICCI_FUNCTION real largest(real x) const { return x; }
    RICCI_FUNCTION void largest(real&, position&) const {}
};

template <int P> RICCI_FUNCTION void run_call(const place& at) {
    const vector_team<phase_call[P]> team{at};
    call_work<phase_call[P], vector_team<phase_call[P]>>(team).run();
}
