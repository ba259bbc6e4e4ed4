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

    RICCI_FUNCTION element factor(int r, int k) const { return as_meant(*group.place(r, k)); }
    /// Element (k, i) of Cholesky's factor, for row i of the line.
    RICCI_FUNCTION element transposed(int r, int k) const {
        return conjugate(as_meant(group.matrix[k * slab::along + group.row(r) * slab::across]));
    }

    /// Whoever has row k publishes its unknowns, divided by `inverse` where given.
    template <class Finish>
    RICCI_FUNCTION void publish(int k, const Finish& finish) const {
        element* const line = group.line(k);
        RICCI_UNROLL
        for (int r = 0; r < lines; ++r)
            if (places.position[r] == k) {
                finish(r);
                RICCI_UNROLL
                for (int c = 0; c < sides_at_once; ++c) line[c] = b[r][c];
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
            publish(k, [&](int r) {
                if constexpr (is_cholesky) divide(r, k);
            });
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
                if (places.position[r] == k) divide(r, k);
        }
    }
    /// U x = y, L^H x = y.
    RICCI_FUNCTION void backward() const {
        RICCI_UNROLL_ONCE
        for (int k = n - 1; k >= 0; --k) {
            publish(k, [&](int r) { divide(r, k); });
            if (k == 0) break;
            group_barrier();
            RICCI_UNROLL
            for (int r = 0; r < lines; ++r)
                if (places.position[r] >= 0 && places.position[r] < k && group.exists)
                    subtract(k, r, is_cholesky ? transposed(r, k) : factor(r, k));
        }
    }

  private:
    RICCI_FUNCTION void divide(int r, int k) const {
        if (!group.exists) return;
        const pivot_inverse inverse(factor(r, k));
        RICCI_UNROLL
        for (int c = 0; c < sides_at_once; ++c) b[r][c] = inverse.times(b[r][c]);
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
        const row_solver solver{group, places, b};
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
