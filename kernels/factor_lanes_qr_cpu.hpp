// factor_lanes_qr_cpu: QR of interleaved matrices by Householder reflectors, one after another, each applied to as
// many columns at once as have sums in registers.
#pragma once

#include "factor_lanes_triangles_cpu.hpp"

/// Columns that a reflector is applied to at once: as many sums as hide the time of a multiply-add.
constexpr int reflected_columns = is_complex ? 4 : vector_registers == 32 ? 8 : 4;

/// A column from row k on becomes (beta, v below), of a reflector whose v starts with 1; tau is stored. Any lane's
/// norm may be out of the range of squares.
RICCI_APART void make_scaled_reflector(const factor_matrix& a, real* taus, int k) {
    vector largest{}, x[parts];
    for (int i = k + 1; i < m; ++i) {
        load_numbers(a.at(i, k), lanes, x);
        largest = larger(largest_parts(x), largest);
    }
    const indices has_tail = ~is_equal(largest, vector{});
    load_numbers(a.at(k, k), lanes, x);
    largest = larger(largest_parts(x), largest);
    // Twice a power of 2, so that neither factor overflows.
    real up_of[2][lanes], size_of[lanes];
    store_whole<real, lanes>(size_of, largest);
    for (int t = 0; t < lanes; ++t) {
        real up[2] = {1, 1}, size = size_of[t];
        constexpr real step = sizeof(real) == 4 ? real(0x1p30) : real(0x1p250);
        for (int b = 0; b < 2 && size != 0; ++b) {
            while (size < 1 / step) size *= step, up[b] *= step;
            if (b == 0 && size > step)
                size /= step, up[0] /= step;
            else if (b == 1)
                while (size > step) size /= step, up[1] /= step;
            if (size - size != 0) break;
        }
        up_of[0][t] = up[0], up_of[1][t] = up[1];
    }
    const vector first = load_whole<real, lanes>(up_of[0]), second = load_whole<real, lanes>(up_of[1]);
    const vector up = first * second;
    vector squares{};
    for (int i = k + 1; i < m; ++i) {
        vector y[parts];
        load_numbers(a.at(i, k), lanes, y);
        multiply_by_real(y, up);
        store_numbers(a.at(i, k), lanes, y);
        for_each_of<parts>([&](auto p) RICCI_INLINED { squares += y[p] * y[p]; });
    }
    multiply_by_real(x, up);
    const vector alpha = x[0];
    vector all = squares + alpha * alpha;
    indices is_reflected = has_tail;
    if constexpr (is_complex) {
        all += x[imaginary] * x[imaginary];
        is_reflected |= ~is_equal(x[imaginary], vector{});
    }
    vector beta = -with_sign(square_roots(all), alpha);
    beta = chosen(is_reflected, beta, alpha);
    vector tau[parts], divisor[parts], one_over[parts];
    divisor[0] = chosen(is_reflected, alpha - beta, all_lanes(1));
    tau[0] = chosen(is_reflected, (beta - alpha) / beta, vector{});
    if constexpr (is_complex) {
        divisor[imaginary] = chosen(is_reflected, x[imaginary], vector{});
        tau[imaginary] = chosen(is_reflected, -x[imaginary] / beta, vector{});
    }
    store_numbers(taus, lanes, tau);
    reciprocals(divisor, one_over);
    for (int i = k + 1; i < m; ++i) {
        vector y[parts];
        load_numbers(a.at(i, k), lanes, y);
        multiply_by(y, one_over);
        store_numbers(a.at(i, k), lanes, y);
    }
    const vector out[parts] = {beta / first / second};
    store_numbers(a.at(k, k), lanes, out);
}

RICCI_FUNCTION void make_reflector(const factor_matrix& a, real* taus, int k) {
    vector x[parts], sums[2] = {};
    load_numbers(a.at(k, k), lanes, x);
    int i = k + 1;
    for (; i + 2 <= m; i += 2)
        for_each_of<2>([&](auto s) RICCI_INLINED {
            vector y[parts];
            load_numbers(a.at(i + s, k), lanes, y);
            for_each_of<parts>([&](auto p) RICCI_INLINED { sums[s] += y[p] * y[p]; });
        });
    if (i < m) {
        vector y[parts];
        load_numbers(a.at(i, k), lanes, y);
        for_each_of<parts>([&](auto p) RICCI_INLINED { sums[0] += y[p] * y[p]; });
    }
    const vector tail = sums[0] + sums[1], alpha = x[0];
    vector all = tail + alpha * alpha;
    if constexpr (is_complex) all += x[imaginary] * x[imaginary];
    const indices is_plain = is_less(all_lanes(least_square), tail) & is_less(all, all_lanes(largest_square));
    if (__builtin_expect(any_of(~is_plain), 0)) return make_scaled_reflector(a, taus, k);
    const vector beta = -with_sign(square_roots(all), alpha), over_beta = 1 / beta;
    vector tau[parts], divisor[parts], one_over[parts];
    divisor[0] = alpha - beta;
    tau[0] = (beta - alpha) * over_beta;
    if constexpr (is_complex) divisor[imaginary] = x[imaginary], tau[imaginary] = -x[imaginary] * over_beta;
    store_numbers(taus, lanes, tau);
    reciprocals(divisor, one_over);
    for (i = k + 1; i < m; ++i) {
        vector y[parts];
        load_numbers(a.at(i, k), lanes, y);
        multiply_by(y, one_over);
        store_numbers(a.at(i, k), lanes, y);
    }
    const vector out[parts] = {beta};
    store_numbers(a.at(k, k), lanes, out);
}

