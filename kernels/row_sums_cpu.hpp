// row_sums: products of a matrix and a vector, or of two vectors, on a CPU, whose numbers lie along the sum. A
// vector's lanes add up parts of one row's sum. As many rows as there are lanes, of one product or of as many
// products of a row each, are put together by a tree of additions, in which every sum comes to its row's lane: two
// permutations and an addition for each row, whatever the length, where a transposition of X takes three for every
// eight numbers.
// Constants: product.hpp's, with n = 1; simd_bytes; adds_along_k: whether products are of that kind, real, and X and
// Y of the compute type or halves.
#pragma once

#include "real_product.hpp"

constexpr int row_lanes = lanes_for<real>(static_cast<int>(k));
using row_vector = simd<real, row_lanes>;

/// In lane r, the sum of a row of X, r * x_step from x on, times that of Y; in lanes from Rows on anything.
template <int Rows>
RICCI_FUNCTION row_vector sums_of_rows(const x_element* x, long long x_step, const y_element* y, long long y_step) {
    row_vector sums[row_lanes];
    const auto add = [&](auto is_first, auto count, int l) RICCI_INLINED {
        for_each_of<Rows>([&](auto r) RICCI_INLINED {
            const auto product = load_vector<row_lanes, count>(x + r * x_step + l) *
                                 load_vector<row_lanes, count>(y + r * y_step + l);
            if constexpr (is_first) sums[r] = product;
            else sums[r] += product;
        });
    };
    constexpr int whole = static_cast<int>(k) / row_lanes, rest = static_cast<int>(k) % row_lanes;
    if constexpr (whole > 0) {
        add(constant<1>(), constant<row_lanes>(), 0);
        for (int part = 1; part < whole; ++part) add(constant<0>(), constant<row_lanes>(), part * row_lanes);
    }
    if constexpr (rest > 0) add(constant<whole == 0>(), constant<rest>(), whole * row_lanes);
    return sums_of_lanes<real, row_lanes, Rows>(sums);
}

/// C's elements of Rows rows that are c_step apart (op)= alpha * sums.
template <int Rows, class Arguments>
RICCI_FUNCTION void store_rows(const Arguments& a, c_element* c, long long c_step, row_vector v) {
    if constexpr (scaled) v = v * static_cast<real>(a.alpha[0]);
    if constexpr (negative) v = -v;
    if constexpr (is_same<c_element, compute>)
        if (c_step == 1) {
            if constexpr (accumulate) v = times_beta(a, load_part<real, row_lanes, Rows>(c)) + v;
            return store_part<real, row_lanes, Rows>(c, v);
        }
    for_each_of<Rows>([&](auto r) RICCI_INLINED {
        c_element& element = c[r * c_step];
        real sum = v[r.value];
        if constexpr (accumulate) sum = times_beta(a, load_as<real>(element)) + sum;
        element = store_as<c_element>(sum);
    });
}

/// `rows` rows from the first of each operand on. A template, as is what calls it: no other product's kernel has it.
template <class Arguments>
RICCI_FUNCTION void multiply_rows(const Arguments& a, const x_element* x, long long x_step, const y_element* y,
                                  long long y_step, c_element* c, long long c_step, long long rows) {
    const auto some = [&](auto count) RICCI_INLINED {
        store_rows<count>(a, c, c_step, sums_of_rows<count>(x, x_step, y, y_step));
        x += count * x_step, y += count * y_step, c += count * c_step;
    };
    for (; rows >= row_lanes; rows -= row_lanes) some(constant<row_lanes>());
    if constexpr (m > 1) {
        if constexpr (m % row_lanes != 0) some(constant<static_cast<int>(m % row_lanes)>());
    } else {
        for (; rows > 0; --rows) some(constant<1>());
    }
}

/// `count` products, each a batch step behind the one before.
template <class Arguments>
RICCI_FUNCTION void products_by_rows(const Arguments& a, batch_places at, long long count) {
    if constexpr (m == 1) {
        multiply_rows(a, at.x, a.batch_step[1][0], at.y, a.batch_step[2][0], at.c, a.batch_step[0][0], count);
    } else {
        for (; count > 0; --count) {
            multiply_rows(a, at.x, m_offset(a, 1, 1), at.y, 0, at.c, m_offset(a, 0, 1), m);
            at.c += a.batch_step[0][0], at.x += a.batch_step[1][0], at.y += a.batch_step[2][0];
        }
    }
}
