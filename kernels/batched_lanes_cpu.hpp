// batched_lanes, for a CPU: small products that lie interleaved, the batch fastest in memory: a vector has the same
// element of neighboring products. Tiles of C are summed in registers; X and Y that several tiles want, complex or
// half numbers, and the few products at the end of a row are copied first, as vectors one behind another. Complex
// numbers are copied, and summed, as vectors of real and of imaginary parts.
//
// Constants: product.hpp's; simd_bytes; tile_m and tile_n, rows and columns of a tile at most, made even.
#pragma once

#include "real_product.hpp"

constexpr int lanes = simd_lanes<real>;
using vector = simd<real, lanes>;
constexpr int rows = static_cast<int>(m), columns = static_cast<int>(n), steps = static_cast<int>(k);

constexpr even_division row_tiles(rows, tile_m), column_tiles(columns, tile_n);

/// Whether vectors can be taken from memory where they are, of a whole group of neighbors that steps by 1.
template <class Element> constexpr bool is_plain = is_same<Element, compute> && parts == 1;

/// Elements (p, q) of an operand's matrices, as vectors.
struct vector_matrix {
    const real* first;
    long long along_p, along_q; ///< reals
    RICCI_FUNCTION vector at(int p, int q, int part) const {
        return load_whole<real, lanes>(first + p * along_p + q * along_q + part * lanes);
    }
};

template <class T> RICCI_FUNCTION void set_lane(real* to, int t, T value) {
    if constexpr (real_part<T>::is_complex) to[t] = value.re, to[lanes + t] = value.im;
    else to[t] = value;
}
template <class T> RICCI_FUNCTION T lane_of(const real* from, int t) {
    if constexpr (real_part<T>::is_complex) return {from[t], from[lanes + t]};
    else return from[t];
}

/// `count` neighbors from p on, the other lanes 0; all alike where step is 0.
template <class Element> RICCI_FUNCTION void copy_neighbors(const Element* p, long long step, int count, real* to) {
    if (step == 1 && count == lanes) {
        if constexpr (is_same<Element, real>) {
            store_whole<real, lanes>(to, load_whole<real, lanes>(p));
            if constexpr (parts == 2) store_whole<real, lanes>(to + lanes, vector{});
            return;
        } else if constexpr (is_narrow<Element> && is_same<compute, float>)
            return store_whole<real, lanes>(to, load_widened<lanes, lanes>(p));
        else if constexpr (is_same<Element, compute>) {
            const real* pairs = reinterpret_cast<const real*>(p);
            const vector low = load_whole<real, lanes>(pairs), high = load_whole<real, lanes>(pairs + lanes);
            store_whole<real, lanes>(to, shuffled<every_second<0>, real, lanes>(low, high));
            return store_whole<real, lanes>(to + lanes, shuffled<every_second<1>, real, lanes>(low, high));
        }
    }
    for (int t = 0; t < lanes; ++t) {
        set_lane(to, t, t < count ? load_as<compute>(p[t * step]) : from_real<compute>(0, 0));
    }
}

template <int P, int Q> struct copied_matrix { alignas(64) real value[P][Q][parts * lanes]; };

/// f(p, q): elements from an operand's first to the matrix's element (p, q).
template <int P, int Q, class Element, class F>
RICCI_FUNCTION vector_matrix copied(const Element* first, long long step, int count, copied_matrix<P, Q>& to,
                                    const F& f) {
    for (int p = 0; p < P; ++p)
        for (int q = 0; q < Q; ++q) copy_neighbors(first + f(p, q), step, count, to.value[p][q]);
    return {to.value[0][0], Q * parts * lanes, parts * lanes};
}

/// Numbers, or real and imaginary parts apart, times one of the arguments'.
template <int Parts> RICCI_FUNCTION void multiply_by(const double (&number)[2], vector (&v)[Parts]) {
    const real re = static_cast<real>(number[0]), im = static_cast<real>(number[1]);
    if constexpr (Parts == 2) {
        const vector old = v[0];
        v[0] = v[0] * re - v[1] * im;
        v[1] = old * im + v[1] * re;
    } else {
        v[0] = v[0] * re;
    }
}

/// alpha * sum, and its sign.
template <int Parts> RICCI_FUNCTION void finish_sum(const arguments& a, vector (&sum)[Parts]) {
    if constexpr (scaled) multiply_by(a.alpha, sum);
    if constexpr (negative) for_each_of<Parts>([&](auto p) RICCI_INLINED { sum[p] = -sum[p]; });
}

