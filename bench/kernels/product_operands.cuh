// product_operands: what the bench's own kernels know of C(x) (+)= sum over k of A(x, k)*B(x, k), where x stands for
// the three indices of an element of C, the fastest in memory first. Stands behind scalar.hpp.
// Constants: a_type, b_type, c_type, compute_type, a_conjugated, b_conjugated, accumulate; gathered: whether a table
// says where the batch's A and B lie; fits_32_bits: whether 32 bits count C's
// elements, which divides faster.

using a_element = type_of<a_type>::type;
using b_element = type_of<b_type>::type;
using c_element = type_of<c_type>::type;
using compute = type_of<compute_type>::type;

struct operands {
    void* c;
    const void* a;
    const void* b;
    long long k, a_step, b_step;  ///< of the sum: its length, and strides in A and B
    long long extent[3];          ///< of C's indices
    long long stride[3][3];       ///< of each in C, A and B
    long long elements;           ///< of C: the extents multiplied
    const int* table;             ///< gathered: counts the batch's index in A and B
    long long batch;              ///< which of C's indices that is
};

template <bool Narrow> struct counted_in { using type = long long; };
template <> struct counted_in<true> { using type = unsigned; };

/// Where element number `place` of C lies, and where its sum begins in A and B.
struct places {
    long long c, a, b;
};
RICCI_FUNCTION places places_of(const operands& o, long long place) {
    using number = counted_in<fits_32_bits>::type;
    const number at_place = static_cast<number>(place), extent0 = static_cast<number>(o.extent[0]),
                 extent1 = static_cast<number>(o.extent[1]);
    const number rest = at_place / extent0;
    const long long x0 = at_place % extent0, x1 = rest % extent1, x2 = rest / extent1;
    const auto at = [&](int operand) {
        long long moved = 0;
        if (gathered && operand > 0) {
            const long long e = o.batch == 0 ? x0 : o.batch == 1 ? x1 : x2;
            moved = (o.table[e] - e) * o.stride[operand][o.batch];
        }
        return x0 * o.stride[operand][0] + x1 * o.stride[operand][1] + x2 * o.stride[operand][2] + moved;
    };
    return {at(0), at(1), at(2)};
}

template <class To> RICCI_FUNCTION To load_a(const operands& o, long long at) {
    const To value = load_as<To>(static_cast<const a_element*>(o.a)[at]);
    return a_conjugated ? conjugate(value) : value;
}
template <class To> RICCI_FUNCTION To load_b(const operands& o, long long at) {
    const To value = load_as<To>(static_cast<const b_element*>(o.b)[at]);
    return b_conjugated ? conjugate(value) : value;
}
