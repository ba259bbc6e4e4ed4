// factor_block_qr_cpu: QR of one matrix in scratch. Panels of `panel_columns` columns are factored reflector by
// reflector; their products I - V T V^H (Schreiber and Van Loan, "A storage-efficient WY representation", 1989) are
// applied to the other columns of a block of `block_columns`, and the block's to the rest.
#pragma once

#include "factor_block_triangles_cpu.hpp"

constexpr int block_columns = panel < panel_columns ? panel_columns : panel / panel_columns * panel_columns;
/// Of small matrices, as long as a block is wide: what vectors reach into comes behind.
constexpr long long small_height = (block_columns + lanes - 1) / lanes * lanes + lanes;
using small_matrix = scratch_matrix<small_height>;

/// Reflectors of a block, V of unit lower trapezoidal form with zeros above, and what is computed with them.
template <class A>
struct reflector_block {
    A v;
    small_matrix t, gram, sums, factors; ///< t: -T^H
};

/// f(row of the first lane, mask of rows [from, high)) for the vectors that have such rows.
template <class F>
RICCI_FUNCTION void for_vectors_from(int from, int high, const F& f) {
    int i = from / lanes * lanes;
    f(i, rows_from(i, from) & ~rows_from(i, high));
    for (i += lanes; i + lanes <= high; i += lanes) f(i, ~indices{});
    if (i < high) f(i, ~rows_from(i, high));
}

/// By elements, scaled by a power of 2: for norms whose squares overflow or vanish.
template <class A>
RICCI_APART element make_scaled_reflector(const A& a, int high, int k) {
    real tail = 0;
    for (int i = k + 1; i < high; ++i) {
        const real size = largest_part(a.number(i, k));
        if (size > tail || size != size) tail = size;
    }
    element alpha = a.number(k, k);
    bool is_reflected = tail != 0;
    if constexpr (is_complex) is_reflected = is_reflected || imaginary_of(alpha) != 0;
    if (!is_reflected) return from_real<element>(0, 0);
    const real alpha_size = largest_part(alpha);
    real largest = alpha_size > tail ? alpha_size : tail, up = 1, more = 1;
    constexpr real step = sizeof(real) == 4 ? real(0x1p30) : real(0x1p250);
    if (largest > 0 && largest - largest == 0) { // what is no number may have left 0 as the largest
        while (largest < 1 / step && up < step * step) largest *= step, up *= step;
        while (largest < 1 / step) largest *= step, more *= step;
        while (largest > step) largest /= step, up /= step;
    }
    const auto scaled = [&](element x) { return x * from_real<element>(up, 0) * from_real<element>(more, 0); };
    alpha = scaled(alpha);
    real squares = 0;
    const auto add = [&](auto x) {
        if constexpr (is_complex)
            squares += x.re * x.re + x.im * x.im;
        else
            squares += x * x;
    };
    for (int i = k + 1; i < high; ++i) {
        const element x = scaled(a.number(i, k));
        a.set(i, k, x);
        add(x);
    }
    add(alpha);
    const real re = real_of(alpha), norm = real_sqrt(squares), beta = re < 0 ? norm : -norm;
    const element divisor = alpha - from_real<element>(beta, 0);
    for (int i = k + 1; i < high; ++i) a.set(i, k, a.number(i, k) / divisor);
    a.set(k, k, from_real<element>(beta / up / more, 0));
    return conjugate(from_real<element>(beta, 0) - conjugate(alpha)) / from_real<element>(beta, 0);
}

