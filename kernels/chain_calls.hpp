// chain_calls: factorizations of an item's matrix within a chain, and solves, column by column in the chain's slots:
// what chain.cuh and chain_cpu.hpp share. Matrices that come from memory alone have kernels of their own (factor_*,
// substitute*), which keep them in registers; here they are what the phase before has left.
//
// A team has a matrix: on a GPU some lanes of a warp, each with every so many rows; on a CPU one thread, whose
// numbers are those of a vector's elements. A Team has `number`, `real` (of its parts), `truth` and `position`, where
// comparisons and pivots go, and functions of these; lane, lanes; load<View>(i, j), store<View>(i, j, x); meet(),
// which waits for the others' stores; largest, total, exchange.
//
// Constants: chain_tables.hpp's; phase_call[] (-1: none), call_count; of each call call_factors[] (else it has
// factors), call_method[], call_keeps_factors[], call_upper[], call_unit[], call_of_adjoint[], call_rows[],
// call_columns[], call_sides[], call_lanes[]; call_view[][], by role, of its operands, call_matrix[] and call_right[],
// of where it works (-1: none). Conventions are factor.hpp's.
#pragma once

#include "chain_tables.hpp"
#include "matrix_methods.hpp"

#ifndef RICCI_UNROLL_ONCE // a CPU's compiler sees for itself
#define RICCI_UNROLL_ONCE
#define RICCI_UNROLL_4
#endif

/// What is made of a team's numbers, real ones or complex ones, by their parts.
template <class Team> struct team_numbers {
    using real = typename Team::real;
    using truth = typename Team::truth;

    static RICCI_FUNCTION void set(real& x, real to) { x = to; }
    static RICCI_FUNCTION void set(complex<real>& x, real to) { x = {to, Team::real_of(0)}; }
    static RICCI_FUNCTION void set_both(real& x, real to) { x = to; }
    static RICCI_FUNCTION void set_both(complex<real>& x, real to) { x = {to, to}; }
    static RICCI_FUNCTION real real_part_of(real x) { return x; }
    static RICCI_FUNCTION real real_part_of(complex<real> x) { return x.re; }
    static RICCI_FUNCTION real conjugate(real x) { return x; }
    static RICCI_FUNCTION complex<real> conjugate(complex<real> x) { return {x.re, -x.im}; }
    static RICCI_FUNCTION real choose(truth which, real yes, real no) { return Team::choose(which, yes, no); }
    static RICCI_FUNCTION complex<real> choose(truth which, complex<real> yes, complex<real> no) {
        return {Team::choose(which, yes.re, no.re), Team::choose(which, yes.im, no.im)};
    }
    static RICCI_FUNCTION truth is_zero(real x) { return Team::is_equal(x, Team::real_of(0)); }
    static RICCI_FUNCTION truth is_zero(complex<real> x) { return Team::both(is_zero(x.re), is_zero(x.im)); }
    static RICCI_FUNCTION truth is_real(real) { return is_zero(Team::real_of(0)); }
    static RICCI_FUNCTION truth is_real(complex<real> x) { return is_zero(x.im); }
    static RICCI_FUNCTION real largest_part(real x) { return Team::magnitude(x); }
    static RICCI_FUNCTION real largest_part(complex<real> x) {
        return Team::larger(Team::magnitude(x.re), Team::magnitude(x.im));
    }
    static RICCI_FUNCTION real pivot_size(real x) { return Team::magnitude(x); }
    static RICCI_FUNCTION real pivot_size(complex<real> x) { return Team::magnitude(x.re) + Team::magnitude(x.im); }
    static RICCI_FUNCTION real square(real x) { return x * x; }
    static RICCI_FUNCTION real square(complex<real> x) { return x.re * x.re + x.im * x.im; }
    static RICCI_FUNCTION real scaled(real x, real by) { return x * by; }
    static RICCI_FUNCTION complex<real> scaled(complex<real> x, real by) { return {x.re * by, x.im * by}; }
    /// Of no extreme number.
    static RICCI_FUNCTION real reciprocal(real x) { return 1 / x; }
    static RICCI_FUNCTION complex<real> reciprocal(complex<real> x) {
        const real scale = 1 / largest_part(x), re = x.re * scale, im = x.im * scale,
                   factor = scale / (re * re + im * im);
        return {re * factor, -im * factor};
    }
};

