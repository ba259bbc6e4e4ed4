// factor_groups_cpu: matrices of a group, one a lane, to scratch and back. There they lie interleaved: element (i,
// j) of all of them is a vector (complex: of real parts, then of imaginary parts), columns one behind another.
//
// From each matrix as many neighbors as a vector has are loaded and turned with those of the others in registers.
// What steps by 1 from matrix to matrix is loaded as it is. The rest goes by elements.
#pragma once

#include "factor_numbers_cpu.hpp"

constexpr int number_size = parts * lanes; ///< reals in scratch from one number to the next

/// Where an operand's matrices begin. Lanes beyond the last matrix have the last one once more, and do not store it.
template <int Role>
struct group_of {
    using type = typename role_element<Role>::type;
    type* first[lanes];
    int count;
    bool interleaved = true;

    RICCI_FUNCTION group_of(const arguments& a, long long matrix, int matrices)
        : count(matrices), along_(a.step[Role][0]), across_(a.step[Role][1]) {
        for (int t = 0; t < lanes; ++t) {
            first[t] = t < matrices ? operand_of<Role>(a, matrix + t) : first[matrices - 1];
            interleaved = interleaved && first[t] == first[0] + t;
        }
    }

    /// Elements from one row, and from one column, to the next.
    RICCI_FUNCTION long long along() const { return step_of<Role, 0>(along_); }
    RICCI_FUNCTION long long across() const { return step_of<Role, 1>(across_); }

  private:
    long long along_, across_;
};

/// Elements of a matrix that are neighbors in memory, as long as they are neighbors in scratch too.
template <int Role, int M, int N, int Height>
struct runs_of {
    static constexpr long long along = matrix_step[Role][0], across = matrix_step[Role][1]; ///< or `argument`
    static constexpr bool exist = (along == 1 && M > 1) || across == 1 || (M == 1 && N == 1);
    static constexpr bool by_columns = along == 1 && M > 1;
    /// Only the lower triangle matters, and is worth shorter runs.
    static constexpr bool lower = method == cholesky_method && Role == matrix_role && M >= 2 * lanes;
    static constexpr bool single = by_columns && !lower && ((across == M && Height == M) || N == 1);
    static constexpr int length = by_columns ? (single ? M * N : M) : N, count = by_columns ? (single ? 1 : N) : M;
};

/// In memory the conjugate of what is meant.
template <int Role>
constexpr bool is_flipped = is_complex&& conjugated && (Role == matrix_role || Role == vector_role);

/// f(constant: how many reals, the first one's number) for parts of a run of Count reals: whole vectors, the last of
/// which begins where it ends with the run, or one that is not whole. At least those that have reals [from, to).
template <int Count, class F>
RICCI_FUNCTION void for_vectors_of_run(int from, int to, const F& f) {
    if constexpr (Count < lanes)
        f(constant<Count>(), 0);
    else {
#pragma GCC unroll 1
        for (int at = from / lanes * lanes; at + lanes <= Count && at < to; at += lanes) f(constant<lanes>(), at);
        if constexpr (Count % lanes != 0)
            if (to > Count / lanes * lanes) f(constant<lanes>(), Count - lanes);
    }
}

/// Of run number r the reals that a lower triangle needs: all where the runs are no single columns or rows.
template <class Runs>
RICCI_FUNCTION int first_needed(int r) {
    return Runs::lower && Runs::by_columns ? r * parts : 0;
}
template <class Runs>
RICCI_FUNCTION int end_of_needed(int r) {
    return Runs::lower && !Runs::by_columns ? (r + 1) * parts : Runs::length * parts;
}

/// Real number `at` of a run begins there in scratch: elements of it are Step reals apart.
template <long long Step>
RICCI_FUNCTION long long place_in_run(int at) {
    return at / parts * Step + at % parts * lanes;
}