/// Column k becomes (beta, v below); returns tau.
template <class A>
RICCI_FUNCTION element make_reflector(const A& a, int high, int k) {
    real tail = 0;
    if (k + 1 < high) {
        vector sums[2] = {};
        for_vectors_from(k + 1, high, [&](int i, indices below) RICCI_INLINED {
            vector x[parts];
            load_numbers(a.at(i, k), a.height(), x);
            keep_where(below, x);
            for_each_of<parts>([&](auto p) RICCI_INLINED { sums[p] += x[p] * x[p]; });
        });
        real one[lanes];
        store_whole<real, lanes>(one, sums[0] + sums[1]);
        for (int t = 0; t < lanes; ++t) tail += one[t];
    }
    const element alpha = a.number(k, k);
    const real re = real_of(alpha), im = imaginary_of(alpha), all = tail + re * re + im * im;
    if (!(tail > least_square && all < largest_square)) return make_scaled_reflector(a, high, k);
    const real norm = real_sqrt(all), beta = re < 0 ? norm : -norm;
    const element over = from_real<element>(1, 0) / (alpha - from_real<element>(beta, 0));
    vector y[parts];
    repeat_number(reinterpret_cast<const real*>(&over), 1, y);
    for_vectors_from(k + 1, high, [&](int i, indices below) RICCI_INLINED {
        vector x[parts], old[parts];
        load_numbers(a.at(i, k), a.height(), x);
        for_each_of<parts>([&](auto p) RICCI_INLINED { old[p] = x[p]; });
        multiply_by(x, y);
        for_each_of<parts>([&](auto p) RICCI_INLINED { x[p] = chosen(below, x[p], old[p]); });
        store_numbers(a.at(i, k), a.height(), x);
    });
    a.set(k, k, from_real<element>(beta, 0));
    return conjugate(from_real<element>(beta, 0) - conjugate(alpha)) / from_real<element>(beta, 0);
}

/// Reflector k of a, clean.
template <class A>
RICCI_FUNCTION void copy_reflector(const A& a, const A& v, int high, int k) {
    for (int i = 0; i < k / lanes * lanes; i += lanes) {
        const vector zero[parts] = {};
        store_numbers(v.at(i, k), v.height(), zero);
    }
    for_vectors_from(k, high, [&](int i, indices inside) RICCI_INLINED {
        vector x[parts];
        load_numbers(a.at(i, k), a.height(), x);
        keep_where(inside, x);
        store_numbers(v.at(i, k), v.height(), x);
    });
    v.set(k, k, from_real<element>(1, 0));
}

/// -T^H of `wide` reflectors.
template <class A>
RICCI_APART void make_triangle(const reflector_block<A>& b, const element* tau, int high, int wide) {
    sum_products<false>(b.v, b.v, b.gram, wide, wide, high);
    for (int c = 0; c < wide; ++c) {
        // Column c of T, as row c of -T^H: -T(:, :c) gram(:c, c) tau
        for (int i = 0; i < wide; ++i) {
            element sum = from_real<element>(0, 0);
            for (int l = i; l < c; ++l) sum = sum - conjugate(b.t.number(l, i)) * b.gram.number(l, c);
            if (i < c) sum = from_real<element>(0, 0) - sum * tau[c];
            if (i == c) sum = tau[c];
            b.t.set(c, i, from_real<element>(0, 0) - conjugate(sum));
        }
    }
    for (int c = 0; c < wide; ++c)
        for (int i = wide; i < static_cast<int>(small_height); ++i) b.t.set(i, c, from_real<element>(0, 0));
}

/// C = -T B of a lower triangle, or an upper one.
template <bool Upper>
RICCI_APART void multiply_by_triangle(small_matrix c, small_matrix t, small_matrix b, int high, int wide) {
    const auto multiply = [&](auto some, int j) RICCI_INLINED {
        for (int i = 0; i < high; i += lanes) {
            vector sums[some][parts] = {};
            for (int l = Upper ? i : 0; l < high && (Upper || l < i + lanes); ++l) {
                vector x[parts], y[parts];
                load_numbers(t.at(i, l), t.height(), x);
                RICCI_ALL_UNROLLED for (int q = 0; q < some; ++q) {
                    repeat_number(b.at(l, j + q), b.height(), y);
                    subtract_product(sums[q], x, y);
                }
            }
            RICCI_ALL_UNROLLED for (int q = 0; q < some; ++q) store_numbers(c.at(i, j + q), c.height(), sums[q]);
        }
    };
    int j = 0;
    for (; j + 4 <= wide; j += 4) multiply(constant<4>(), j);
    for (; j < wide; ++j) multiply(constant<1>(), j);
}