/// Element (i, j) of `count` neighbors, the first of which is at c.
template <class C, int Parts>
RICCI_FUNCTION void store_neighbors(const arguments& a, C* c, int count, vector (&sum)[Parts]) {
    if (count == lanes) {
        if constexpr (is_same<C, real>) {
            if constexpr (accumulate) sum[0] = times_beta(a, load_whole<real, lanes>(c)) + sum[0];
            return store_whole<real, lanes>(c, sum[0]);
        } else if constexpr (is_narrow<C> && is_same<compute, float>) {
            if constexpr (accumulate) sum[0] = times_beta(a, load_widened<lanes, lanes>(c)) + sum[0];
            return store_narrowed<lanes, lanes>(c, sum[0]);
        } else if constexpr (Parts == 2 && is_same<C, compute>) {
            real* to = reinterpret_cast<real*>(c);
            if constexpr (accumulate && c_scaled) {
                const vector pairs[2] = {load_whole<real, lanes>(to), load_whole<real, lanes>(to + lanes)};
                vector old[2] = {shuffled<every_second<0>, real, lanes>(pairs[0], pairs[1]),
                                 shuffled<every_second<1>, real, lanes>(pairs[0], pairs[1])};
                multiply_by(a.beta, old);
                sum[0] = old[0] + sum[0], sum[1] = old[1] + sum[1];
            }
            vector low = shuffled<alternately<lanes, 0>, real, lanes>(sum[0], sum[1]);
            vector high = shuffled<alternately<lanes, lanes / 2>, real, lanes>(sum[0], sum[1]);
            if constexpr (accumulate && !c_scaled)
                low = load_whole<real, lanes>(to) + low, high = load_whole<real, lanes>(to + lanes) + high;
            store_whole<real, lanes>(to, low);
            return store_whole<real, lanes>(to + lanes, high);
        }
    }
    real numbers[Parts * lanes]; // a lane of no constant number would keep all sums in memory
    RICCI_ALL_UNROLLED for (int p = 0; p < Parts; ++p) store_whole<real, lanes>(numbers + p * lanes, sum[p]);
    for (int t = 0; t < count; ++t) {
        compute value = lane_of<compute>(numbers, t);
        if constexpr (accumulate) value = load_c(a, c[t]) + value;
        c[t] = store_as<C>(value);
    }
}

template <int Rows, int Columns>
RICCI_FUNCTION void lanes_tile(const arguments& a, const vector_matrix& x, const vector_matrix& y, c_element* c,
                               int count, int row, int column) {
    start_afresh();
    vector sums[Rows][Columns][parts];
    set_to_zero(sums);
    constexpr real of_both = x_conjugated == y_conjugated ? -1 : 1;
    constexpr real of_x = x_conjugated ? -1 : 1, of_y = y_conjugated ? -1 : 1;
#pragma GCC unroll 2
    for (int l = 0; l < steps; ++l) {
        vector xs[Rows][parts];
        RICCI_ALL_UNROLLED for (int i = 0; i < Rows; ++i)
            RICCI_ALL_UNROLLED for (int p = 0; p < parts; ++p) xs[i][p] = x.at(row + i, l, p);
        RICCI_ALL_UNROLLED for (int j = 0; j < Columns; ++j) {
            const vector re = y.at(l, column + j, 0);
            RICCI_ALL_UNROLLED for (int i = 0; i < Rows; ++i) sums[i][j][0] += xs[i][0] * re;
            if constexpr (parts == 2) {
                constexpr int im = parts - 1;
                const vector other = y.at(l, column + j, im);
                RICCI_ALL_UNROLLED for (int i = 0; i < Rows; ++i) {
                    sums[i][j][0] += of_both * xs[i][im] * other;
                    sums[i][j][im] += of_y * xs[i][0] * other;
                    sums[i][j][im] += of_x * xs[i][im] * re;
                }
            }
        }
    }
    RICCI_ALL_UNROLLED for (int j = 0; j < Columns; ++j)
        RICCI_ALL_UNROLLED for (int i = 0; i < Rows; ++i) {
            finish_sum(a, sums[i][j]);
            store_neighbors(a, c + c_offset(a, row + i, column + j), count, sums[i][j]);
        }
}

/// `count` neighboring products, the first of which is at x, y and c.
__attribute__((noinline)) static void multiply_neighbors(const arguments& a, const vector_matrix& x,
                                                         const vector_matrix& y, c_element* c, int count) {
    for_each_part<column_tiles>([&](auto wide, int column) RICCI_INLINED {
        for_each_part<row_tiles>([&](auto high, int row) RICCI_INLINED {
            lanes_tile<high, wide>(a, x, y, c, count, row, column);
        });
    });
}

/// An operand where it is, if its vectors can be taken from there, else copied.
template <int P, int Q, bool Once, class Element, class F>
RICCI_FUNCTION vector_matrix vectors_of(const Element* first, long long step, int count, copied_matrix<P, Q>& to,
                                        const F& f) {
    if constexpr (Once && is_plain<Element>)
        if (step == 1 && count == lanes) return {first, P > 1 ? f(1, 0) - f(0, 0) : 0, Q > 1 ? f(0, 1) - f(0, 0) : 0};
    return copied(first, step, count, to, f);
}

extern "C" void ricci_batched_lanes(const void* words, long long first, long long last) {
    const arguments& a = *static_cast<const arguments*>(words);
    constexpr bool single = m_axes == 1 && n_axes == 1 && k_axes == 1;
    copied_matrix<rows, steps> xs;
    copied_matrix<steps, columns> ys;
    const long long length = a.batch_length[0], groups = (length + lanes - 1) / lanes;
    for (long long group = first; group < last; ++group) {
        const long long begin = group % groups * lanes, product = group / groups * length + begin;
        const int count = static_cast<int>(length - begin < lanes ? length - begin : lanes);
        const batch_places at = places_of(a, product);
        const auto x = vectors_of<rows, steps, single && column_tiles.parts == 1>(
            at.x, a.batch_step[1][0], count, xs, [&](int i, int l) { return x_offset(a, i, l); });
        const auto y = vectors_of<steps, columns, single && row_tiles.parts == 1>(
            at.y, a.batch_step[2][0], count, ys, [&](int l, int j) { return y_offset(a, l, j); });
        leave_in_memory(&xs);
        leave_in_memory(&ys);
        multiply_neighbors(a, x, y, at.c, count);
    }
}
