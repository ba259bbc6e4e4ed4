// factor_lanes_solve: right-hand sides and determinants with the factors that factor_lanes_rows left in the slab, at
// their rows' first places.
//
// A lane has its rows' right-hand sides, sides_at_once of them, in registers. Lanes of a warp take rows in the order of
// the unknowns, which go from one to the others by shuffles; where a matrix has two warps, rows stay with their lanes,
// and unknowns are published.
#pragma once

#include "factor_lanes_group.cuh"
#include "factor_lanes_lu.cuh"
#include "factor_unknowns.cuh"

/// Whether L^H x = y is solved by sums over the lanes: rows of L would be read from few banks, and there are not many
/// right-hand sides to sum for.
constexpr bool sums_over_lanes = is_cholesky && in_one_warp &&
                                 slab::across * static_cast<int>(sizeof(element)) % 64 == 0 &&
                                 sides_at_once * static_cast<int>(sizeof(element)) <= 32;

using lane_sides = element[lines][at_least_one(sides_at_once)];

/// By two warps.
struct row_solver {
    const lane_group& group;
    const row_places& places;
    lane_sides& b;
    element inverse[lines]; ///< of the rows' pivots, found at once: a step waits for no division
    bool is_small[lines];

    RICCI_FUNCTION row_solver(const lane_group& g, const row_places& p, lane_sides& sides)
        : group(g), places(p), b(sides) {
        RICCI_UNROLL
        for (int r = 0; r < lines; ++r) {
            const bool is_there = group.exists && places.position[r] >= 0;
            const pivot_inverse own(is_there ? factor(r, places.position[r]) : from_real<element>(1, 0));
            inverse[r] = own.factor, is_small[r] = own.is_small;
        }
    }

    RICCI_FUNCTION element factor(int r, int k) const { return as_meant(*group.place(r, k)); }
    /// Element (k, i) of Cholesky's factor, for row i of the line.
    RICCI_FUNCTION element transposed(int r, int k) const {
        return conjugate(as_meant(group.matrix[k * slab::along + group.row(r) * slab::across]));
    }

    /// Whoever has row k publishes its unknowns, divided by its pivot where the factor's diagonal is not 1: chosen
    /// first of the lane's rows, since of a path for each a warp takes all, one after another.
    template <bool Divides>
    RICCI_FUNCTION void publish(int k) const {
        element x[at_least_one(sides_at_once)], by = inverse[0];
        bool is_mine = places.position[0] == k, by_small = is_small[0];
        RICCI_UNROLL
        for (int c = 0; c < sides_at_once; ++c) x[c] = b[0][c];
        RICCI_UNROLL
        for (int r = 1; r < lines; ++r) {
            const bool is_it = places.position[r] == k;
            is_mine = is_mine || is_it;
            by = is_it ? inverse[r] : by, by_small = is_it ? is_small[r] : by_small;
            RICCI_UNROLL
            for (int c = 0; c < sides_at_once; ++c) x[c] = is_it ? b[r][c] : x[c];
        }
        if constexpr (Divides) {
            RICCI_UNROLL
            for (int c = 0; c < sides_at_once; ++c) x[c] = pivot_inverse::product(x[c], by, by_small);
            RICCI_UNROLL
            for (int r = 0; r < lines; ++r)
                RICCI_UNROLL
                for (int c = 0; c < sides_at_once; ++c) b[r][c] = places.position[r] == k ? x[c] : b[r][c];
        }
        if (is_mine) {
            element* const line = group.line(k);
            RICCI_UNROLL
            for (int c = 0; c < sides_at_once; ++c) line[c] = x[c];
        }
    }
    RICCI_FUNCTION void subtract(int k, int r, element l) const {
        const element* const line = group.line(k);
        RICCI_UNROLL
        for (int c = 0; c < sides_at_once; ++c) subtract_product(b[r][c], l, line[c]);
    }

    /// L y = b.
    RICCI_FUNCTION void forward() const {
        RICCI_UNROLL_ONCE
        for (int k = 0; k < n; ++k) {
            publish<is_cholesky>(k);
            if (k == n - 1) break;
            group_barrier();
            RICCI_UNROLL
            for (int r = 0; r < lines; ++r)
                if (places.position[r] > k && group.exists) subtract(k, r, factor(r, k));
        }
    }
    /// U x = y, L^H x = y.
    RICCI_FUNCTION void backward() const {
        RICCI_UNROLL_ONCE
        for (int k = n - 1; k >= 0; --k) {
            publish<true>(k);
            if (k == 0) break;
            group_barrier();
            RICCI_UNROLL
            for (int r = 0; r < lines; ++r)
                if (places.position[r] >= 0 && places.position[r] < k && group.exists)
                    subtract(k, r, is_cholesky ? transposed(r, k) : factor(r, k));
        }
    }
};

