// substitute_vectors_cpu: a matrix after the other, vectors along its columns or rows, whatever its size.
//
// A triangle goes by blocks of as many rows as a vector has. The block's own part of T lies in vectors along columns
// (transposed, where rows are what is contiguous), and a step is a shuffle, a product and a multiply-add. What the
// block is to the others: where columns are contiguous, all its columns go into each vector below or above at once;
// where rows are, the dots of all its rows with what is solved come first, and are summed over lanes together. Rows
// that are solved get numbers without meaning in the vector of the block that has them, from the triangle that is
// not read: each solved one is kept apart.
//
// Constants: substitute_cpu.hpp's.
#pragma once

#include "substitute_lines_cpu.hpp"

template <int Lanes> struct vector_matrices {
    // ---- right-hand sides: Sides columns, one behind the other, and the diagonal's reciprocals ----

    struct work {
        real* x;
        long long along; ///< reals from one right-hand side to the next
        real* inverse;   ///< elements
        real* scale;     ///< divisor::scale
        bool is_scaled;
        RICCI_FUNCTION real* at(int c, long long chunk) const { return x + c * along + chunk * lanes; }
        RICCI_FUNCTION vector load(int c, long long chunk) const { return load_whole<real, lanes>(at(c, chunk)); }
        RICCI_FUNCTION void store(int c, long long chunk, vector v) const {
            store_whole<real, lanes>(at(c, chunk), v);
        }
    };

    // ---- triangles ----

    template <bool Forward, bool ByColumns, bool Contiguous, int Sides>
    static RICCI_FUNCTION void divide(const line_view<Contiguous>& lines, long long n, const work& w) {
        using t_of = triangle<Forward>;
        constexpr int constant_tail = is_constant ? static_cast<int>(columns) % elements : 0;
        const int tail = static_cast<int>(n % elements);
        const long long blocks = (n + elements - 1) / elements;
        const auto chunk = [&](long long line, long long u, auto is_whole) RICCI_INLINED {
            return chunk_of<constant_tail>(lines, line, u, tail, is_whole);
        };
        const auto solve_block = [&](long long b, auto is_whole) RICCI_INLINED {
            const int count = is_whole ? elements : constant_tail > 0 ? constant_tail : tail;
            // of the last block, all others are whole
            constexpr long long others = !is_constant ? 0 : is_whole ? columns : columns / elements * elements;
            const long long begin = b * elements;
            if constexpr (!ByColumns) {
#pragma GCC unroll 1
                for (int c = 0; c < Sides; ++c) {
                    dot sums[elements];
                    const auto add = [&](long long u, auto whole) RICCI_INLINED {
                        const vector other = w.load(c, u);
                        RICCI_ALL_UNROLLED for (int s = 0; s < elements; ++s)
                            if (s < count) sums[s].add(chunk(begin + s, u, whole), other);
                    };
                    each_chunk<others>(Forward ? 0 : b + 1, Forward ? b : blocks, n, add);
                    vector all[lanes];
                    RICCI_ALL_UNROLLED for (int s = 0; s < elements; ++s) {
                        sums[s].template finish<t_of::is_conjugated>();
                        RICCI_ALL_UNROLLED for (int q = 0; q < parts; ++q) all[s * parts + q] = sums[s].part[q];
                    }
                    w.store(c, b, w.load(c, b) - sums_of_lanes<real, lanes, lanes>(all));
                }
            }
            vector x[Sides], solved[Sides];
            RICCI_ALL_UNROLLED for (int c = 0; c < Sides; ++c) x[c] = w.load(c, b), solved[c] = vector{};
            vector own[elements];
            RICCI_ALL_UNROLLED for (int s = 0; s < elements; ++s)
                own[s] = s < count ? chunk(begin + s, b, is_whole) : vector{};
            if constexpr (!ByColumns) transpose<real, lanes, parts>(own);
            factor pivots[elements][Sides];
            for_each_of<elements>([&](auto ss) RICCI_INLINED {
                constexpr int s = Forward ? ss : elements - 1 - ss;
                if (s >= count) {
                    RICCI_ALL_UNROLLED for (int c = 0; c < Sides; ++c)
                        RICCI_ALL_UNROLLED for (int q = 0; q < parts; ++q) pivots[s][c].part[q] = vector{};
                    return;
                }
                RICCI_ALL_UNROLLED for (int c = 0; c < Sides; ++c) {
                    using of_re = lane_repeated<s * parts>;
                    using of_im = lane_repeated<s * parts + parts - 1>;
                    vector re = shuffled<of_re, real, lanes>(x[c], x[c]), im{};
                    if constexpr (parts == 2) im = shuffled<of_im, real, lanes>(x[c], x[c]);
                    if constexpr (!t_of::has_unit_diagonal) {
                        if (w.is_scaled) re *= w.scale[begin + s], im *= w.scale[begin + s];
                        const real by = w.inverse[(begin + s) * parts];
                        if constexpr (parts == 2) {
                            // as in memory: T's is the conjugate of it, where T is
                            const real other = w.inverse[(begin + s) * parts + 1] * (t_of::is_conjugated ? -1 : 1);
                            const vector old = re;
                            re = old * by - im * other;
                            im = old * other + im * by;
                        } else {
                            re *= by;
                        }
                    }
                    const vector value = parts == 2 ? (every_second_lane() ? im : re) : re;
                    solved[c] = places() == s ? value : solved[c];
                    pivots[s][c] = factor_of<t_of::is_conjugated>(re, im);
                    subtract(x[c], own[s], pivots[s][c]);
                }
            });
            RICCI_ALL_UNROLLED for (int c = 0; c < Sides; ++c) w.store(c, b, solved[c]);
            if constexpr (ByColumns) {
                const auto take_from = [&](long long u, auto whole) RICCI_INLINED {
                    vector to[Sides];
                    RICCI_ALL_UNROLLED for (int c = 0; c < Sides; ++c) to[c] = w.load(c, u);
                    RICCI_ALL_UNROLLED for (int s = 0; s < elements; ++s)
                        if (s < count) {
                            const vector v = chunk(begin + s, u, whole);
                            RICCI_ALL_UNROLLED for (int c = 0; c < Sides; ++c) subtract(to[c], v, pivots[s][c]);
                        }
                    RICCI_ALL_UNROLLED for (int c = 0; c < Sides; ++c) w.store(c, u, to[c]);
                };
                each_chunk<others>(Forward ? b + 1 : 0, Forward ? blocks : b, n, take_from);
            }
        };
        const long long whole = n / elements;
        constexpr bool has_tail = !is_constant || columns % elements != 0,
                       has_whole = !is_constant || columns >= elements;
        if constexpr (has_tail && !Forward)
            if (tail > 0) solve_block(whole, constant<0>());
        if constexpr (has_whole)
            for (long long bb = 0; bb < whole; ++bb) solve_block(Forward ? bb : whole - 1 - bb, constant<1>());
        if constexpr (has_tail && Forward)
            if (tail > 0) solve_block(whole, constant<0>());
    }

    /// Memory steps of T's rows and columns choose how.
    template <bool Forward, int Sides>
    static void divide_by(const arguments& a, const element* matrix, const work& w) {
        constexpr int of_rows = triangle<Forward>::adjoint ? 1 : 0;
        constexpr long long along = matrix_step[matrix_role][of_rows],
                            across = matrix_step[matrix_role][1 - of_rows];
        const long long steps[2] = {offset_of<matrix_role>(a, 1, 0), offset_of<matrix_role>(a, 0, 1)};
        const long long n = column_count(a);
        if constexpr (along == argument && across == argument) {
            if (steps[of_rows] != 1 && steps[1 - of_rows] == 1)
                divide<Forward, false, true, Sides>({matrix, steps[of_rows], 1}, n, w);
            else divide<Forward, true, false, Sides>({matrix, steps[1 - of_rows], steps[of_rows]}, n, w);
        } else if constexpr (along != 1 && across == 1) {
            divide<Forward, false, true, Sides>({matrix, steps[of_rows], 1}, n, w);
        } else {
            divide<Forward, true, along == 1, Sides>({matrix, steps[1 - of_rows], steps[of_rows]}, n, w);
        }
    }

    // ---- Q ----

    template <bool Contiguous, int Sides>
    static RICCI_FUNCTION void reflect(const arguments& a, const line_view<Contiguous>& lines, const element* tau,
                                       const work& w) {
        constexpr int constant_tail = is_constant ? static_cast<int>(rows) % elements : 0;
        const long long m = row_count(a), reflectors = reflector_count(a), chunks = (m + elements - 1) / elements;
        const int tail = static_cast<int>(m % elements);
        for (long long kk = 0; kk < reflectors; ++kk) {
            const long long k = last_reflector_first ? reflectors - 1 - kk : kk, own = k / elements;
            const auto s = static_cast<typename mask_type<real>::type>(k % elements);
            element number = as_meant(tau[offset_of<vector_role>(a, k, 0)]);
            if constexpr (!last_reflector_first) number = conjugate(number);
            const auto each = [&](const auto& f) RICCI_INLINED {
                const auto take = [&](long long u, auto is_whole) RICCI_INLINED {
                    return chunk_of<constant_tail>(lines, k, u, tail, is_whole);
                };
                each_chunk<rows>(own, own + 1, m, [&](long long u, auto is_whole) RICCI_INLINED {
                    vector v = take(u, is_whole), one{};
                    if constexpr (parts == 2) one = every_second_lane() ? one : one + 1;
                    else one += 1;
                    v = places() > s ? v : places() == s ? one : vector{};
                    f(u, v);
                });
                each_chunk<rows>(own + 1, chunks, m,
                                 [&](long long u, auto is_whole) RICCI_INLINED { f(u, take(u, is_whole)); });
            };
            dot sums[Sides];
            each([&](long long u, vector v) RICCI_INLINED {
                RICCI_ALL_UNROLLED for (int c = 0; c < Sides; ++c) sums[c].add(v, w.load(c, u));
            });
            factor taken[Sides];
            RICCI_ALL_UNROLLED for (int c = 0; c < Sides; ++c) {
                sums[c].template finish<!conjugated>();
                const real im = parts == 2 ? sum_of<lanes>(sums[c].part[parts - 1]) : real(0);
                const element s_of = number * from_real<element>(sum_of<lanes>(sums[c].part[0]), im);
                taken[c] = factor_of<conjugated>(vector{} + real_of(s_of), vector{} + imaginary_of(s_of));
            }
            each([&](long long u, vector v) RICCI_INLINED {
                RICCI_ALL_UNROLLED for (int c = 0; c < Sides; ++c) {
                    vector x = w.load(c, u);
                    subtract(x, v, taken[c]);
                    w.store(c, u, x);
                }
            });
        }
    }
    template <int Sides>
    static void reflect_by(const arguments& a, const element* matrix, const element* tau, const work& w) {
        reflect<matrix_step[matrix_role][0] == 1, Sides>(
            a, {matrix, offset_of<matrix_role>(a, 0, 1), offset_of<matrix_role>(a, 1, 0)}, tau, w);
    }

    // ---- a matrix ----

    template <int Role>
    static RICCI_FUNCTION real* place(const arguments& a, long long number, long long i, long long j) {
        return reinterpret_cast<real*>(operand_of<Role>(a, number) + offset_of<Role>(a, i, j));
    }

    /// LU's interchanges, or these backwards.
    template <class Pivot>
    static RICCI_FUNCTION void exchange_rows(const arguments& a, const Pivot* pivots, long long count, real* x) {
        for (long long step = 0; step < count; ++step) {
            const long long k = interchange_at(step, count),
                            p = row_of(pivots[offset_of<vector_role>(a, k, 0)]);
            for (int q = 0; q < parts; ++q) {
                const real old = x[k * parts + q];
                x[k * parts + q] = x[p * parts + q], x[p * parts + q] = old;
            }
        }
    }

    /// The right-hand sides [side, side + side_number), of which there are Sides in work: more instances would take
    /// g++ more time than what is left over takes.
    template <int Sides>
    static RICCI_FUNCTION void solve(const arguments& a, long long number, long long side, int side_number,
                                     bool is_singular, const work& w) {
        const long long count = work_rows(a), solved = solution_rows(a),
                        along_given = offset_of<given_role>(a, 1, 0), along = offset_of<solution_role>(a, 1, 0);
        if (is_singular) {
            for (int c = 0; c < side_number; ++c) {
                real* const to = place<solution_role>(a, number, 0, side + c);
                for (long long i = 0; i < solved; ++i)
                    for (int q = 0; q < parts; ++q) to[i * along * parts + q] = real_of(not_a_number());
            }
            return;
        }
        const auto* const vectors = operand_of<vector_role>(a, number);
        for (int c = 0; c < side_number; ++c) {
            real* const x = w.at(c, 0);
            if constexpr (has_given) {
                const real* const from = place<given_role>(a, number, 0, side + c);
                if (along_given == 1)
                    for (long long i = 0; i < count * parts; ++i) x[i] = from[i];
                else
                    for (long long i = 0; i < count; ++i)
                        for (int q = 0; q < parts; ++q) x[i * parts + q] = from[i * along_given * parts + q];
            } else {
                for (long long i = 0; i < count * parts; ++i) x[i] = i == (side + c) * parts ? 1 : 0;
            }
            for (long long i = count * parts; i < w.along; ++i) x[i] = 0;
            if constexpr (permutes_first) exchange_rows(a, vectors, count, x);
        }
        const element* const matrix = operand_of<matrix_role>(a, number);
        if constexpr (applies_q) reflect_by<Sides>(a, matrix, vectors, w);
        if constexpr (has_forward) divide_by<true, Sides>(a, matrix, w);
        if constexpr (has_backward) divide_by<false, Sides>(a, matrix, w);
        for (int c = 0; c < side_number; ++c) {
            real* const x = w.at(c, 0);
            if constexpr (permutes_last) exchange_rows(a, vectors, count, x);
            real* const to = place<solution_role>(a, number, 0, side + c);
            if (along == 1)
                for (long long i = 0; i < solved * parts; ++i) to[i] = x[i];
            else
                for (long long i = 0; i < solved; ++i)
                    for (int q = 0; q < parts; ++q) to[i * along * parts + q] = x[i * parts + q];
        }
    }

    static constexpr long long scratch_reals =
        is_constant ? padded(constant_rows) * parts * lines_of_lane + columns * (parts + 1) : (4 << 20) / 8;

    static void run(const arguments& a, long long first, long long last) {
        scratch<real, scratch_reals> memory;
        const long long n = column_count(a), r = side_count(a), along = padded(work_rows(a)) * parts;
        real* const inverse = memory.get() + lines_of_lane * along;
        for (long long i = 0; i < lines_of_lane * along; ++i) memory.get()[i] = 0;
        work w{memory.get(), along, inverse, inverse + n * parts, false};
        for (long long number = first; number < last; ++number) {
            long long info = 0;
            if constexpr (has_divisors) {
                const element* const matrix = operand_of<matrix_role>(a, number);
                w.is_scaled = false;
                for (long long i = n - 1; i >= 0; --i) {
                    const element d = matrix[offset_of<matrix_role>(a, i, i)];
                    if (is_zero(d)) info = i + 1;
                    const divisor by = divisor_of(d);
                    reinterpret_cast<element*>(w.inverse)[i] = by.inverse;
                    w.scale[i] = by.scale;
                    w.is_scaled = w.is_scaled || by.scale != 1;
                }
            }
            if constexpr (has_info)
                *operand_of<info_role>(a, number) = static_cast<typename role_element<info_role>::type>(info);
            for (long long side = 0; side < r; side += lines_of_lane) {
                const int side_number = static_cast<int>(r - side < lines_of_lane ? r - side : lines_of_lane);
                solve<lines_of_lane>(a, number, side, side_number, info != 0, w);
            }
        }
    }
};
