// direct_tree: evaluates any right side for one element of the left; what direct.cuh and direct_cpu.hpp share.
//
// The prelude gives, as constants:
//   axis_count, left_axis_count      the first left_axis_count axes are the output's
//   axis_extent[axis]                or `argument`, if it comes in arguments::extent
//   operand_count, operand_type[]    operand 0 is the output
//   operand_stride[operand][axis]    in elements, or `argument`
//   gather_count, gathered_operand[], gather_table[]    gathered positions: of which operand, by which operand's
//                                                       entries
//   bound_count, bound_operand[]     padded positions: 0 <= offset + sum of coefficient*axis < extent
//   node_count, node_kind[], node_a[], node_b[]      children first, root last; kinds are lowering::operation's
//   sum_first[], sum_length[], sum_axis[], sum_shared_axis[]   the axes of each sum, and the one that threads share
//   scalar_count, compute_type, accumulation         accumulation: 0 '=', 1 '+=', -1 '-='
//   adds_atomically                                  several elements may be one: += and -= by atomics
#pragma once

#include "index_table.hpp"
#include "operations.hpp"

struct arguments {
    void* data[operand_count];
    long long extent[at_least_one(axis_count)];
    long long stride[operand_count][at_least_one(axis_count)];
    long long gather_stride[at_least_one(gather_count)]; ///< elements that an entry counts
    long long bound_offset[at_least_one(bound_count)];
    long long bound_extent[at_least_one(bound_count)];
    long long bound_coefficient[at_least_one(bound_count)][at_least_one(axis_count)];
    double scalar[at_least_one(scalar_count)][2];
    long long work_items; // elements of the output; parts of its rows on a CPU
    long long teams;      // on a GPU: whether a team of threads shares each element
};

using compute = type_of<compute_type>::type;

template <int Axis> RICCI_FUNCTION long long extent(const arguments& a) {
    if constexpr (axis_extent[Axis] == argument) return a.extent[Axis];
    else return axis_extent[Axis];
}

/// The element's offset: sum of stride*axis, over the axes from Axis on.
template <int Operand, int Axis = 0> RICCI_FUNCTION long long offset(const arguments& a, const long long* x) {
    if constexpr (Axis == axis_count) return 0;
    else if constexpr (operand_stride[Operand][Axis] == 0) return offset<Operand, Axis + 1>(a, x);
    else if constexpr (operand_stride[Operand][Axis] == argument)
        return a.stride[Operand][Axis] * x[Axis] + offset<Operand, Axis + 1>(a, x);
    else return operand_stride[Operand][Axis] * x[Axis] + offset<Operand, Axis + 1>(a, x);
}

template <int Operand, int Bound = 0> RICCI_FUNCTION bool is_inside(const arguments& a, const long long* x) {
    if constexpr (Bound == bound_count) return true;
    else {
        if constexpr (bound_operand[Bound] == Operand) {
            long long at = a.bound_offset[Bound];
            RICCI_UNROLL
            for (int axis = 0; axis < axis_count; ++axis) at += a.bound_coefficient[Bound][axis] * x[axis];
            if (at < 0 || at >= a.bound_extent[Bound]) return false;
        }
        return is_inside<Operand, Bound + 1>(a, x);
    }
}

template <int Operand, int Gather = 0, class Element>
RICCI_FUNCTION Element* add_gathers(const arguments& a, const long long* x, Element* at) {
    if constexpr (Gather == gather_count) return at;
    else {
        if constexpr (gathered_operand[Gather] == Operand) {
            constexpr int table = gather_table[Gather], type = operand_type[table];
            at = gathered<type>(at, table_entry<type>(a.data[table], offset<table>(a, x)), a.gather_stride[Gather]);
        }
        return add_gathers<Operand, Gather + 1>(a, x, at);
    }
}

/// Where the element lies.
template <int Operand> RICCI_FUNCTION auto* element_at(const arguments& a, const long long* x) {
    using element = typename type_of<operand_type[Operand]>::type;
    return add_gathers<Operand>(a, x, static_cast<element*>(a.data[Operand])) + offset<Operand>(a, x);
}

template <int Operand> RICCI_FUNCTION compute load(const arguments& a, const long long* x) {
    if (!is_inside<Operand>(a, x)) return from_real<compute>(0, 0);
    return load_as<compute>(*element_at<Operand>(a, x));
}

/// Threads that evaluate one element together: each takes every count-th value of a sum's shared axis, then `reduce`
/// adds up. Serial evaluation has one of them.
struct alone {
    static constexpr bool shares = false;
    template <int Axis> static constexpr bool adds_lanes = false; ///< sums along it are `sum_in_lanes`'s
    static constexpr int rank = 0, size = 1;
    template <int Operand> RICCI_FUNCTION compute load(const arguments& a, const long long* x) const {
        return ::load<Operand>(a, x);
    }
    RICCI_FUNCTION alone within_sum() const { return {}; } ///< a sum within a sum is not shared once more
};