/// Lane l of a warp has unknowns l, l + lanes, ...
RICCI_FUNCTION void solve_in_order(const arguments& a, long long at, const lane_group& group,
                                   const row_places& places) {
    const auto unknown = [&](int h) { return unknown_of<n, lanes>(group.lane, h); };
    int row[lines]; // of the matrix
    RICCI_UNROLL
    for (int h = 0; h < lines; ++h) row[h] = unknown(h);
    group_barrier();
    if constexpr (exchanges) {
        int* const row_of = reinterpret_cast<int*>(group.scratch);
        RICCI_UNROLL
        for (int r = 0; r < lines; ++r)
            if (group.has_row(r)) row_of[places.position[r]] = group.row(r);
        group_barrier();
        RICCI_UNROLL
        for (int h = 0; h < lines; ++h)
            if (group.exists) row[h] = row_of[unknown(h)];
    }
    const element* of_row[lines];
    element inverse[lines];
    bool is_small[lines];
    RICCI_UNROLL
    for (int h = 0; h < lines; ++h) {
        of_row[h] = group.matrix + row[h] * slab::along;
        const pivot_inverse own(group.exists ? as_meant(of_row[h][unknown(h) * slab::across]) : one());
        inverse[h] = own.factor, is_small[h] = own.is_small;
    }
    const auto factor = [&](int h, int k) { return as_meant(of_row[h][k * slab::across]); };
    const auto transposed = [&](int h, int k) {
        return conjugate(as_meant(group.matrix[k * slab::along + unknown(h) * slab::across]));
    };
    const auto divided = [&](int h, element value) { return pivot_inverse::product(value, inverse[h], is_small[h]); };
    const auto of_l = [&](int h, element value) { return is_cholesky ? divided(h, value) : value; };
    const auto told = [](element x, int number) { return shuffle(x, number, lanes); };

    const int sides = static_cast<int>(sides_of(a));
    RICCI_UNROLL_ONCE
    for (int first = 0; first < sides; first += sides_at_once) {
        lane_sides b, y, x;
        RICCI_UNROLL
        for (int h = 0; h < lines; ++h) RICCI_UNROLL
        for (int c = 0; c < sides_at_once; ++c) {
            b[h][c] = y[h][c] = x[h][c] = zero();
            if (group.exists && first + c < sides) b[h][c] = given_side(a, at, row[h], first + c);
        }
        find_unknowns<n, lanes, false>(b, factor, told, of_l, keep_in(y, group.lane));
        if constexpr (!is_cholesky) {
            find_unknowns<n, lanes, true>(y, factor, told, divided, keep_in(x, group.lane));
        } else if constexpr (!sums_over_lanes) {
            find_unknowns<n, lanes, true>(y, transposed, told, divided, keep_in(x, group.lane));
        } else { // L^H x = y: of each unknown the sum of what those behind it take off it
            RICCI_UNROLL
            for (int k = n - 1; k >= 0; --k) RICCI_UNROLL
            for (int c = 0; c < sides_at_once; ++c) {
                element sum = zero();
                RICCI_UNROLL
                for (int h = k / lanes; h < lines; ++h)
                    if (group.row(h) > k && group.has_row(h))
                        add_product(sum, conjugate(factor(h, k)), x[h][c]);
                sum = sum_of_lanes<lanes>(sum);
                if (group.row(k / lanes) == k) x[k / lanes][c] = divided(k / lanes, y[k / lanes][c] - sum);
            }
        }
        group_barrier(); // solutions may lie where sides do
        group.each<sides_at_once>([&](int h, int c) {
            if (first + c < sides)
                operand_of<solution_role>(a, at)[offset_of<solution_role>(a, unknown(h), first + c)] =
                    places.info != 0 ? not_a_number() : x[h][c];
        });
    }
}

RICCI_FUNCTION void solve_by_rows(const arguments& a, long long at, const lane_group& group,
                                  const row_places& places) {
    static_assert(!has_sides || m == n, "systems are square");
    if constexpr (in_one_warp) return solve_in_order(a, at, group, places);
    const int sides = static_cast<int>(sides_of(a));
    RICCI_UNROLL_ONCE
    for (int first = 0; first < sides; first += sides_at_once) {
        group_barrier();
        lane_sides b;
        RICCI_UNROLL
        for (int r = 0; r < lines; ++r) RICCI_UNROLL
        for (int c = 0; c < sides_at_once; ++c) b[r][c] = zero();
        group.each<sides_at_once>([&](int r, int c) {
            if (first + c < sides) b[r][c] = given_side(a, at, group.row(r), first + c);
        });
        const row_solver solver(group, places, b);
        solver.forward();
        solver.backward();
        const bool is_singular = places.info != 0;
        group.each<sides_at_once>([&](int r, int c) {
            if (first + c < sides)
                operand_of<solution_role>(a, at)[offset_of<solution_role>(a, places.position[r], first + c)] =
                    is_singular ? not_a_number() : b[r][c];
        });
    }
}

/// Of the group's lanes together, in its first.
RICCI_FUNCTION void store_determinant(const arguments& a, long long at, const lane_group& group,
                                      const row_places& places) {
    determinant d;
    RICCI_UNROLL
    for (int r = 0; r < lines; ++r)
        if (group.has_row(r)) d.take(as_meant(*group.place(r, places.position[r])));
    RICCI_UNROLL
    for (int apart = smaller_of(lanes, 32) / 2; apart > 0; apart /= 2)
        d.log_abs += shuffle_xor(d.log_abs, apart), d.sign = d.sign * shuffle_xor(d.sign, apart);
    if constexpr (!in_one_warp) {
        __syncthreads();
        element* const of_warp = group.line(0);
        if (group.lane == 32) of_warp[0] = from_real<element>(d.log_abs, 0), of_warp[1] = d.sign;
        __syncthreads();
        d.log_abs += real_of(of_warp[0]), d.sign = d.sign * of_warp[1];
    }
    if (group.lane == 0 && group.exists) d.store(a, at, places.info, places.is_odd);
}
