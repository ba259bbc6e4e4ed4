// factor_pivot_search: which of the rows that a warp's lanes have is the pivot's, by keys of 32 bits: the upper bits
// of a number's size, as many of the last of them as rows want replaced by the row's number. The largest key,
// one reduction, tells all lanes the row; only where another key is within those bits of it, which is rare, all the
// number's bits and then the rows' positions decide.
#pragma once

#include "factor_lanes_results.cuh"
#include "ptx_reduce.cuh"

/// A row's standing in the search: while it may be a pivot, this and its number, which take the place of a number's
/// sign and last bits to make its key; then its position.
constexpr unsigned is_candidate = 1u << 31,
                   row_bits = m <= 16 ? 15 : m <= 32 ? 31 : m <= 64 ? 63 : m <= 128 ? 127 : 255;
static_assert(m <= 256);

/// Of a number's upper bits: the least whose reciprocal, and of complex numbers the square of whose size, does not
/// overflow or underflow, and how many there are from it on that are the same.
constexpr unsigned size_of_power = sizeof(real) == 8 ? 1u << 20 : 1u << 23,
                   plain_powers = sizeof(real) == 8 ? (is_complex ? 500 : 1020) : (is_complex ? 60 : 124),
                   least_plain_size = ((sizeof(real) == 8 ? 1023 : 127) - plain_powers) * size_of_power,
                   plain_sizes = 2 * plain_powers * size_of_power;
RICCI_FUNCTION bool is_extreme(unsigned size) { return size - least_plain_size >= plain_sizes; }
constexpr unsigned size_of_two = 0x40000000u; ///< as a float and as a double: an extreme one below it is small

template <class T>
RICCI_FUNCTION unsigned search_key(T x, unsigned standing) {
    return (upper_of_size(x) & ~row_bits & ~is_candidate) | standing;
}
template <int Rows>
RICCI_FUNCTION unsigned largest_of_rows(const unsigned (&key)[Rows]) {
    unsigned largest = 0;
    RICCI_UNROLL
    for (int r = 0; r < Rows; ++r) largest = key[r] > largest ? key[r] : largest;
    return largest;
}
/// Whether another of the lane's keys may belong to as large a number.
template <int Rows>
RICCI_FUNCTION bool has_rival(const unsigned (&key)[Rows], unsigned largest) {
    unsigned nearest = ~0u; // key below the largest: less than row_bits where it may have the same bits
    RICCI_UNROLL
    for (int r = 0; r < Rows; ++r) {
        const unsigned below = largest - 1 - key[r];
        nearest = below < nearest ? below : nearest;
    }
    return nearest < row_bits;
}

/// The pivot's key where several may be: the largest by all the number's bits, and of equal ones the first.
/// number(r), position(r): of the lane's row r. `counts`: whether the lane's do. By whole warps, of which Lanes
/// neighboring lanes search together.
template <int Lanes, int Rows, class Number, class Position>
RICCI_FUNCTION unsigned decide_pivot(const unsigned (&key)[Rows], unsigned largest, bool counts,
                                     const Number& number, const Position& position) {
    bool is_left[Rows];
    unsigned part[Rows];
    const auto keep_largest = [&] {
        const unsigned best = largest_of_lanes<Lanes>(largest_of_rows(part));
        RICCI_UNROLL
        for (int r = 0; r < Rows; ++r) is_left[r] = is_left[r] && part[r] == best;
    };
    RICCI_UNROLL
    for (int r = 0; r < Rows; ++r) {
        is_left[r] = counts && (key[r] & is_candidate) != 0 && (key[r] ^ largest) <= row_bits;
        part[r] = is_left[r] ? upper_of_size(number(r)) : 0;
    }
    keep_largest();
    if constexpr (sizeof(real) == 8) {
        RICCI_UNROLL
        for (int r = 0; r < Rows; ++r) part[r] = is_left[r] ? lower_of_size(number(r)) : 0;
        keep_largest();
    }
    RICCI_UNROLL
    for (int r = 0; r < Rows; ++r) part[r] = is_left[r] ? is_candidate - static_cast<unsigned>(position(r)) : 0;
    keep_largest();
    RICCI_UNROLL
    for (int r = 0; r < Rows; ++r) part[r] = is_left[r] ? key[r] : 0;
    return largest_of_lanes<Lanes>(largest_of_rows(part));
}