/// C becomes (I - V T^H V^H) C, or, where the triangle is upper and -T, (I - V T V^H) C.
template <bool Upper = false, class A>
RICCI_APART void apply_block(const reflector_block<A>& b, A c, int high, int reflectors, int wide) {
    if (wide <= 0) return;
    sum_products<false>(b.v, c, b.sums, reflectors, wide, high);
    multiply_by_triangle<Upper>(b.factors, b.t, b.sums, reflectors, wide);
    subtract_products<false>(c, b.v, b.factors, high, wide, reflectors);
}

/// A panel of at most `panel_columns` columns: each reflector is applied to the columns right of it.
template <class A>
RICCI_APART void factor_qr_panel(A a, const reflector_block<A>& b, element* tau, int high, int wide) {
    for (int k = 0; k < wide && k < high; ++k) {
        tau[k] = make_reflector(a, high, k);
        copy_reflector(a, b.v, high, k);
        const int more = wide - k - 1;
        if (more == 0) continue;
        const A v = b.v.part(0, k), rest = a.part(0, k + 1);
        sum_products<false>(v, rest, b.sums, 1, more, high);
        for (int j = 0; j < more; ++j) b.sums.set(0, j, conjugate(tau[k]) * b.sums.number(0, j));
        subtract_products<false>(rest, v, b.sums, high, more, 1);
    }
}

template <class A>
RICCI_FUNCTION reflector_block<A> part_of(const reflector_block<A>& b, int first) {
    return {b.v.part(first, first), b.t, b.gram, b.sums, b.factors};
}

template <class A>
RICCI_APART void factor_qr(A a, const reflector_block<A>& b, element* tau, int high, int wide) {
    const int all = high < wide ? high : wide;
    for (int first = 0; first < all; first += block_columns) {
        const int some = all - first < block_columns ? all - first : block_columns;
        const A block = a.part(first, first);
        for (int k = 0; k < some; k += panel_columns) {
            const int columns_here = some - k < panel_columns ? some - k : panel_columns, below = high - first - k;
            const reflector_block<A> inner = part_of(b, k);
            factor_qr_panel(block.part(k, k), inner, tau + first + k, below, columns_here);
            if (k + panel_columns < some || some <= panel_columns)
                make_triangle(inner, tau + first + k, below, columns_here);
            if (k + panel_columns < some)
                apply_block(inner, block.part(k, k + panel_columns), below, columns_here, some - k - panel_columns);
        }
        if (some > panel_columns) {
            for (int k = panel_columns; k < some; ++k)
                for (int i = 0; i < k / panel_columns * panel_columns; ++i) b.v.set(i, k, from_real<element>(0, 0));
            make_triangle(b, tau + first, high - first, some);
        }
        apply_block(b, a.part(first, first + some), high - first, some, wide - first - some);
    }
}

/// Q^H times right-hand sides, from factors that are there.
template <class A>
RICCI_APART void apply_adjoint(A a, const reflector_block<A>& b, const element* tau, A sides, int high,
                               int reflectors, int wide) {
    for (int first = 0; first < reflectors; first += block_columns) {
        const int some = reflectors - first < block_columns ? reflectors - first : block_columns;
        for (int k = 0; k < some; ++k) copy_reflector(a.part(first, first), b.v, high - first, k);
        make_triangle(b, tau + first, high - first, some);
        apply_block(b, sides.part(first, 0), high - first, some, wide);
    }
}

/// Q times right-hand sides.
template <class A>
RICCI_APART void apply_reflectors(A a, const reflector_block<A>& b, const element* tau, A sides, int high,
                                  int reflectors, int wide) {
    for (int first = (reflectors - 1) / block_columns * block_columns; first >= 0; first -= block_columns) {
        const int some = reflectors - first < block_columns ? reflectors - first : block_columns;
        for (int k = 0; k < some; ++k) copy_reflector(a.part(first, first), b.v, high - first, k);
        make_triangle(b, tau + first, high - first, some);
        // -T
        for (int c = 0; c < some; ++c)
            for (int i = 0; i < static_cast<int>(small_height); ++i)
                b.gram.set(i, c, i <= c ? conjugate(b.t.number(c, i)) : from_real<element>(0, 0));
        apply_block<true>(reflector_block<A>{b.v, b.gram, b.t, b.sums, b.factors}, sides.part(first, 0),
                          high - first, some, wide);
    }
}
