// mma_numbers: the tensor cores' products by element type, and how a number is brought into the form that they take:
// f64, half and bfloat16 as they are, f32 as two TF32 numbers, or rounded to one.
// Constants:
//   rounds_to_tf32     whether f32 is rounded
//   rows_of_f64        of a product of f64: 8, or 16 where the chip has it
#pragma once

#include "ptx_mma.cuh"
#include "scalar.hpp"

/// A tensor core's product: rows a tile (columns are 8), rows a lane holds, elements of the sum a lane holds at a
/// time, and in how many passes it is made: tiles take turns, for the next not to wait for the last.
template <int Type> struct mma_of;
template <int Rows> struct mma_of_doubles {
    using number = double;
    using sum = double;
    static constexpr int rows = Rows, lane_rows = Rows / 8, elements = 1, passes = 1;
    static constexpr unsigned least_exact = 0; ///< nothing is split
    static RICCI_FUNCTION number read(double x, unsigned&) { return x; }
    static RICCI_FUNCTION number negative(number x) { return -x; }
    template <int> static RICCI_FUNCTION void multiply(double (&d)[2 * lane_rows], const number (&a)[lane_rows][1],
                                                       const number (&b)[1]) {
        if constexpr (lane_rows == 2) {
            const double left[2] = {a[0][0], a[1][0]};
            mma_f64(d, left, b[0]);
        } else {
            mma_f64(d, a[0][0], b[0]);
        }
    }
};
template <> struct mma_of<3> : mma_of_doubles<rows_of_f64> {};
template <int Type> struct mma_of_16_bits {
    using number = unsigned;
    using sum = float;
    static constexpr int rows = 16, lane_rows = 2, elements = 4, passes = 1;
    static constexpr unsigned least_exact = 0;
    template <class Element> static RICCI_FUNCTION number read(Element x, unsigned&) { return x.bits; }
    static RICCI_FUNCTION number negative(number x) { return x ^ 0x8000u; }
    template <int> static RICCI_FUNCTION void multiply(float (&d)[4], const number (&a)[2][4], const number (&b)[4]) {
        const unsigned left[4] = {a[0][0] | a[0][1] << 16, a[1][0] | a[1][1] << 16, a[0][2] | a[0][3] << 16,
                                  a[1][2] | a[1][3] << 16};
        const unsigned right[2] = {b[0] | b[1] << 16, b[2] | b[3] << 16};
        if constexpr (Type == 0) mma_f16(d, left, right);
        else mma_bf16(d, left, right);
    }
};
template <> struct mma_of<0> : mma_of_16_bits<0> {};
template <> struct mma_of<1> : mma_of_16_bits<1> {};
template <bool Rounded> struct mma_of_floats {
    struct number {
        unsigned high, low;
    };
    static constexpr int words = 2; ///< of a number
    static RICCI_FUNCTION unsigned word_of(number x, int w) { return w == 0 ? x.high : x.low; }
    static RICCI_FUNCTION number of_words(const unsigned (&w)[2]) { return {w[0], w[1]}; }
    using sum = float;
    static constexpr int rows = 16, lane_rows = 2, elements = 2, passes = 3;
    /// To nearest, so that `low` has one bit less and the products are right to 2^-22. Of infinity and NaN it makes
    /// NaN; `least` becomes below `least_exact` where bits of `low` are below the smallest TF32 number.
    static RICCI_FUNCTION number read(float x, unsigned& least) {
        // of zero the largest
        const unsigned high = (bits_of(x) + 0x1000u) & 0xffffe000u, magnitude = 2 * bits_of(x) - 1;
        least = magnitude < least ? magnitude : least;
        return {high, bits_of(x - float_of(high))};
    }
    static constexpr unsigned least_exact = 2 * 0x06800000u - 1; // 2^-114: 22 bits more are 2^-136
    static RICCI_FUNCTION number negative(number x) { return {x.high ^ 0x80000000u, x.low ^ 0x80000000u}; }
    template <int Pass>
    static RICCI_FUNCTION void multiply(float (&d)[4], const number (&a)[2][2], const number (&b)[2]) {
        const unsigned a_high[4] = {a[0][0].high, a[1][0].high, a[0][1].high, a[1][1].high},
                       a_low[4] = {a[0][0].low, a[1][0].low, a[0][1].low, a[1][1].low};
        const unsigned b_high[2] = {b[0].high, b[1].high}, b_low[2] = {b[0].low, b[1].low};
        if constexpr (Pass == 0) mma_tf32(d, a_low, b_high);
        else if constexpr (Pass == 1) mma_tf32(d, a_high, b_low);
        else mma_tf32(d, a_high, b_high);
    }
};
template <> struct mma_of_floats<true> {
    using number = unsigned;
    static constexpr int words = 1;
    static RICCI_FUNCTION unsigned word_of(number x, int) { return x; }
    static RICCI_FUNCTION number of_words(const unsigned (&w)[1]) { return w[0]; }
    using sum = float;
    static constexpr int rows = 16, lane_rows = 2, elements = 2, passes = 1;
    static constexpr unsigned least_exact = 0; ///< the smallest are rounded to multiples of 2^-136
    static RICCI_FUNCTION number read(float x, unsigned&) { return rounded_to_tf32(x); }
    static RICCI_FUNCTION number negative(number x) { return x ^ 0x80000000u; }
    template <int> static RICCI_FUNCTION void multiply(float (&d)[4], const number (&a)[2][2], const number (&b)[2]) {
        const unsigned left[4] = {a[0][0], a[1][0], a[0][1], a[1][1]};
        mma_tf32(d, left, b);
    }
};
template <> struct mma_of<2> : mma_of_floats<rounds_to_tf32> {};

/// Sums of a warp's tiles.
template <class Sum, int Rows, int Columns, int Count>
RICCI_FUNCTION void clear_sums(Sum (&sums)[Rows][Columns][Count]) {
    RICCI_UNROLL
    for (int r = 0; r < Rows; ++r)
        RICCI_UNROLL
        for (int t = 0; t < Columns; ++t)
            RICCI_UNROLL
            for (int i = 0; i < Count; ++i) sums[r][t][i] = 0;
}

/// Whether one of sum(0 ... Count-1) is no finite number.
template <int Count, class Sum> RICCI_FUNCTION bool has_nan_or_infinity(const Sum& sum) {
    float zero = 0; // times anything else
    RICCI_UNROLL
    for (int i = 0; i < Count; ++i) zero += 0 * static_cast<float>(sum(i));
    return zero != 0;
}

/// Whether a number that Mma has read lost bits; `least`: of all that it read.
template <class Mma> RICCI_FUNCTION bool has_lost_bits(unsigned least) {
    if constexpr (Mma::least_exact > 0) return least < Mma::least_exact;
    else return false;
}

/// A real or imaginary part of an element.
template <bool Conjugated, class Element> RICCI_FUNCTION float part_of(const Element& from, int z) {
    if constexpr (real_part<Element>::is_complex) return z == 0 ? from.re : Conjugated ? -from.im : from.im;
    else return static_cast<float>(from);
}

/// The parts of an element, real and imaginary.
template <class Mma, bool Conjugated, class Element>
RICCI_FUNCTION void read_parts(const Element& from, typename Mma::number* into, unsigned& least) {
    if constexpr (real_part<Element>::is_complex)
        into[0] = Mma::read(from.re, least), into[1] = Mma::read(Conjugated ? -from.im : from.im, least);
    else into[0] = Mma::read(from, least);
}
