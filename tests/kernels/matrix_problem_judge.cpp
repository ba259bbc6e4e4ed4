// matrix_problem_judge: whether what came out of a matrix problem is right.
#include "tests/kernels/matrix_problem_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ricci::tests {
namespace {

using namespace lowering;
using number = wide_matrix::number;
using enum matrix_role;

class judge_of_matrices {
  public:
    judge_of_matrices(const matrix_problem& p, const problem_operands& now, const matrix_inputs& before)
        : p_(p), now_(now), before_(before), least_(std::min(p.m, p.n)) {}

    matrix_outcome run() {
        for (std::int64_t e = 0; e < p_.matrices() && out_.mistake.empty(); ++e) judge(e);
        if (out_.mistake.empty() && !(out_.ratio < largest_ratio) && p_.kind != matrix_kind::with_nan)
            fail("ratio {:.3g}", out_.ratio);
        return std::move(out_);
    }

  private:
    template <class... Args>
    void fail(fmt::format_string<Args...> format, Args&&... args) {
        if (out_.mistake.empty()) out_.mistake = fmt::format(format, std::forward<Args>(args)...);
    }
    bool is(routine r) const { return p_.what == r; }

    void note(double ratio) {
        if (!(ratio <= out_.ratio)) out_.ratio = ratio;
    }

    void judge(std::int64_t e) {
        if (now_.in(info) != nullptr)
            out_.info.push_back(static_cast<std::int64_t>(now_.in(info)->get(0, 0, e).real()));
        const auto code = now_.in(info) != nullptr ? out_.info.back() : 0;
        if (code < 0 || code > std::max(p_.m, p_.n)) return fail("info of matrix {} is {}", e, code);
        if (factors_in_place(p_.what)) return judge_factors(e, code);
        if (is(routine::log_determinant)) return judge_determinant(e, code);
        judge_solutions(e, code);
    }

    void judge_factors(std::int64_t e, std::int64_t code) {
        const auto& a = before_.meant[static_cast<std::size_t>(e)];
        const auto f = now_.in(matrix)->matrix(e);
        if (is(routine::cholesky)) {
            const bool fails_there = p_.kind == matrix_kind::indefinite || p_.kind == matrix_kind::with_nan;
            const bool is_unclear = p_.kind == matrix_kind::singular || p_.kind == matrix_kind::dependent;
            const auto expected = fails_there ? p_.n / 2 + 1 : p_.kind == matrix_kind::zero ? 1 : 0;
            if (!is_unclear && code != expected) return fail("info of matrix {} is {}, not {}", e, code, expected);
            return code == 0 ? note(cholesky_ratio(a, f, p_.type)) : void();
        }
        if (is(routine::qr)) {
            std::vector<number> tau;
            for (std::int64_t k = 0; k < least_; ++k) tau.push_back(now_.in(vector)->get(k, 0, e));
            return note(qr_ratio(a, f, tau, p_.type));
        }
        std::vector<std::int64_t> pivots;
        for (std::int64_t k = 0; now_.in(vector) != nullptr && k < least_; ++k) {
            pivots.push_back(static_cast<std::int64_t>(now_.in(vector)->get(k, 0, e).real()));
            if (pivots.back() < k || pivots.back() >= p_.m)
                return fail("pivot {} of matrix {} is {}", k, e, pivots.back());
        }
        note(lu_ratio(a, f, pivots, p_.type));
        if (p_.kind != matrix_kind::with_nan) check_pivots(e, f, !pivots.empty());
    }

    /// With partial pivoting no multiplier is larger than 1, in the measure that pivots are found by.
    void check_pivots(std::int64_t e, const wide_matrix& f, bool pivoted) {
        const long double largest = (is_complex(p_.type) ? std::sqrt(2.0L) : 1) * (1 + 8 * roundoff(p_.type));
        for (std::int64_t j = 0; pivoted && j < least_; ++j)
            for (auto i = j + 1; i < p_.m; ++i)
                if (f(j, j) != number(0) && std::abs(f(i, j)) > largest)
                    return fail("multiplier ({}, {}) of matrix {} is {}", i, j, e,
                                static_cast<double>(std::abs(f(i, j))));
        for (std::int64_t k = 0; k < least_; ++k)
            if (f(k, k) == number(0)) {
                if (out_.info.back() != k + 1) fail("info of matrix {} is {}, not {}", e, out_.info.back(), k + 1);
                return;
            }
        if (out_.info.back() != 0) fail("info of matrix {} is {}, not 0", e, out_.info.back());
    }

    /// By the lower triangle, which is all that is read.
    static void make_hermitian(wide_matrix& a) {
        for (std::int64_t j = 0; j < a.columns(); ++j)
            for (std::int64_t i = 0; i < j; ++i) a(i, j) = std::conj(a(j, i));
    }

