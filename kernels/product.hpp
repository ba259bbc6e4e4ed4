// product: C = [beta*] C + alpha * sum over k of X(m, k)*Y(k, n), or C = alpha * that sum, possibly for every element
// of a batch; what the product kernels share.
//
// The prelude gives, as constants:
//   compute_type, c_type, x_type, y_type; x_conjugated, y_conjugated; accumulate
//   scaled (whether there is an alpha: multiplying by 1 would turn a complex infinity into NaN), negative (C -= ...)
//   c_scaled (of those that accumulate: whether there is a beta)
//   m_axes, n_axes, k_axes, batch_axes          how many axes make up m, n, k and the batch, the first fastest
//   m_extent[], n_extent[], k_extent[]          or `argument`: then it is in the arguments
//   m_stride[2][] (in C, X), n_stride[2][] (in C, Y), k_stride[2][] (in X, Y)    or `argument`
//   box_maps           how many of these the arguments have that say how operands lie in boxes: see ptx_box.cuh
//   table_type[3]      of the tables that say where the matrices of C, X and Y lie: see index_table.hpp; -1: no table
#pragma once

#include "index_table.hpp"
#include "scalar.hpp"

constexpr bool has_tables = table_type[0] >= 0 || table_type[1] >= 0 || table_type[2] >= 0;

template <bool> struct table_arguments {};
template <> struct table_arguments<true> {
    const void* table[3];      ///< of C, X, Y
    long long entry_stride[3]; ///< elements of the operand that an entry counts
    long long table_step[3][at_least_one(batch_axes)];
};

