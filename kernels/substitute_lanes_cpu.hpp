// substitute_lanes_cpu: matrices that lie interleaved, the batch fastest in memory: a vector has the same element of
// neighboring matrices, complex ones as vectors of real and of imaginary parts. Lanes whose matrices are no
// neighbors, or that lie any other way, are put together number by number.
//
// Constants: substitute_cpu.hpp's.
#pragma once

#include "substitute_numbers_cpu.hpp"

template <int Lanes> struct lane_matrices {
    static constexpr int lanes = simd_lanes<real>, parts = is_complex ? 2 : 1, sides = lines_of_lane;
    using vector = simd<real, lanes>;
    using mask = simd<typename mask_type<real>::type, lanes>;
    static constexpr int m = static_cast<int>(rows), n = static_cast<int>(columns),
                         r = static_cast<int>(right_sides), reflectors = m < n ? m : n,
                         work_rows = applies_q ? m : n, solution_rows = solves ? n : m;

    struct number {
        vector part[parts];
    };
    static RICCI_FUNCTION number product(number a, number b) {
        if constexpr (parts == 2)
            return {a.part[0] * b.part[0] - a.part[parts - 1] * b.part[parts - 1],
                    a.part[0] * b.part[parts - 1] + a.part[parts - 1] * b.part[0]};
        else return {a.part[0] * b.part[0]};
    }
    static RICCI_FUNCTION void subtract(number& sum, const number& a, const number& b) {
        sum.part[0] -= a.part[0] * b.part[0];
        if constexpr (parts == 2) {
            sum.part[0] += a.part[parts - 1] * b.part[parts - 1];
            sum.part[parts - 1] -= a.part[0] * b.part[parts - 1];
            sum.part[parts - 1] -= a.part[parts - 1] * b.part[0];
        }
    }
    static RICCI_FUNCTION number conjugate_if(bool yes, number x) {
        if constexpr (parts == 2)
            if (yes) x.part[parts - 1] = -x.part[parts - 1];
        return x;
    }
    static RICCI_FUNCTION vector absolute(vector x) { return x < 0 ? -x : x; }
    /// Complex: Smith's algorithm, by selections.
    static RICCI_FUNCTION number divided(number a, number b) {
        if constexpr (parts == 2) {
            const vector re = b.part[0], im = b.part[parts - 1], a_re = a.part[0], a_im = a.part[parts - 1];
            const mask by_re = absolute(re) >= absolute(im);
            const vector large = by_re ? re : im, small = by_re ? im : re, ratio = small / large,
                         all = large + small * ratio;
            const vector of_re = by_re ? a_re + a_im * ratio : a_re * ratio + a_im,
                         of_im = by_re ? a_im - a_re * ratio : a_im * ratio - a_re;
            return {of_re / all, of_im / all};
        } else {
            return {a.part[0] / b.part[0]};
        }
    }

    /// An operand's matrices, one a lane.
    template <class T> struct lane_operand {
        T* first[lanes];
        bool are_neighbors; ///< one element after another
        int count;
        template <class F> RICCI_FUNCTION lane_operand(int matrices, const F& place) : count(matrices) {
            are_neighbors = count == lanes;
            for (int t = 0; t < lanes; ++t) {
                first[t] = place(t < count ? t : count - 1);
                are_neighbors = are_neighbors && first[t] == first[0] + t;
            }
        }
    };
    static RICCI_FUNCTION number load(const lane_operand<element>& o, long long offset) {
        if (o.are_neighbors) {
            const real* const p = reinterpret_cast<const real*>(o.first[0] + offset);
            if constexpr (parts == 1) return {load_whole<real, lanes>(p)};
            else {
                const vector low = load_whole<real, lanes>(p), high = load_whole<real, lanes>(p + lanes);
                return {shuffled<every_second<0>, real, lanes>(low, high),
                        shuffled<every_second<1>, real, lanes>(low, high)};
            }
        }
        alignas(64) real numbers[parts * lanes];
        for (int t = 0; t < lanes; ++t) {
            const real* const p = reinterpret_cast<const real*>(o.first[t] + offset);
            for (int q = 0; q < parts; ++q) numbers[q * lanes + t] = p[q];
        }
        number out;
        for (int q = 0; q < parts; ++q) out.part[q] = load_whole<real, lanes>(numbers + q * lanes);
        return out;
    }
    static RICCI_FUNCTION void store(const lane_operand<element>& o, long long offset, number x) {
        if (o.are_neighbors) {
            real* const p = reinterpret_cast<real*>(o.first[0] + offset);
            if constexpr (parts == 1) return store_whole<real, lanes>(p, x.part[0]);
            else {
                const vector re = x.part[0], im = x.part[parts - 1];
                store_whole<real, lanes>(p, shuffled<alternately<lanes, 0>, real, lanes>(re, im));
                return store_whole<real, lanes>(p + lanes,
                                                shuffled<alternately<lanes, lanes / 2>, real, lanes>(re, im));
            }
        }
        alignas(64) real numbers[parts * lanes];
        for (int q = 0; q < parts; ++q) store_whole<real, lanes>(numbers + q * lanes, x.part[q]);
        for (int t = 0; t < o.count; ++t) {
            real* const p = reinterpret_cast<real*>(o.first[t] + offset);
            for (int q = 0; q < parts; ++q) p[q] = numbers[q * lanes + t];
        }
    }

    struct matrix_view {
        const arguments& a;
        const lane_operand<element>& o;
        RICCI_FUNCTION number operator()(int i, int j) const { return load(o, offset_of<matrix_role>(a, i, j)); }
    };

    template <bool Forward> static RICCI_FUNCTION number triangle_at(const matrix_view& matrix, int i, int k) {
        using t_of = triangle<Forward>;
        return conjugate_if(t_of::is_conjugated, t_of::adjoint ? matrix(k, i) : matrix(i, k));
    }

    template <bool Forward> static void divide(const matrix_view& matrix, number* x) {
#pragma GCC unroll 1
        for (int ii = 0; ii < n; ++ii) {
            const int i = Forward ? ii : n - 1 - ii;
            number sum[sides];
            RICCI_ALL_UNROLLED for (int c = 0; c < sides; ++c) sum[c] = x[i * sides + c];
#pragma GCC unroll 2
            for (int kk = 0; kk < ii; ++kk) {
                const int k = Forward ? kk : n - 1 - kk;
                const number f = triangle_at<Forward>(matrix, i, k);
                RICCI_ALL_UNROLLED for (int c = 0; c < sides; ++c) subtract(sum[c], f, x[k * sides + c]);
            }
            if constexpr (!triangle<Forward>::has_unit_diagonal) {
                const number d = triangle_at<Forward>(matrix, i, i);
                RICCI_ALL_UNROLLED for (int c = 0; c < sides; ++c) sum[c] = divided(sum[c], d);
            }
            RICCI_ALL_UNROLLED for (int c = 0; c < sides; ++c) x[i * sides + c] = sum[c];
        }
    }

    static void reflect(const arguments& a, const matrix_view& matrix, const lane_operand<element>& tau, number* x) {
#pragma GCC unroll 1
        for (int kk = 0; kk < reflectors; ++kk) {
            const int k = last_reflector_first ? reflectors - 1 - kk : kk;
            const number factor =
                conjugate_if(conjugated == last_reflector_first, load(tau, offset_of<vector_role>(a, k, 0)));
            number sum[sides]; // minus v^H x
            RICCI_ALL_UNROLLED for (int c = 0; c < sides; ++c) sum[c] = {};
            RICCI_ALL_UNROLLED for (int c = 0; c < sides; ++c)
                for (int q = 0; q < parts; ++q) sum[c].part[q] = -x[k * sides + c].part[q];
#pragma GCC unroll 2
            for (int i = k + 1; i < m; ++i) {
                const number v = conjugate_if(!conjugated, matrix(i, k));
                RICCI_ALL_UNROLLED for (int c = 0; c < sides; ++c) subtract(sum[c], v, x[i * sides + c]);
            }
            RICCI_ALL_UNROLLED for (int c = 0; c < sides; ++c) {
                sum[c] = product(factor, sum[c]);
                for (int q = 0; q < parts; ++q) {
                    x[k * sides + c].part[q] += sum[c].part[q];
                    sum[c].part[q] = -sum[c].part[q];
                }
            }
#pragma GCC unroll 2
            for (int i = k + 1; i < m; ++i) {
                const number v = conjugate_if(conjugated, matrix(i, k));
                RICCI_ALL_UNROLLED for (int c = 0; c < sides; ++c) subtract(x[i * sides + c], v, sum[c]);
            }
        }
    }

    /// LU's interchanges, or these backwards, lane by lane.
    template <class T> static void exchange_rows(const arguments& a, const lane_operand<T>& pivots, number* x) {
        real* const numbers = reinterpret_cast<real*>(x);
        for (int step = 0; step < n; ++step) {
            const int k = static_cast<int>(interchange_at(step, n));
            for (int t = 0; t < pivots.count; ++t) {
                const int p = row_of(pivots.first[t][offset_of<vector_role>(a, k, 0)]);
                if (p == k) continue;
                for (int c = 0; c < sides * parts; ++c) {
                    real &one = numbers[(k * sides * parts + c) * lanes + t],
                         &other = numbers[(p * sides * parts + c) * lanes + t];
                    const real old = one;
                    one = other, other = old;
                }
            }
        }
    }

    template <int Role> static RICCI_FUNCTION auto operand_lanes(const arguments& a, long long first, int count) {
        return lane_operand<typename role_element<Role>::type>(
            count, [&](int t) { return operand_of<Role>(a, first + t); });
    }

    static void run(const arguments& a, long long first, long long last) {
        scratch<number, static_cast<long long>(work_rows) * sides> memory;
        number* const x = memory.get();
        for (long long at = first; at < last; at += lanes) {
            const int count = static_cast<int>(last - at < lanes ? last - at : lanes);
            const auto of_matrix = operand_lanes<matrix_role>(a, at, count);
            const auto solution = operand_lanes<solution_role>(a, at, count);
            const auto vectors = operand_lanes<has_role[vector_role] ? vector_role : matrix_role>(a, at, count);
            const auto given = operand_lanes<has_given ? given_role : solution_role>(a, at, count);
            const matrix_view matrix{a, of_matrix};
            mask info{};
            if constexpr (has_divisors)
                for (int i = n - 1; i >= 0; --i) {
                    const number d = matrix(i, i);
                    mask zero = d.part[0] == 0;
                    if constexpr (parts == 2) zero = zero & (d.part[parts - 1] == 0);
                    info = zero ? mask{} + (i + 1) : info;
                }
            if constexpr (has_info)
                for (int t = 0; t < count; ++t)
                    *operand_of<info_role>(a, at + t) = static_cast<typename role_element<info_role>::type>(info[t]);
            for (int side = 0; side < r; side += sides) {
                for (int i = 0; i < work_rows; ++i)
                    for (int c = 0; c < sides; ++c) {
                        number value{};
                        if (side + c < r) {
                            if constexpr (has_given) value = load(given, offset_of<given_role>(a, i, side + c));
                            else value.part[0] += static_cast<real>(i == side + c ? 1 : 0);
                        }
                        x[i * sides + c] = value;
                    }
                if constexpr (permutes_first) exchange_rows(a, vectors, x);
                if constexpr (applies_q) reflect(a, matrix, vectors, x);
                if constexpr (has_forward) divide<true>(matrix, x);
                if constexpr (has_backward) divide<false>(matrix, x);
                if constexpr (permutes_last) exchange_rows(a, vectors, x);
                const vector nan = vector{} + real_of(not_a_number());
                for (int i = 0; i < solution_rows; ++i)
                    for (int c = 0; c < sides && side + c < r; ++c) {
                        number value = x[i * sides + c];
                        if constexpr (has_divisors)
                            for (int q = 0; q < parts; ++q) value.part[q] = info != 0 ? nan : value.part[q];
                        store(solution, offset_of<solution_role>(a, i, side + c), value);
                    }
            }
        }
    }
};