template <int C, class Team> class call_work {
    using of = team_numbers<Team>;
    using number = typename Team::number;
    using real = typename Team::real;
    using truth = typename Team::truth;
    using position = typename Team::position;

    static constexpr int m = call_rows[C], n = call_columns[C], sides = call_sides[C], method = call_method[C];
    static constexpr int steps = m < n ? m : n, lanes = Team::lanes;
    static constexpr bool factors = call_factors[C] != 0;
    static constexpr bool works_on_q =
        method == apply_q_method || method == apply_qh_method || method == form_q_method;
    static constexpr int given_rows = method == qr_method || works_on_q ? m : n, solution_rows = works_on_q ? m : n;
    // Views: A of the matrix, or what becomes its factors; X of right-hand sides, which become solutions.
    static constexpr int matrix = call_view[C][matrix_role], A = factors ? call_matrix[C] : matrix,
                         X = call_right[C], vector = call_view[C][vector_role], info_view = call_view[C][info_role],
                         given = call_view[C][given_role], solution = call_view[C][solution_role];
    static constexpr bool has_sides = solution >= 0;

    /// Reciprocals of numbers beyond lose digits, or overflow; squares of numbers between these have all.
    static constexpr bool is_float = sizeof(typename real_part<compute>::type) == 4;
    static constexpr double least_divisor = is_float ? 0x1p-125 : 0x1p-1020,
                            most_divisor = is_float ? 0x1p125 : 0x1p1020;
    static constexpr double least_norm = is_float ? 0x1p-50 : 0x1p-450, most_norm = is_float ? 0x1p50 : 0x1p450,
                            upwards = is_float ? 0x1p80 : 0x1p600, downwards = 1 / upwards;

    const Team& team;
    position info = Team::position_of(0);

  public:
    RICCI_FUNCTION explicit call_work(const Team& t) : team(t) {}

    RICCI_FUNCTION void run() {
        load();
        team.meet();
        if constexpr (factors && method == cholesky_method) factor_cholesky();
        else if constexpr (factors && method == qr_method) factor_qr();
        else if constexpr (factors) factor_lu();
        if constexpr (has_sides) {
            if constexpr (factors) solve_behind_factors();
            else if constexpr (works_on_q) multiply_by_q<method == apply_qh_method>();
            else solve_with_factors();
        }
        leave();
    }

  private:
    static RICCI_FUNCTION number number_of(real x) {
        number out;
        of::set(out, x);
        return out;
    }
    static RICCI_FUNCTION number one() { return number_of(Team::real_of(1)); }
    static RICCI_FUNCTION number zero() { return number_of(Team::real_of(0)); }
    static RICCI_FUNCTION number not_a_number() {
        number out;
        of::set_both(out, Team::real_of(static_cast<double>(float_of(0x7fc00000u))));
        return out;
    }
    /// This lane's first row from `from` on.
    RICCI_FUNCTION int own_from(int from) const {
        return lanes == 1 ? from : from + (team.lane - from % lanes + lanes) % lanes;
    }
    RICCI_FUNCTION void note(truth where, int number_from_1) {
        info = Team::choose(Team::both(where, Team::is_none(info)), Team::position_of(number_from_1), info);
    }
    static RICCI_FUNCTION truth is_extreme(number x) {
        const real size = of::largest_part(x);
        return Team::either(Team::is_less(size, Team::real_of(least_divisor)),
                            Team::is_less(Team::real_of(most_divisor), size));
    }
    /// x/y; some: whether any of y's numbers is extreme. Each comes out by itself: a CPU's neighbors in a vector, of
    /// which some may be extreme, have the same bits as without these.
    static RICCI_FUNCTION number divided(number x, number y, number one_over_y, bool some) {
        return some ? of::choose(is_extreme(y), Team::quotient(x, y), x * one_over_y) : x * one_over_y;
    }
    template <int V> RICCI_FUNCTION void add(int i, int j, number factor, number x) const {
        number sum = team.template load<V>(i, j);
        add_product(sum, factor, x);
        team.template store<V>(i, j, sum);
    }

    RICCI_FUNCTION void load() const {
        if constexpr (factors && A != matrix)
            RICCI_UNROLL_ONCE
            for (int i = team.lane; i < m; i += lanes)
                for (int j = 0; j < (method == cholesky_method ? i + 1 : n); ++j)
                    team.template store<A>(i, j, team.template load<matrix>(i, j));
        if constexpr (has_sides && given != X)
            RICCI_UNROLL_ONCE
            for (int i = team.lane; i < given_rows; i += lanes)
                for (int j = 0; j < sides; ++j)
                    if constexpr (given < 0) team.template store<X>(i, j, i == j ? one() : zero());
                    else team.template store<X>(i, j, team.template load<given>(i, j));
    }

    /// Solutions are no numbers where info says that there are none.
    RICCI_FUNCTION void leave() const {
        const truth fails = Team::negated(Team::is_none(info));
        if constexpr (has_sides)
            if (X != solution || Team::any(fails))
                RICCI_UNROLL_ONCE
                for (int i = team.lane; i < solution_rows; i += lanes)
                    for (int j = 0; j < sides; ++j)
                        team.template store<solution>(
                            i, j, of::choose(fails, not_a_number(), team.template load<X>(i, j)));
        if constexpr (call_keeps_factors[C] && A != matrix)
            RICCI_UNROLL_ONCE
            for (int i = team.lane; i < m; i += lanes)
                for (int j = 0; j < (method == cholesky_method ? i + 1 : n); ++j)
                    team.template store<matrix>(i, j, team.template load<A>(i, j));
        if constexpr (info_view >= 0) team.template store_position<info_view>(0, info);
    }

    // ---- factorizations, of which the right-hand sides are further columns ----

    RICCI_FUNCTION void factor_cholesky() {
        RICCI_UNROLL_ONCE
        for (int k = 0; k < steps; ++k) {
            const real square = of::real_part_of(team.template load<A>(k, k));
            note(Team::negated(Team::is_less(Team::real_of(0), square)), k + 1);
            const real root = Team::root(square), one_over = Team::real_of(1) / root;
            team.meet();
            RICCI_UNROLL_ONCE
            for (int i = own_from(k); i < n; i += lanes)
                team.template store<A>(i, k, i == k ? number_of(root)
                                                    : of::scaled(team.template load<A>(i, k), one_over));
            if constexpr (has_sides)
                for (int j = team.lane; j < sides; j += lanes)
                    team.template store<X>(k, j, of::scaled(team.template load<X>(k, j), one_over));
            team.meet();
            RICCI_UNROLL_ONCE
            for (int i = own_from(k + 1); i < n; i += lanes) {
                const number factor = -team.template load<A>(i, k);
                RICCI_UNROLL_4
                for (int j = k + 1; j <= i; ++j) add<A>(i, j, factor, of::conjugate(team.template load<A>(j, k)));
                if constexpr (has_sides)
                    for (int j = 0; j < sides; ++j) add<X>(i, j, factor, team.template load<X>(k, j));
            }
            team.meet();
        }
    }

    RICCI_FUNCTION void factor_lu() {
        RICCI_UNROLL_ONCE
        for (int k = 0; k < steps; ++k) {
            if constexpr (method == lu_method) {
                position at = Team::position_of(k);
                real best = Team::real_of(-1);
                RICCI_UNROLL_ONCE
                for (int i = own_from(k); i < m; i += lanes)
                    Team::take_larger(best, at, of::pivot_size(team.template load<A>(i, k)), i);
                team.largest(best, at);
                if constexpr (vector >= 0) team.template store_position<vector>(k, at);
                team.template exchange<A>(k, at, n);
                if constexpr (has_sides) team.template exchange<X>(k, at, sides);
                team.meet();
            }
            number pivot = team.template load<A>(k, k);
            const truth is_zero = of::is_zero(pivot);
            note(is_zero, k + 1);
            pivot = of::choose(is_zero, one(), pivot); // a column of zeros is not divided
            const bool divides = Team::any(is_extreme(pivot));
            const number one_over = of::reciprocal(pivot);
            RICCI_UNROLL_ONCE
            for (int i = own_from(k + 1); i < m; i += lanes) {
                const number x = team.template load<A>(i, k);
                const number l = divided(x, pivot, one_over, divides), factor = -l;
                team.template store<A>(i, k, l);
                RICCI_UNROLL_4
                for (int j = k + 1; j < n; ++j) add<A>(i, j, factor, team.template load<A>(k, j));
                if constexpr (has_sides)
                    for (int j = 0; j < sides; ++j) add<X>(i, j, factor, team.template load<X>(k, j));
            }
            team.meet();
        }
    }

    RICCI_FUNCTION void factor_qr() {
        RICCI_UNROLL_ONCE
        for (int k = 0; k < steps; ++k) {
            const number head = team.template load<A>(k, k);
            real largest = of::largest_part(head);
            RICCI_UNROLL_ONCE
            for (int i = own_from(k + 1); i < m; i += lanes)
                largest = Team::larger(of::largest_part(team.template load<A>(i, k)), largest);
            largest = team.largest(largest);
            // By a power of two, so that no square leaves the range.
            const real up = Team::choose(Team::is_less(largest, Team::real_of(least_norm)), Team::real_of(upwards),
                                         Team::real_of(1)),
                       scale = Team::choose(Team::is_less(Team::real_of(most_norm), largest),
                                            Team::real_of(downwards), up);
            real below = Team::real_of(0);
            RICCI_UNROLL_ONCE
            for (int i = own_from(k + 1); i < m; i += lanes)
                below += of::square(of::scaled(team.template load<A>(i, k), scale));
            below = team.total(below);
            const number alpha = of::scaled(head, scale);
            const truth reflects =
                Team::negated(Team::both(Team::is_equal(below, Team::real_of(0)), of::is_real(alpha)));
            const real beta =
                -Team::with_sign(Team::root(of::square(alpha) + below), of::real_part_of(alpha));
            const number difference = alpha - number_of(beta);
            const number tau = of::choose(reflects, of::scaled(-difference, Team::real_of(1) / beta), zero());
            const number one_over = of::reciprocal(of::choose(reflects, difference, one()));
            team.meet();
            RICCI_UNROLL_ONCE
            for (int i = own_from(k); i < m; i += lanes)
                team.template store<A>(
                    i, k,
                    i == k ? of::choose(reflects, number_of(beta / scale), head)
                           : of::scaled(team.template load<A>(i, k), scale) * one_over);
            if constexpr (vector >= 0)
                if (team.lane == 0) team.template store<vector>(k, 0, tau);
            team.meet();
            const number factor = of::conjugate(tau);
            reflect<A>(k, factor, k + 1, n);
            if constexpr (has_sides) reflect<X>(k, factor, 0, sides);
            team.meet();
        }
    }

    /// Columns [first, end) of V less factor v vᴴ times them, v = (1, what is below (k, k) in A): a lane's columns.
    template <int V> RICCI_FUNCTION void reflect(int k, number factor, int first, int end) const {
        RICCI_UNROLL_ONCE
        for (int j = first + team.lane; j < end; j += lanes) {
            const number top = team.template load<V>(k, j);
            number sum = top;
            RICCI_UNROLL_4
            for (int i = k + 1; i < m; ++i)
                add_product(sum, of::conjugate(team.template load<A>(i, k)), team.template load<V>(i, j));
            sum = factor * sum;
            team.template store<V>(k, j, top - sum);
            RICCI_UNROLL_4
            for (int i = k + 1; i < m; ++i) add<V>(i, j, -sum, team.template load<A>(i, k));
        }
    }

    // ---- solves ----

    RICCI_FUNCTION void solve_behind_factors() {
        if constexpr (method == qr_method) look_at_diagonal();
        substitute<false, false, method == cholesky_method>();
    }

    RICCI_FUNCTION void solve_with_factors() {
        if constexpr (method == qr_method) multiply_by_q<true>();
        constexpr bool is_lu = method == lu_method || method == lu_unpivoted_method, of_adjoint = call_of_adjoint[C];
        if constexpr (method == lu_method && !of_adjoint) exchange_rows();
        if constexpr (!(method == triangular_method && call_unit[C])) look_at_diagonal();
        if constexpr (method == triangular_method) {
            substitute<!call_upper[C], call_unit[C] != 0, false>();
        } else {
            if constexpr (method == cholesky_method || is_lu) substitute<true, is_lu && !of_adjoint, of_adjoint>();
            substitute<false, of_adjoint, method == cholesky_method || of_adjoint>();
        }
        if constexpr (method == lu_method && of_adjoint) exchange_rows();
    }

    /// LU's interchanges, those of its adjoint backwards.
    RICCI_FUNCTION void exchange_rows() {
        if constexpr (vector >= 0)
            RICCI_UNROLL_ONCE
            for (int step = 0; step < n; ++step) {
                const int k = call_of_adjoint[C] ? n - 1 - step : step;
                team.template exchange<X>(k, team.template load_position<vector>(k), sides);
                team.meet();
            }
    }

    RICCI_FUNCTION void look_at_diagonal() {
        RICCI_UNROLL_ONCE
        for (int k = 0; k < n; ++k) note(of::is_zero(team.template load<A>(k, k)), k + 1);
    }

    /// X by the inverse of A's lower triangle, or of its upper one, either of which may be the adjoint of the other.
    template <bool Lower, bool Unit, bool Adjoint> RICCI_FUNCTION void substitute() const {
        RICCI_UNROLL_ONCE
        for (int step = 0; step < n; ++step) {
            const int k = Lower ? step : n - 1 - step;
            if constexpr (!Unit) {
                number d = team.template load<A>(k, k);
                if constexpr (Adjoint) d = of::conjugate(d);
                const bool divides = Team::any(is_extreme(d));
                const number one_over = of::reciprocal(d);
                RICCI_UNROLL_ONCE
                for (int j = team.lane; j < sides; j += lanes) {
                    const number x = team.template load<X>(k, j);
                    team.template store<X>(k, j, divided(x, d, one_over, divides));
                }
                team.meet();
            }
            RICCI_UNROLL_ONCE
            for (int i = own_from(Lower ? k + 1 : 0); i < (Lower ? n : k); i += lanes) {
                number t = team.template load<A>(Adjoint ? k : i, Adjoint ? i : k);
                if constexpr (Adjoint) t = of::conjugate(t);
                for (int j = 0; j < sides; ++j) add<X>(i, j, -t, team.template load<X>(k, j));
            }
            team.meet();
        }
    }

    template <bool Adjoint> RICCI_FUNCTION void multiply_by_q() const {
        RICCI_UNROLL_ONCE
        for (int step = 0; step < steps; ++step) {
            const int k = Adjoint ? step : steps - 1 - step;
            const number tau = team.template load<vector>(k, 0);
            reflect<X>(k, Adjoint ? of::conjugate(tau) : tau, 0, sides);
        }
        team.meet();
    }
};