    void judge_determinant(std::int64_t e, std::int64_t code) {
        const auto got = now_.in(log_abs)->get(0, 0, e), direction = now_.in(sign)->get(0, 0, e);
        if (code != 0) {
            if (!(std::isinf(got.real()) && got.real() < 0 && direction == number(0)))
                fail("the determinant of singular matrix {} is not 0", e);
            return;
        }
        auto x = before_.meant[static_cast<std::size_t>(e)];
        if (is_definite(p_)) make_hermitian(x);
        const auto plain = factor_plainly(x, routine::lu_solve, false);
        long double log = 0;
        number product = 1;
        for (std::int64_t k = 0; k < p_.n; ++k) {
            const auto d = plain.f(k, k);
            log += std::log(std::abs(d));
            product *= d / std::abs(d) * (plain.pivots[static_cast<std::size_t>(k)] == k ? 1.0L : -1.0L);
        }
        if (p_.kind != matrix_kind::random) return;
        // d(log det) = trace(A^-1 dA)
        const auto condition = p_.n > 0 ? norm_of(x) * norm_of(inverse_of(x)) : 1;
        const long double unit =
            roundoff(p_.type) * (10 * static_cast<long double>(p_.n) * condition + 10 * std::abs(log));
        if (std::abs(got - log) > unit || std::abs(direction - product) > unit)
            fail("log |det| of matrix {} is off by {}, its sign by {}", e, static_cast<double>(std::abs(got - log)),
                 static_cast<double>(std::abs(direction - product)));
    }

    void judge_solutions(std::int64_t e, std::int64_t code) {
        const auto& into = is(routine::inverse) && !p_.apart ? *now_.in(matrix) : *now_.in(solution);
        const auto x = into.matrix(e);
        const auto at = static_cast<std::size_t>(e);
        if (is(routine::least_squares)) {
            const auto expected = p_.kind == matrix_kind::singular ? least_ / 2 + 1
                                  : p_.kind == matrix_kind::zero   ? 1
                                                                   : 0;
            if (code != expected) return fail("info of matrix {} is {}, not {}", e, code, expected);
            for (std::int64_t j = 0; p_.kind == matrix_kind::with_nan && j < x.columns(); ++j)
                for (std::int64_t i = 0; i < x.rows(); ++i)
                    if (!std::isnan(x(i, j).real())) return fail("a solution with NaN matrix {} is a number", e);
        }
        if (code != 0) {
            for (std::int64_t j = 0; j < x.columns(); ++j)
                for (std::int64_t i = 0; i < x.rows(); ++i)
                    if (!std::isnan(x(i, j).real())) return fail("a solution with singular matrix {} is a number", e);
            return;
        }
        if (is_of_q(p_.what)) {
            if (p_.m == 0) return;
            auto q = q_of(before_.factors[at].f, before_.factors[at].tau, is(routine::form_q) ? p_.r : p_.m);
            const auto scale = roundoff(p_.type) * static_cast<long double>(std::max<std::int64_t>(p_.m, 1));
            if (is(routine::form_q)) return note(static_cast<double>(norm_of(x - q) / scale));
            if (p_.adjoint) q = adjoint(q);
            return note(
                static_cast<double>(norm_of(x - q * before_.given[at]) / (norm_of(before_.given[at]) * scale)));
        }
        auto a = before_.meant[at];
        if (is_definite(p_)) make_hermitian(a);
        if (is(routine::triangular_solve))
            for (std::int64_t j = 0; j < p_.n; ++j)
                for (std::int64_t i = 0; i < p_.n; ++i) {
                    if (p_.upper ? i > j : i < j) a(i, j) = 0;
                    if (i == j && p_.unit) a(i, j) = 1;
                }
        if (is(routine::inverse)) return note(inverse_ratio(a, x, p_.type));
        if (is_wide_least_squares(p_)) return note(smallest_solution_ratio(a, x, before_.given[at], p_.type));
        const bool least = is(routine::least_squares) || is(routine::qr_solve);
        note(least && p_.m != p_.n ? least_squares_ratio(a, x, before_.given[at], p_.type)
                                   : solve_ratio(a, x, before_.given[at], p_.type));
    }

    const matrix_problem& p_;
    const problem_operands& now_;
    const matrix_inputs& before_;
    std::int64_t least_;
    matrix_outcome out_;
};

} // namespace

matrix_outcome judge(const matrix_problem& p, const problem_operands& now, const matrix_inputs& before) {
    return judge_of_matrices(p, now, before).run();
}

} // namespace ricci::tests
