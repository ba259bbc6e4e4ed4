// product: C (+)= alpha * sum over k of X(m, k)*Y(k, n), possibly for every element of a batch; what the product kernels share.
//
// The prelude gives, as constants:
//   compute_type, c_type, x_type, y_type; x_conjugated, y_conjugated; accumulate
//   scaled (whether there is an alpha: multiplying by 1 would turn a complex infinity into NaN), negative (C -= ...)
//   m_axes, n_axes, k_axes, batch_axes          how many axes make up m, n, k and the batch, the first fastest
//   m_extent[], n_extent[], k_extent[]          or `argument`: then it is in the arguments
//   m_stride[2][] (in C, X), n_stride[2][] (in C, Y), k_stride[2][] (in X, Y)    or `argument`
#pragma once

#include "scalar.hpp"

RICCI_FUNCTION constexpr int at_least_one(int n) { return n > 0 ? n : 1; }

struct arguments {
    void* c;
    const void* x;
    const void* y;
    double alpha[2];
    long long products; ///< the batch's extents multiplied
    long long blocks;   ///< of the whole launch
    long long m_length[at_least_one(m_axes)], n_length[at_least_one(n_axes)], k_length[at_least_one(k_axes)];
    long long m_step[2][at_least_one(m_axes)], n_step[2][at_least_one(n_axes)], k_step[2][at_least_one(k_axes)];
    long long batch_length[at_least_one(batch_axes)];
    long long batch_step[3][at_least_one(batch_axes)]; ///< in C, X, Y
};

using compute = type_of<compute_type>::type;
using c_element = type_of<c_type>::type;
using x_element = type_of<x_type>::type;
using y_element = type_of<y_type>::type;

RICCI_FUNCTION constexpr long long flat_extent(const long long* extents, int count) {
    long long product = 1;
    for (int a = 0; a < count; ++a) product = extents[a] == argument ? argument : product * extents[a];
    return product;
}
constexpr long long m = flat_extent(m_extent, m_axes); ///< `argument` where it is not a constant
constexpr long long n = flat_extent(n_extent, n_axes);
constexpr long long k = flat_extent(k_extent, k_axes);

/// The offset of the flat index `i` over `count` axes; with a constant i and constant strides, a constant.
RICCI_FUNCTION long long flat_offset(int count, const long long* extents, const long long* strides, const long long* steps, long long i) {
    if (count == 1) return i * (strides[0] == argument ? steps[0] : strides[0]);
    long long offset = 0;
    RICCI_UNROLL
    for (int a = 0; a < count; ++a) {
        const long long at = a + 1 == count ? i : i % extents[a];
        if (a + 1 < count) i /= extents[a];
        offset += at * (strides[a] == argument ? steps[a] : strides[a]);
    }
    return offset;
}

RICCI_FUNCTION long long c_offset(const arguments& a, long long i, long long j) {
    return flat_offset(m_axes, m_extent, m_stride[0], a.m_step[0], i) + flat_offset(n_axes, n_extent, n_stride[0], a.n_step[0], j);
}
RICCI_FUNCTION long long x_offset(const arguments& a, long long i, long long p) {
    return flat_offset(m_axes, m_extent, m_stride[1], a.m_step[1], i) + flat_offset(k_axes, k_extent, k_stride[0], a.k_step[0], p);
}
RICCI_FUNCTION long long y_offset(const arguments& a, long long p, long long j) {
    return flat_offset(k_axes, k_extent, k_stride[1], a.k_step[1], p) + flat_offset(n_axes, n_extent, n_stride[1], a.n_step[1], j);
}

/// Where product `b` of the batch lies in C, X and Y.
struct batch_offsets {
    long long c, x, y;
};
RICCI_FUNCTION batch_offsets offsets_of(const arguments& a, long long b) {
    batch_offsets out{0, 0, 0};
    RICCI_UNROLL
    for (int axis = 0; axis < batch_axes; ++axis) {
        const long long at = axis + 1 == batch_axes ? b : b % a.batch_length[axis];
        if (axis + 1 < batch_axes) b /= a.batch_length[axis];
        out.c += at * a.batch_step[0][axis];
        out.x += at * a.batch_step[1][axis];
        out.y += at * a.batch_step[2][axis];
    }
    return out;
}

RICCI_FUNCTION compute load_x(const void* x, long long offset) {
    const compute value = load_as<compute>(static_cast<const x_element*>(x)[offset]);
    return x_conjugated ? conjugate(value) : value;
}
RICCI_FUNCTION compute load_y(const void* y, long long offset) {
    const compute value = load_as<compute>(static_cast<const y_element*>(y)[offset]);
    return y_conjugated ? conjugate(value) : value;
}
/// C[offset] (+)= alpha * sum.
RICCI_FUNCTION void store_c(const arguments& a, long long offset, compute value) {
    c_element* at = static_cast<c_element*>(a.c) + offset;
    if constexpr (scaled) value = from_real<compute>(a.alpha[0], a.alpha[1]) * value;
    if constexpr (negative) value = -value;
    if constexpr (accumulate) value = load_as<compute>(*at) + value;
    *at = store_as<c_element>(value);
}