/// A sum is added up in pieces of about the root of its length: its rounding error then grows with the root, too, and
/// 2^25 ones in float are 2^25 and not 2^24.
RICCI_FUNCTION long long piece_length(long long length) {
    long long piece = 64;
    while (piece * piece < length) piece *= 2;
    return piece;
}

template <int N, class Team> RICCI_FUNCTION compute evaluate(const arguments& a, long long* x, const Team& team);

template <int N, int Depth, class Team>
RICCI_FUNCTION compute sum_over(const arguments& a, long long* x, const Team& team) {
    constexpr int list = node_b[N];
    if constexpr (Depth == sum_length[list]) {
        return evaluate<node_a[N]>(a, x, team.within_sum());
    } else {
        constexpr int axis = sum_axis[sum_first[list] + Depth];
        constexpr bool shared = Team::shares && axis == sum_shared_axis[list];
        if constexpr (Depth + 1 == sum_length[list] && Team::template adds_lanes<axis>)
            return team.template sum_in_lanes<node_a[N], axis>(a, x);
        const long long length = extent<axis>(a), first = shared ? team.rank : 0, step = shared ? Team::size : 1;
        const long long piece = piece_length(length) * step;
        compute total = from_real<compute>(0, 0);
        for (long long begin = 0; begin < length; begin += piece) {
            const long long end = length - begin < piece ? length : begin + piece;
            compute part = from_real<compute>(0, 0);
            for (x[axis] = begin + first; x[axis] < end; x[axis] += step) part += sum_over<N, Depth + 1>(a, x, team);
            total += part;
        }
        return total;
    }
}

/// The value of node N with the axes at x; sums leave their axes anywhere.
template <int N, class Team> RICCI_FUNCTION compute evaluate(const arguments& a, long long* x, const Team& team) {
    constexpr int kind = node_kind[N];
    if constexpr (kind == op_access) return team.template load<node_a[N]>(a, x);
    else if constexpr (kind == op_scalar) return from_real<compute>(a.scalar[node_a[N]][0], a.scalar[node_a[N]][1]);
    else if constexpr (kind == op_sum) {
        const compute total = sum_over<N, 0>(a, x, team);
        if constexpr (Team::shares && sum_length[node_b[N]] > 0) return team.reduce(total);
        else return total;
    } else {
        const compute p = evaluate<node_a[N]>(a, x, team);
        if constexpr (takes_two(kind)) return apply<kind>(p, evaluate<node_b[N]>(a, x, team));
        else return apply<kind>(p);
    }
}

/// What the output's element at x becomes: `value`, or that added to it; or what is added to it by atomics.
template <class Team>
RICCI_FUNCTION compute updated(const arguments& a, const long long* x, compute value, const Team& team) {
    if constexpr (accumulation == 0) return value;
    else if constexpr (adds_atomically) return accumulation == 1 ? value : -value;
    else if constexpr (accumulation == 1) return team.template load<0>(a, x) + value;
    else return team.template load<0>(a, x) - value;
}
template <class Element> RICCI_FUNCTION void put_at(Element* element, compute value) {
    if constexpr (adds_atomically) add_atomically(element, store_as<Element>(value));
    else *element = store_as<Element>(value);
}
RICCI_FUNCTION void put(const arguments& a, const long long* x, compute value) {
    if (is_inside<0>(a, x)) put_at(element_at<0>(a, x), value);
}
/// Stores `value` in the output's element at x, or adds it there.
RICCI_FUNCTION void store(const arguments& a, const long long* x, compute value) {
    put(a, x, updated(a, x, value, alone{}));
}

/// The left axes of work item `t`, from axis First on; the first runs fastest.
template <int First, class Number> RICCI_FUNCTION void unflatten_in(const arguments& a, Number t, long long* x) {
    if constexpr (First + 1 == left_axis_count) {
        x[First] = t; // the last axis takes what is left
    } else if constexpr (First < left_axis_count) {
        const Number length = static_cast<Number>(extent<First>(a));
        x[First] = t % length;
        unflatten_in<First + 1>(a, t / length, x);
    }
}
/// By divisions of 32 bits where they do: those of 64 take a GPU four times as many instructions.
template <int First> RICCI_FUNCTION void unflatten(const arguments& a, long long t, long long* x) {
    if (left_axis_count > First + 1 && a.work_items <= 0xffffffffLL)
        unflatten_in<First>(a, static_cast<unsigned>(t), x);
    else unflatten_in<First>(a, t, x);
}
