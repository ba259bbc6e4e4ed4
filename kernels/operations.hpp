// operations: what the nodes of a right side do, by lowering::operation's numbers.
#pragma once

#include "scalar.hpp"

enum operation {
    op_access, op_scalar, op_add, op_subtract, op_multiply, op_divide, op_negate, op_conjugate, op_relu, op_exp,
    op_sqrt, op_abs, op_min, op_max, op_reciprocal, op_sum
};

RICCI_FUNCTION constexpr bool takes_two(int kind) {
    return kind == op_add || kind == op_subtract || kind == op_multiply || kind == op_divide || kind == op_min ||
           kind == op_max;
}

template <int Kind, class T> RICCI_FUNCTION T apply(T p) {
    if constexpr (Kind == op_negate) return -p;
    else if constexpr (Kind == op_conjugate) return conjugate(p);
    else if constexpr (Kind == op_relu) return function_relu(p);
    else if constexpr (Kind == op_exp) return function_exp(p);
    else if constexpr (Kind == op_sqrt) return function_sqrt(p);
    else if constexpr (Kind == op_abs) return function_abs(p);
    else {
        static_assert(Kind == op_reciprocal, "of one argument");
        return function_reciprocal(p);
    }
}

template <int Kind, class T> RICCI_FUNCTION T apply(T p, T q) {
    if constexpr (Kind == op_add) return p + q;
    else if constexpr (Kind == op_subtract) return p - q;
    else if constexpr (Kind == op_multiply) return p * q;
    else if constexpr (Kind == op_divide) return p / q;
    else if constexpr (Kind == op_min) return function_min(p, q);
    else {
        static_assert(Kind == op_max, "of two arguments");
        return function_max(p, q);
    }
}