/// Rows and columns from (0, `column`) on to scratch, whose columns are Height numbers long.
template <int Role, int M, int N, int Height>
RICCI_APART void load_group(const group_of<Role>& from, long long column, real* to) {
    using runs = runs_of<Role, M, N, Height>;
    const long long along = from.along(), across = from.across();
    const long long base = column * across;
    if (from.interleaved && from.count == lanes) {
        for (int j = 0; j < N; ++j)
            for (int i = 0; i < M; ++i) {
                const real* p = reinterpret_cast<const real*>(from.first[0] + base + i * along + j * across);
                real* out = to + (j * Height + i) * number_size;
                const vector low = load_whole<real, lanes>(p);
                if constexpr (is_complex) {
                    const vector high = load_whole<real, lanes>(p + lanes);
                    const vector im = shuffled<every_second<1>, real, lanes>(low, high);
                    store_whole<real, lanes>(out, shuffled<every_second<0>, real, lanes>(low, high));
                    store_whole<real, lanes>(out + lanes, is_flipped<Role> ? -im : im);
                } else
                    store_whole<real, lanes>(out, low);
            }
        return;
    }
    if constexpr (runs::exist) {
        constexpr long long step = (runs::by_columns ? 1 : Height) * number_size;
        constexpr long long run_apart = runs::by_columns ? Height : 1;
        const long long run_step = runs::by_columns ? across : along;
        for (int r = 0; r < runs::count; ++r)
            for_vectors_of_run<runs::length * parts>(
                first_needed<runs>(r), end_of_needed<runs>(r), [&](auto count, int at) RICCI_INLINED {
                    vector v[lanes];
                    RICCI_ALL_UNROLLED for (int t = 0; t < lanes; ++t) v[t] = load_part<real, lanes, count>(
                        reinterpret_cast<const real*>(from.first[t] + base + r * run_step) + at);
                    transpose<real, lanes, 1>(v);
                    real* out = to + r * run_apart * number_size + place_in_run<step>(at);
                    RICCI_ALL_UNROLLED for (int e = 0; e < count; ++e) store_whole<real, lanes>(
                        out + e / parts * step + e % parts * lanes, is_flipped<Role> && e % parts ? -v[e] : v[e]);
                });
        return;
    }
    for (int t = 0; t < lanes; ++t)
        for (int j = 0; j < N; ++j)
            for (int i = 0; i < M; ++i) {
                const real* p = reinterpret_cast<const real*>(from.first[t] + base + i * along + j * across);
                real* out = to + (j * Height + i) * number_size + t;
                out[0] = p[0];
                if constexpr (is_complex) out[lanes] = is_flipped<Role> ? -p[imaginary] : p[imaginary];
            }
}

template <int Role, int M, int N, int Height>
RICCI_APART void store_group(const group_of<Role>& to, long long column, const real* from) {
    using runs = runs_of<Role, M, N, Height>;
    const long long along = to.along(), across = to.across();
    const long long base = column * across;
    if (to.interleaved && to.count == lanes) {
        for (int j = 0; j < N; ++j)
            for (int i = 0; i < M; ++i) {
                real* p = reinterpret_cast<real*>(to.first[0] + base + i * along + j * across);
                const real* in = from + (j * Height + i) * number_size;
                const vector re = load_whole<real, lanes>(in);
                if constexpr (is_complex) {
                    vector im = load_whole<real, lanes>(in + lanes);
                    if constexpr (is_flipped<Role>) im = -im;
                    store_whole<real, lanes>(p, shuffled<alternately<lanes, 0>, real, lanes>(re, im));
                    store_whole<real, lanes>(p + lanes,
                                             shuffled<alternately<lanes, lanes / 2>, real, lanes>(re, im));
                } else
                    store_whole<real, lanes>(p, re);
            }
        return;
    }
    if constexpr (runs::exist) {
        constexpr long long step = (runs::by_columns ? 1 : Height) * number_size;
        constexpr long long run_apart = runs::by_columns ? Height : 1;
        const long long run_step = runs::by_columns ? across : along;
        for (int r = 0; r < runs::count; ++r)
            for_vectors_of_run<runs::length * parts>(
                first_needed<runs>(r), end_of_needed<runs>(r), [&](auto count, int at) RICCI_INLINED {
                    vector v[lanes];
                    const real* in = from + r * run_apart * number_size + place_in_run<step>(at);
                    RICCI_ALL_UNROLLED for (int e = 0; e < lanes; ++e) v[e] = vector{};
                    RICCI_ALL_UNROLLED for (int e = 0; e < count; ++e) {
                        v[e] = load_whole<real, lanes>(in + e / parts * step + e % parts * lanes);
                        if constexpr (is_flipped<Role>)
                            if (e % parts) v[e] = -v[e];
                    }
                    transpose<real, lanes, 1>(v);
                    RICCI_ALL_UNROLLED for (int t = 0; t < lanes; ++t) if (t < to.count)
                        store_part<real, lanes, count>(
                            reinterpret_cast<real*>(to.first[t] + base + r * run_step) + at, v[t]);
                });
        return;
    }
    for (int t = 0; t < to.count; ++t)
        for (int j = 0; j < N; ++j)
            for (int i = 0; i < M; ++i) {
                real* p = reinterpret_cast<real*>(to.first[t] + base + i * along + j * across);
                const real* in = from + (j * Height + i) * number_size + t;
                p[0] = in[0];
                if constexpr (is_complex) p[imaginary] = is_flipped<Role> ? -in[lanes] : in[lanes];
            }
}
