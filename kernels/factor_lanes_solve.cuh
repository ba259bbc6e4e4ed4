// factor_lanes_solve: right-hand sides and determinants with the factors that factor_lanes_rows left in the slab, at
// their rows' first places.
//
// A lane has its rows' right-hand sides, sides_at_once of them, in registers; the step's unknowns are published.
#pragma once

#include "factor_lanes_group.cuh"
#include "factor_lanes_lu.cuh"

/// Another lane's.
RICCI_FUNCTION real of_lane(real x, int apart) { return __shfl_xor_sync(0xffffffffu, x, apart); }
template <class R>
RICCI_FUNCTION complex<R> of_lane(complex<R> x, int apart) {
    return {of_lane(x.re, apart), of_lane(x.im, apart)};
}

/// Whether L^H x = y is solved by sums over the lanes: rows of L would be read from few banks, and there are not many
/// right-hand sides to sum for.
constexpr bool sums_over_lanes = is_cholesky && in_one_warp &&
                                 slab::across * static_cast<int>(sizeof(element)) % 64 == 0 &&
                                 sides_at_once * static_cast<int>(sizeof(element)) <= 32;

using lane_sides = element[lines][at_least_one(sides_at_once)];

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
        for (int c = 0; c < sides_at_once; ++c) b[r][c] = without_product(b[r][c], l, line[c]);
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
    /// L^H x = y: of each unknown the sum of what those behind it take off it.
    RICCI_FUNCTION void backward_by_sums() const {
        RICCI_UNROLL_ONCE
        for (int k = n - 1; k >= 0; --k) {
            RICCI_UNROLL
            for (int c = 0; c < sides_at_once; ++c) {
                element sum = zero();
                RICCI_UNROLL
                for (int r = 0; r < lines; ++r)
                    if (places.position[r] > k && group.exists) add_product(sum, conjugate(factor(r, k)), b[r][c]);
                RICCI_UNROLL
                for (int apart = smaller_of(lanes, 32) / 2; apart > 0; apart /= 2) sum += of_lane(sum, apart);
                RICCI_UNROLL
                for (int r = 0; r < lines; ++r)
                    if (places.position[r] == k) b[r][c] = b[r][c] - sum;
            }
            RICCI_UNROLL
            for (int r = 0; r < lines; ++r)
                if (places.position[r] == k) {
                    RICCI_UNROLL
                    for (int c = 0; c < sides_at_once; ++c)
                        b[r][c] = pivot_inverse::product(b[r][c], inverse[r], is_small[r]);
                }
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

RICCI_FUNCTION void solve_by_rows(const arguments& a, long long at, const lane_group& group,
                                  const row_places& places) {
    static_assert(!has_sides || m == n, "systems are square");
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
        if constexpr (sums_over_lanes)
            solver.backward_by_sums();
        else
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
        d.log_abs += of_lane(d.log_abs, apart), d.sign = d.sign * of_lane(d.sign, apart);
    if constexpr (!in_one_warp) {
        __syncthreads();
        element* const of_warp = group.line(0);
        if (group.lane == 32) of_warp[0] = from_real<element>(d.log_abs, 0), of_warp[1] = d.sign;
        __syncthreads();
        d.log_abs += real_of(of_warp[0]), d.sign = d.sign * of_warp[1];
    }
    if (group.lane == 0 && group.exists) d.store(a, at, places.info, places.is_odd);
}
