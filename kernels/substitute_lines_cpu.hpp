// substitute_lines_cpu: vectors along the lines of one matrix, for the CPU's kernel that takes a matrix after the
// other: complex numbers one after another in a vector, their products with one number, dots, and the lines of a
// matrix cut into vectors.
//
// Constants: substitute_cpu.hpp's.
#pragma once

#include "substitute_numbers_cpu.hpp"

template <int Lane> struct lane_repeated { static constexpr int at(int) { return Lane; } };

constexpr int parts = is_complex ? 2 : 1;
constexpr int constant_rows = static_cast<int>(is_constant ? (applies_q ? rows : columns) : 0);
constexpr int least_lanes = 2 * parts < simd_lanes<real> ? 2 * parts : simd_lanes<real>;
constexpr int lanes_wanted = is_constant ? lanes_for<real>(constant_rows * parts) : simd_lanes<real>;
constexpr int lanes = lanes_wanted < least_lanes ? least_lanes : lanes_wanted;
constexpr int elements = lanes / parts; ///< of a vector, rows of a block
using vector = simd<real, lanes>;
using mask = simd<typename mask_type<real>::type, lanes>;

constexpr long long padded(long long count) { return (count + elements - 1) / elements * elements; }

// ---- numbers ----

RICCI_FUNCTION vector signs(bool first_negative, bool second_negative) {
    return [&]<int... I>(index_list<I...>) RICCI_INLINED {
        return vector{(I % 2 == 0 ? first_negative : second_negative) ? real(-1) : real(1)...};
    }(indices_to<lanes>());
}
/// Of each lane the number of its element.
RICCI_FUNCTION mask places() {
    return []<int... I>(index_list<I...>) RICCI_INLINED { return mask{I / parts...}; }(indices_to<lanes>());
}
RICCI_FUNCTION mask every_second_lane() {
    return []<int... I>(index_list<I...>) RICCI_INLINED { return mask{-(I % 2)...}; }(indices_to<lanes>());
}
RICCI_FUNCTION vector parts_exchanged(vector v) {
    if constexpr (parts == 2) return shuffled<pairs_exchanged, real, lanes>(v, v);
    else return v;
}

/// A number as what vectors of others are multiplied by.
struct factor {
    vector part[parts];
};
/// Conjugated: of the others.
template <bool Conjugated> RICCI_FUNCTION factor factor_of(vector re, vector im) {
    factor out;
    out.part[0] = parts == 2 ? re * signs(false, Conjugated) : re;
    if constexpr (parts == 2) out.part[parts - 1] = im * signs(!Conjugated, false);
    return out;
}
RICCI_FUNCTION void subtract(vector& sum, vector v, const factor& f) {
    sum -= v * f.part[0];
    if constexpr (parts == 2) sum -= parts_exchanged(v) * f.part[parts - 1];
}

/// Sums of products of vectors, to be added over lanes: their real part, and their imaginary part.
struct dot {
    vector part[parts] = {};
    RICCI_FUNCTION void add(vector v, vector x) {
        part[0] += v * x;
        if constexpr (parts == 2) part[parts - 1] += parts_exchanged(v) * x;
    }
    /// Conjugated: v.
    template <bool Conjugated> RICCI_FUNCTION void finish() {
        if constexpr (parts == 2) {
            part[0] *= signs(false, !Conjugated);
            part[parts - 1] *= signs(Conjugated, false);
        }
    }
};
template <int N> RICCI_FUNCTION real sum_of(simd<real, N> v) {
    if constexpr (N == 2) return v[0] + v[1];
    else {
        struct upper { static constexpr int at(int t) { return t + N / 2; } };
        return sum_of<N / 2>(first_half<real, N>(v) + shuffled<upper, real, N / 2>(v, v));
    }
}

// ---- lines of the matrix: columns or rows, cut into vectors from their first element on ----

/// Not inlined: blocks have as many as a vector has elements, and g++ would take seconds.
__attribute__((noinline)) static vector gathered(const element* p, long long step, int count) {
    alignas(64) real numbers[lanes] = {};
    for (int e = 0; e < count; ++e) {
        const real* const from = reinterpret_cast<const real*>(p + e * step);
        for (int q = 0; q < parts; ++q) numbers[e * parts + q] = from[q];
    }
    return load_whole<real, lanes>(numbers);
}

template <bool Contiguous> struct line_view {
    const element* first;
    long long line_step, step;

    RICCI_FUNCTION const element* at(long long line, long long place) const {
        return first + line * line_step + place * (Contiguous ? 1 : step);
    }
    RICCI_FUNCTION vector whole(long long line, long long chunk) const {
        const element* const p = at(line, chunk * elements);
        if (Contiguous || (!is_constant && step == 1))
            return load_whole<real, lanes>(reinterpret_cast<const real*>(p));
        return gathered(p, step, elements);
    }
    /// The first Count elements, a constant, or `count`; the others 0.
    template <int Count> RICCI_FUNCTION vector part(long long line, long long chunk, int count) const {
        const element* const p = at(line, chunk * elements);
        if constexpr (Contiguous && Count > 0)
            return load_part<real, lanes, Count * parts>(reinterpret_cast<const real*>(p));
        else return gathered(p, Contiguous ? 1 : step, Count > 0 ? Count : count);
    }
};

/// f(chunk, constant: whether it is whole) for chunks of [first, last) of lines of `count` elements, which are
/// Count where this is a constant.
template <long long Count, class F>
RICCI_FUNCTION void each_chunk(long long first, long long last, long long count, const F& f) {
    const long long whole = count / elements;
    if constexpr (!is_constant || Count >= elements)
        for (long long u = first; u < (last < whole ? last : whole); ++u) f(u, constant<1>());
    if constexpr (!is_constant || Count % elements != 0)
        if (last > whole && first <= whole) f(whole, constant<0>());
}
template <int Tail, class View>
RICCI_FUNCTION vector chunk_of(const View& view, long long line, long long chunk, int tail, constant<1>) {
    return view.whole(line, chunk);
}
template <int Tail, class View>
RICCI_FUNCTION vector chunk_of(const View& view, long long line, long long chunk, int tail, constant<0>) {
    return view.template part<Tail>(line, chunk, tail);
}
