// factor_block_memory_cpu: one matrix from memory to scratch and back. Neighbors in memory go by vectors: along a
// column as they are, along a row turned in registers; the rest goes by elements.
#pragma once

#include "factor_block_products_cpu.hpp"

template <bool Flip, class T>
RICCI_FUNCTION T flipped(T x) {
    return Flip ? conjugate(x) : x;
}

/// Neighbors along a column, `count` of them; complex numbers are taken apart.
template <bool Flip>
RICCI_FUNCTION void load_column(const element* p, int count, real* to, long long apart) {
    int i = 0;
    for (; i + lanes <= count; i += lanes) {
        const real* from = reinterpret_cast<const real*>(p + i);
        const vector low = load_whole<real, lanes>(from);
        if constexpr (is_complex) {
            const vector high = load_whole<real, lanes>(from + lanes);
            const vector im = shuffled<every_second<1>, real, lanes>(low, high);
            store_whole<real, lanes>(to + i, shuffled<every_second<0>, real, lanes>(low, high));
            store_whole<real, lanes>(to + i + apart, Flip ? -im : im);
        } else
            store_whole<real, lanes>(to + i, low);
    }
    for (; i < count; ++i) {
        const real* from = reinterpret_cast<const real*>(p + i);
        to[i] = from[0];
        if constexpr (is_complex) to[i + apart] = Flip ? -from[imaginary] : from[imaginary];
    }
}
template <bool Flip>
RICCI_FUNCTION void store_column(element* p, int count, const real* from, long long apart) {
    int i = 0;
    for (; i + lanes <= count; i += lanes) {
        real* to = reinterpret_cast<real*>(p + i);
        const vector re = load_whole<real, lanes>(from + i);
        if constexpr (is_complex) {
            vector im = load_whole<real, lanes>(from + i + apart);
            if constexpr (Flip) im = -im;
            store_whole<real, lanes>(to, shuffled<alternately<lanes, 0>, real, lanes>(re, im));
            store_whole<real, lanes>(to + lanes, shuffled<alternately<lanes, lanes / 2>, real, lanes>(re, im));
        } else
            store_whole<real, lanes>(to, re);
    }
    for (; i < count; ++i) {
        real* to = reinterpret_cast<real*>(p + i);
        to[0] = from[i];
        if constexpr (is_complex) to[imaginary] = Flip ? -from[i + apart] : from[i + apart];
    }
}

/// Where number `real_column` of reals along a row lies in scratch.
template <class A>
RICCI_FUNCTION real* real_column(const A& a, int i, int number) {
    return a.at(i, number / parts) + number % parts * a.height();
}

/// high x wide elements, `along` apart in columns and `across` in rows; what lies below in scratch becomes 0.
template <bool Flip, class A>
RICCI_APART void load_matrix(const element* p, long long along, long long across, const A& to, int high, int wide) {
    if (along == 1) {
        for (int j = 0; j < wide; ++j) load_column<Flip>(p + j * across, high, to.at(0, j), to.height());
    } else {
        const int turned = across == 1 ? high / lanes * lanes : 0, whole = turned ? wide * parts / lanes * lanes : 0;
        for (int i = 0; i < turned; i += lanes)
            for (int j = 0; j < whole; j += lanes) {
                vector v[lanes];
                RICCI_ALL_UNROLLED for (int t = 0; t < lanes; ++t) v[t] =
                    load_whole<real, lanes>(reinterpret_cast<const real*>(p + (i + t) * along) + j);
                transpose<real, lanes, 1>(v);
                RICCI_ALL_UNROLLED for (int t = 0; t < lanes; ++t)
                    store_whole<real, lanes>(real_column(to, i, j + t), Flip && t % parts ? -v[t] : v[t]);
            }
        for (int i = 0; i < high; ++i)
            for (int j = i < turned ? whole / parts : 0; j < wide; ++j)
                to.set(i, j, flipped<Flip>(p[i * along + j * across]));
    }
    for (int j = 0; j < wide * parts; ++j)
        for (long long i = high; i < to.height(); ++i) to.first[j * to.height() + i] = 0;
}
/// Lower: the strict upper triangle is not stored.
template <bool Flip, bool Lower, class A>
RICCI_APART void store_matrix(element* p, long long along, long long across, const A& from, int high, int wide) {
    if (along == 1) {
        for (int j = 0; j < wide; ++j) {
            const int first = Lower ? j : 0;
            store_column<Flip>(p + first + j * across, high - first, from.at(first, j), from.height());
        }
        return;
    }
    const int turned = across == 1 ? high / lanes * lanes : 0;
    for (int i = 0; i < high; ++i) {
        int j = 0;
        const int block = i / lanes * lanes, end = (Lower && i + 1 < wide ? i + 1 : wide);
        if (i < turned) {
            // whole blocks left of the diagonal, once a block of rows
            const int all = (Lower && block < wide ? block : wide) * parts / lanes * lanes;
            if (i == block)
                for (int r = 0; r < all; r += lanes) {
                    vector v[lanes];
                    RICCI_ALL_UNROLLED for (int t = 0; t < lanes; ++t) {
                        v[t] = load_whole<real, lanes>(real_column(from, i, r + t));
                        if (Flip && t % parts) v[t] = -v[t];
                    }
                    transpose<real, lanes, 1>(v);
                    RICCI_ALL_UNROLLED for (int t = 0; t < lanes; ++t)
                        store_whole<real, lanes>(reinterpret_cast<real*>(p + (i + t) * along) + r, v[t]);
                }
            j = all / parts;
        }
        for (; j < end; ++j) p[i * along + j * across] = flipped<Flip>(from.number(i, j));
    }
}