/// H^H of reflector k times J columns, or H.
template <int J, bool Adjoint = true, class Matrix>
RICCI_FUNCTION void reflect(const factor_matrix& a, const real* taus, int k, const Matrix& c, int column) {
    vector sums[J][parts], first[J][parts];
    RICCI_ALL_UNROLLED for (int j = 0; j < J; ++j) {
        load_numbers(c.at(k, column + j), lanes, first[j]);
        for_each_of<parts>([&](auto p) RICCI_INLINED { sums[j][p] = first[j][p]; });
    }
#pragma GCC unroll 1
    for (int i = k + 1; i < m; ++i) {
        vector v[parts];
        load_numbers(a.at(i, k), lanes, v);
        RICCI_ALL_UNROLLED for (int j = 0; j < J; ++j) {
            vector x[parts];
            load_numbers(c.at(i, column + j), lanes, x);
            add_conjugate_product(sums[j], v, x);
        }
    }
    vector tau[parts];
    load_numbers(taus, lanes, tau);
    RICCI_ALL_UNROLLED for (int j = 0; j < J; ++j) {
        vector x[parts];
        load_numbers(c.at(k, column + j), lanes, x);
        multiply_by<Adjoint>(sums[j], tau);
        for_each_of<parts>([&](auto p) RICCI_INLINED { x[p] -= sums[j][p]; });
        store_numbers(c.at(k, column + j), lanes, x);
    }
#pragma GCC unroll 1
    for (int i = k + 1; i < m; ++i) {
        vector v[parts];
        load_numbers(a.at(i, k), lanes, v);
        RICCI_ALL_UNROLLED for (int j = 0; j < J; ++j) {
            vector x[parts];
            load_numbers(c.at(i, column + j), lanes, x);
            subtract_product(x, v, sums[j]);
            store_numbers(c.at(i, column + j), lanes, x);
        }
    }
}

template <int J>
RICCI_FUNCTION void reflect_rest(const factor_matrix& a, const real* taus, int k, int column) {
    if constexpr (J > 0) {
        for (; column + J <= n; column += J) reflect<J>(a, taus, k, a, column);
        if (column < n) reflect_rest<J / 2>(a, taus, k, column);
    }
}

RICCI_APART void factor_qr(const factor_matrix& a, real* taus) {
    for (int k = 0; k < steps; ++k) {
        make_reflector(a, taus + k * number_size, k);
        reflect_rest<reflected_columns>(a, taus + k * number_size, k, k + 1);
    }
}

/// What R is divided by; a zero on its diagonal is noted.
RICCI_FUNCTION void look_at_diagonal(const factor_matrix& a, group_state& s) {
    for (int k = 0; k < steps; ++k) {
        vector x[parts], one_over[parts];
        load_numbers(a.at(k, k), lanes, x);
        s.note(is_equal(x[0], vector{}), k + 1);
        s.d.has_small |= any_of(is_less(absolute(x[0]), all_lanes(smallest_divisor)));
        reciprocals(x, one_over);
        store_numbers(s.d.one_over[k], lanes, one_over);
    }
}

/// J right-hand sides become least-squares solutions.
template <int J>
RICCI_FUNCTION void solve_least_squares(const factor_matrix& a, const real* taus, group_state& s,
                                        const side_matrix& b) {
    if constexpr (smallest_norm) {
        forward_substitution<false, true, J>(a, s.d, b);
        const vector zero[parts] = {};
        for (int j = 0; j < J; ++j)
            for (int i = n; i < m; ++i) store_numbers(b.at(i, j), lanes, zero);
        for (int k = steps - 1; k >= 0; --k) reflect<J, false>(a, taus + k * number_size, k, b, 0);
        return;
    }
    for (int k = 0; k < steps; ++k) reflect<J>(a, taus + k * number_size, k, b, 0);
    backward_substitution<false, J>(a, s.d, b);
}