/// What the copy engine knows of a matrix: 16 words of its own, that the host writes.
#if RICCI_ON_GPU
struct alignas(64) box_map {
#else
struct box_map {
#endif
    unsigned long long word[16];
};

template <int Maps> struct box_arguments {
    box_map box[Maps];        ///< of C, X, Y, if a kernel does not say otherwise
    long long boxes_are_here; ///< else some lines do not start at multiples of 16 bytes
    long long unused[7];      ///< up to whole alignments
};
template <> struct box_arguments<0> {};

struct arguments : box_arguments<box_maps>, table_arguments<has_tables> {
    void* c;
    const void* x;
    const void* y;
    double alpha[2], beta[2];
    void* workspace;    ///< the step's own memory, where its kernel wants some
    long long products; ///< the batch's extents multiplied
    long long blocks;   ///< of the whole launch
    /// products a block of batched_small takes: fewer than it has room for where the batch is short
    long long share;
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

/// One group of axes: what is `argument` among the constants is in the arguments.
struct axis_group {
    int count;
    const long long *extents, *lengths, *strides, *steps;
};

/// The offset of the flat index `i` over a group's axes; with a constant i and constant strides, a constant.
RICCI_FUNCTION long long flat_offset(const axis_group& g, long long i) {
    if (g.count == 1) return i * (g.strides[0] == argument ? g.steps[0] : g.strides[0]);
    long long offset = 0;
    RICCI_UNROLL
    for (int a = 0; a < g.count; ++a) {
        const long long extent = g.extents[a] == argument ? g.lengths[a] : g.extents[a];
        const long long at = a + 1 == g.count ? i : i % extent;
        if (a + 1 < g.count) i /= extent;
        offset += at * (g.strides[a] == argument ? g.steps[a] : g.strides[a]);
    }
    return offset;
}

RICCI_FUNCTION long long m_offset(const arguments& a, int in_x, long long i) {
    return flat_offset({m_axes, m_extent, a.m_length, m_stride[in_x], a.m_step[in_x]}, i);
}
RICCI_FUNCTION long long n_offset(const arguments& a, int in_y, long long j) {
    return flat_offset({n_axes, n_extent, a.n_length, n_stride[in_y], a.n_step[in_y]}, j);
}
RICCI_FUNCTION long long k_offset(const arguments& a, int in_y, long long p) {
    return flat_offset({k_axes, k_extent, a.k_length, k_stride[in_y], a.k_step[in_y]}, p);
}
RICCI_FUNCTION long long c_offset(const arguments& a, long long i, long long j) {
    return m_offset(a, 0, i) + n_offset(a, 0, j);
}
RICCI_FUNCTION long long x_offset(const arguments& a, long long i, long long p) {
    return m_offset(a, 1, i) + k_offset(a, 0, p);
}
RICCI_FUNCTION long long y_offset(const arguments& a, long long p, long long j) {
    return k_offset(a, 1, p) + n_offset(a, 1, j);
}

/// m where it is no constant.
RICCI_FUNCTION long long row_count(const arguments& a) {
    long long rows = 1;
    RICCI_UNROLL
    for (int axis = 0; axis < m_axes; ++axis) rows *= a.m_length[axis];
    return rows;
}

/// Where product `b` of the batch lies in C, X and Y.
struct batch_offsets {
    long long c, x, y;
};
/// Calls f(batch axis, where product `b` is on it) for all.
template <class F> RICCI_FUNCTION void each_batch_axis(const arguments& a, long long b, const F& f) {
    RICCI_UNROLL
    for (int axis = 0; axis < batch_axes; ++axis) {
        const long long at = axis + 1 == batch_axes ? b : b % a.batch_length[axis];
        if (axis + 1 < batch_axes) b /= a.batch_length[axis];
        f(axis, at);
    }
}
RICCI_FUNCTION batch_offsets offsets_of(const arguments& a, long long b) {
    batch_offsets out{0, 0, 0};
    each_batch_axis(a, b, [&](int axis, long long at) {
        out.c += at * a.batch_step[0][axis];
        out.x += at * a.batch_step[1][axis];
        out.y += at * a.batch_step[2][axis];
    });
    return out;
}

/// The same with what tables give.
struct batch_places {
    c_element* c;
    const x_element* x;
    const y_element* y;
};
template <int O, class Arguments, class Element>
RICCI_FUNCTION Element* place_by_table(const Arguments& a, Element* first, long long b) {
    if constexpr (table_type[O] < 0) return first;
    else {
        long long entry = 0;
        each_batch_axis(a, b, [&](int axis, long long i) { entry += i * a.table_step[O][axis]; });
        return gathered<table_type[O]>(first, table_entry<table_type[O]>(a.table[O], entry), a.entry_stride[O]);
    }
}
RICCI_FUNCTION batch_places places_of(const arguments& a, long long b) {
    const batch_offsets at = offsets_of(a, b);
    return {place_by_table<0>(a, static_cast<c_element*>(a.c), b) + at.c,
            place_by_table<1>(a, static_cast<const x_element*>(a.x), b) + at.x,
            place_by_table<2>(a, static_cast<const y_element*>(a.y), b) + at.y};
}

RICCI_FUNCTION compute load_x(const void* x, long long offset) {
    const compute value = load_as<compute>(static_cast<const x_element*>(x)[offset]);
    return x_conjugated ? conjugate(value) : value;
}
RICCI_FUNCTION compute load_y(const void* y, long long offset) {
    const compute value = load_as<compute>(static_cast<const y_element*>(y)[offset]);
    return y_conjugated ? conjugate(value) : value;
}
/// What an element of C holds, times beta.
RICCI_FUNCTION compute load_c(const arguments& a, const c_element& element) {
    const compute old = load_as<compute>(element);
    if constexpr (c_scaled) return from_real<compute>(a.beta[0], a.beta[1]) * old;
    else return old;
}
/// element = [beta * element +] alpha * sum.
RICCI_FUNCTION void update(const arguments& a, c_element& element, compute sum) {
    if constexpr (scaled) sum = from_real<compute>(a.alpha[0], a.alpha[1]) * sum;
    if constexpr (negative) sum = -sum;
    if constexpr (accumulate) sum = load_c(a, element) + sum;
    element = store_as<c_element>(sum);
}
RICCI_FUNCTION void store_c(const arguments& a, long long offset, compute sum) {
    update(a, static_cast<c_element*>(a.c)[offset], sum);
}

/// Element (i, j) of the product whose X and Y begin at x and y, by multiply-adds over steps [begin, end) of the sum.
RICCI_FUNCTION compute dot_in_global(const arguments& a, const x_element* x, const y_element* y, long long i,
                                     long long j, long long begin, long long end) {
    compute sum = from_real<compute>(0, 0);
    RICCI_UNROLL_ONCE
    for (long long l = begin; l < end; ++l) sum += load_x(x, x_offset(a, i, l)) * load_y(y, y_offset(a, l, j));
    return sum;
}
