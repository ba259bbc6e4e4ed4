// factor_lanes_qr_sides: R x = Q^H b, by a lane in its registers, by lanes of a warp in theirs, R in shared memory; or,
// by several warps, and x = Q R^-H b by any lanes, in shared memory.
#pragma once

#include "factor_lanes_qr_scaled.cuh"
#include "factor_unknowns.cuh"

/// Lanes that multiply a right-hand side by Q: those of the matrix, or, of more than a warp, a warp to each side.
constexpr int lanes_of_side = many_warps ? 32 : lanes_at_work,
              lines_of_side = (m + lanes_of_side - 1) / lanes_of_side;
static_assert(!smallest_norm || order.lanes == lane_order::adjacent, "sums over lanes that are next to each other");

/// Over these lanes, the same in each; lane: its number among them.
RICCI_FUNCTION element sum_of_side(element x, int lane) {
    if constexpr (lanes_of_side > 1) {
        const int thread = static_cast<int>(threadIdx.x) % 32;
        RICCI_UNROLL
        for (int lanes = power_of_two_within(lanes_of_side - 1); lanes > 0; lanes /= 2) {
            const element other = shuffle(x, (thread + lanes) % 32);
            if (lane + lanes < lanes_of_side) x += other;
        }
        x = shuffle(x, thread - lane);
    }
    return x;
}

/// 1/x; 0 for 0; NaN where that is to be found by division.
RICCI_FUNCTION element inverse_for_solving(element x) {
    return is_zero(x) ? zero() : is_safe(squared(x)) ? plain_reciprocal(x) : not_a_number();
}

/// Q times what first(i, s) gives for the first n rows of a right-hand side, and zeros, goes to `right`; NaN where
/// info is not 0. A lane has some rows in registers.
template <class First>
RICCI_FUNCTION void multiply_by_q(const element* v, element* right, const element* taus, int lane, bool exists,
                                  int info, const First& first) {
    const int thread = static_cast<int>(threadIdx.x);
    if constexpr (many_warps) lane = thread % 32, exists = true;
    RICCI_UNROLL_ONCE
    for (int s = many_warps ? thread / 32 : 0; s < sides; s += many_warps ? threads_per_block / 32 : 1) {
        element x[lines_of_side];
        RICCI_UNROLL
        for (int h = 0; h < lines_of_side; ++h)
            x[h] = exists && lane + lanes_of_side * h < n ? first(lane + lanes_of_side * h, s) : zero();
        RICCI_UNROLL_ONCE
        for (int k = n - 1; k >= 0; --k) {
            element reflector[lines_of_side], sum = zero();
            RICCI_UNROLL
            for (int h = 0; h < lines_of_side; ++h) {
                const int i = lane + lanes_of_side * h;
                reflector[h] = from_real<element>(i == k, 0);
                if (exists && i > k && i < m) reflector[h] = as_meant(v[offset_in_shared(i, k)]);
                add_dot(sum, reflector[h], x[h]);
            }
            sum = sum_of_side(sum, lane);
            sum = -((exists ? taus[k] : zero()) * sum);
            RICCI_UNROLL
            for (int h = 0; h < lines_of_side; ++h) add_product(x[h], reflector[h], sum);
        }
        RICCI_UNROLL
        for (int h = 0; h < lines_of_side; ++h)
            if (const int i = lane + lanes_of_side * h; exists && i < m)
                right[i + s * padded_rows] = info != 0 ? not_a_number() : x[h];
    }
}

/// The only lane of a matrix solves before anything leaves its registers. Returns LAPACK's info; NaN are the solutions
/// where it is not 0.
constexpr bool solves_alone = one_lane && sides > 0 && !smallest_norm;
RICCI_FUNCTION int solve_alone(lane_columns& x) {
    element inverse[n];
    int info = 0;
    RICCI_UNROLL
    for (int k = n - 1; k >= 0; --k) {
        inverse[k] = inverse_for_solving(x[k][k]);
        if (is_zero(inverse[k])) info = k + 1;
    }
    RICCI_UNROLL
    for (int c = n; c < all_columns; ++c)
        RICCI_UNROLL
        for (int k = n - 1; k >= 0; --k) {
            const bool is_number = real_of(inverse[k]) == real_of(inverse[k]);
            const element solution = is_number ? x[c][k] * inverse[k] : x[c][k] / x[k][k];
            x[c][k] = info != 0 ? not_a_number() : solution;
            RICCI_UNROLL
            for (int i = 0; i < k; ++i) subtract_product(x[c][i], x[k][i], solution);
        }
    return info;
}

/// Lanes of a warp have rows lane, lane + lanes_at_work, ... of some right-hand sides. Returns -1, having done nothing,
/// where pivots have to be divided by: then others do it in the same way, so that a matrix's solutions do not depend on
/// which those beside it are.
RICCI_FUNCTION int solve_by_rows(const element* r_factor, element* right, lane_place at, bool exists) {
    constexpr int lines = (n + lanes_at_work - 1) / lanes_at_work, last = lines - 1,
                  at_once = larger_of(1, smaller_of(sides, 4 / lines));
    // others than the matrix's come along as its last, those without a row in the last line with the last one
    const int lane = smaller_of(number_of(at), lanes_at_work - 1), last_row = unknown_of<n, lanes_at_work>(lane, last);
    const element *const rows_of_lane = r_factor + offset_in_shared(lane, 0),
                         *const in_last_line = r_factor + offset_in_shared(last_row, 0);
    const auto of_r = [&](int h, int k) {
        return as_meant(h == last ? in_last_line[offset_in_shared(0, k)]
                                  : rows_of_lane[offset_in_shared(lanes_at_work * h, k)]);
    };
    const auto row = [&](int h) { return h == last ? last_row : lane + lanes_at_work * h; };
    element inverse[lines];
    bool is_plain = true;
    int info = 0;
    RICCI_UNROLL
    for (int h = last; h >= 0; --h) {
        inverse[h] = inverse_for_solving(as_meant(r_factor[offset_in_shared(row(h), row(h))]));
        is_plain = is_plain && real_of(inverse[h]) == real_of(inverse[h]);
        const unsigned zeros = __ballot_sync(0xffffffffu, is_zero(inverse[h])) & of_matrix(at);
        if (zeros != 0) {
            int number = 0;
            while ((zeros >> lane_of(number, at.of_warp) & 1u) == 0) ++number;
            info = lanes_at_work * h + number + 1;
        }
    }
    if (__any_sync(0xffffffffu, exists && !is_plain)) return -1;
    RICCI_UNROLL_ONCE
    for (int side = 0; side < sides; side += at_once) {
        element y[lines][at_once];
        RICCI_UNROLL
        for (int h = 0; h < lines; ++h)
            RICCI_UNROLL
            for (int s = 0; s < at_once; ++s)
                y[h][s] = exists && side + s < sides ? right[row(h) + (side + s) * padded_rows] : zero();
        __syncwarp(); // read also by lanes without a row
        find_unknowns<n, lanes_at_work, true>(
            y, of_r, [&](element x, int number) { return shuffle(x, lane_of(number, at.of_warp)); },
            [&](int h, element x) { return product_of(x, inverse[h]); },
            [&](int h, int number, int s, element x) {
                if (exists && lane == number && side + s < sides) right[row(h) + (side + s) * padded_rows] = x;
            });
    }
    if (info != 0 && exists) {
        RICCI_UNROLL_ONCE
        for (int i = lane; i < n; i += lanes_at_work)
            for (int s = 0; s < sides; ++s) right[i + s * padded_rows] = not_a_number();
    }
    return info;
}

/// Columns of R from the last on; of smallest_norm rows of R^H from the first on. Returns LAPACK's info; NaN are the
/// solutions where it is not 0. inverses: memory for n elements, of the matrix; not used by a single lane.
RICCI_FUNCTION int solve_sides(const element* r_factor, element* right, element* inverses, const element* taus,
                               lane_place at, bool exists) {
    if constexpr (!many_warps && !one_lane && !smallest_norm)
        if (const int info = solve_by_rows(r_factor, right, at, exists); info >= 0) return info;
    const int lane = number_of(at);
    const auto inverse_of = [&](int k) {
        return one_lane ? inverse_for_solving(as_meant(r_factor[offset_in_shared(k, k)])) : inverses[k];
    };
    const auto divided = [&](element y, element inverse, int k) {
        const bool is_number = real_of(inverse) == real_of(inverse);
        return is_number ? product_of(y, inverse) : y / as_meant(r_factor[offset_in_shared(k, k)]);
    };
    if constexpr (!one_lane) {
        // all at once: on the way from one column to the next they would be waited for
        RICCI_UNROLL_ONCE
        for (int k = lane; k < n; k += lanes_at_work)
            if (exists) inverses[k] = inverse_for_solving(as_meant(r_factor[offset_in_shared(k, k)]));
        meet();
    }
    int info = 0;
    RICCI_UNROLL_ONCE
    for (int step = 0; step < n; ++step) {
        const int k = smallest_norm ? step : n - 1 - step;
        const element inverse = inverse_of(k);
        if (is_zero(inverse) && (info == 0 || !smallest_norm)) info = k + 1;
        RICCI_UNROLL_ONCE
        for (int s = 0; s < sides; ++s) {
            element* const y = right + s * padded_rows;
            const element solution = divided(y[k], inverse, k);
            if constexpr (smallest_norm) {
                RICCI_UNROLL_ONCE
                for (int i = k + 1 + lane; i < n; i += lanes_at_work)
                    if (exists) subtract_product(y[i], conjugate(as_meant(r_factor[offset_in_shared(k, i)])), solution);
            } else {
                RICCI_UNROLL_ONCE
                for (int i = lane; i < k; i += lanes_at_work)
                    if (exists) subtract_product(y[i], as_meant(r_factor[offset_in_shared(i, k)]), solution);
            }
        }
        meet();
    }
    if constexpr (smallest_norm) {
        multiply_by_q(r_factor, right, taus, lane, exists, info,
                      [&](int i, int s) { return divided(right[i + s * padded_rows], inverse_of(i), i); });
        if constexpr (matrices_of_block > groups) meet();
        return info;
    }
    RICCI_UNROLL_ONCE
    for (int e = lane; e < n * sides; e += lanes_at_work) {
        const int k = e % n;
        element& y = right[e / n * padded_rows + k];
        if (exists) y = info != 0 ? not_a_number() : divided(y, inverse_of(k), k);
    }
    if constexpr (matrices_of_block > groups) meet(); // the next matrix's pivots go where the inverses are
    return info;
}
