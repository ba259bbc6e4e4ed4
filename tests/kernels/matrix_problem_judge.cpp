// matrix_problem_judge: whether what came out of a matrix problem is right.
#include "tests/kernels/matrix_problem_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ricci::tests {
namespace {

using namespace lowering;
using number = wide_number;
namespace factor = bench::factor;
using enum matrix_role;

class judge_of_matrices {
  public:
    judge_of_matrices(const matrix_problem& p, const problem_operands& now, const matrix_inputs& before)
        : p_(p), now_(now), before_(before), least_(std::min(p.m, p.n)), unit_(factor::roundoff(p.type)) {}

    matrix_outcome run() {
        for (std::int64_t e = 0; e < p_.matrices() && out_.mistake.empty(); ++e) judge(e);
        if (out_.mistake.empty() && !(out_.ratio < factor::largest_ratio)) fail("ratio {:.3g}", out_.ratio);
        return std::move(out_);
    }

  private:
    template <class... Args>
    void fail(fmt::format_string<Args...> format, Args&&... args) {
        if (out_.mistake.empty()) out_.mistake = fmt::format(format, std::forward<Args>(args)...);
    }
    bool is(routine r) const { return p_.what == r; }

    template <class Ratio, class... Matrices>
    void note(const Ratio& ratio, const Matrices&... of) {
        out_.ratio = std::max(out_.ratio, judged_as(p_.type, ratio, of...));
    }

    /// LAPACK's, where it is known: that of a dependent column, which roundings decide, is not.
    bool has_expected_info(std::int64_t e, std::int64_t code) {
        using enum matrix_kind;
        const bool pivots_break = is(routine::cholesky) || !factors_in_place(p_.what);
        const bool breaks =
            p_.kind == singular || (is_definite(p_) && (p_.kind == indefinite || p_.kind == with_nan));
        const auto expected = is(routine::qr)   ? 0
                              : !pivots_break   ? code
                              : breaks          ? least_ / 2 + 1
                              : p_.kind == zero ? 1
                                                : 0;
        if (code == expected || (p_.kind == dependent && code == p_.n)) return true;
        fail("info of matrix {} is {}, not {}", e, code, expected);
        return false;
    }

    static bool is_nan(number x) { return std::isnan(x.real()) || std::isnan(x.imag()); }
    static std::int64_t count_nan(const wide_matrix& x, std::int64_t j) {
        std::int64_t out = 0;
        for (std::int64_t i = 0; i < x.rows(); ++i) out += is_nan(x(i, j));
        return out;
    }

    void judge(std::int64_t e) {
        if (now_.in(info) != nullptr)
            out_.info.push_back(static_cast<std::int64_t>(now_.in(info)->get(0, 0, e).real()));
        const auto code = now_.in(info) != nullptr ? out_.info.back() : 0;
        if (code < 0 || code > std::max(p_.m, p_.n)) return fail("info of matrix {} is {}", e, code);
        if (p_.m * p_.n > 0 && !has_expected_info(e, code)) return;
        if (factors_in_place(p_.what)) return judge_factors(e, code);
        if (is(routine::log_determinant)) return judge_determinant(e, code);
        judge_solutions(e, code);
    }

    void judge_factors(std::int64_t e, std::int64_t code) {
        const auto& a = before_.meant[static_cast<std::size_t>(e)];
        const auto f = now_.in(matrix)->matrix(e);
        if (is(routine::cholesky)) {
            if (code != 0) return;
            return note([&](const auto& a, const auto& f) { return factor::cholesky_ratio(a, f, unit_); }, a, f);
        }
        const auto pivots = is(routine::lu) ? pivots_of(e) : std::vector<std::int64_t>();
        for (std::size_t k = 0; k < pivots.size(); ++k)
            if (pivots[k] < static_cast<std::int64_t>(k) || pivots[k] >= p_.m)
                return fail("pivot {} of matrix {} is {}", k, e, pivots[k]);
        if (p_.kind == matrix_kind::with_nan) { // of which no ratio says anything
            if (count_nan(f, p_.n / 2) == 0) fail("the factors of NaN matrix {} are numbers", e);
        } else if (is(routine::qr)) {
            note([&](const auto& a, const auto& f, const auto& tau) { return factor::qr_ratio(a, f, tau, unit_); }, a,
                 f, now_.in(vector)->matrix(e));
        } else {
            note([&](const auto& a, const auto& f) { return factor::lu_ratio(a, f, pivots, unit_); }, a, f);
            check_pivots(e, f, !pivots.empty());
        }
    }

    std::vector<std::int64_t> pivots_of(std::int64_t e) const {
        std::vector<std::int64_t> out;
        for (std::int64_t k = 0; now_.in(vector) != nullptr && k < least_; ++k)
            out.push_back(static_cast<std::int64_t>(now_.in(vector)->get(k, 0, e).real()));
        return out;
    }

    /// LAPACK's are the largest of their columns, by |re| + |im|: of what stood there then, which is a multiplier
    /// times the pivot.
    void check_pivots(std::int64_t e, const wide_matrix& f, bool pivoted) {
        const auto size = [](number x) { return std::abs(x.real()) + std::abs(x.imag()); };
        const double of_quotient = is_complex(p_.type) ? 16 : 8; // roundoffs
        for (std::int64_t j = 0; pivoted && j < least_; ++j)
            for (auto i = j + 1; i < p_.m; ++i)
                if (size(f(i, j) * f(j, j)) > size(f(j, j)) * (1 + of_quotient * unit_))
                    return fail("pivot {} of matrix {} is smaller than what is in row {}", j, e, i);
        for (std::int64_t k = 0; k < least_; ++k)
            if (f(k, k) == number(0)) {
                if (out_.info.back() != k + 1) fail("info of matrix {} is {}, not {}", e, out_.info.back(), k + 1);
                return;
            }
        if (out_.info.back() != 0) fail("info of matrix {} is {}, not 0", e, out_.info.back());
    }

    void judge_determinant(std::int64_t e, std::int64_t code) {
        const auto got = now_.in(log_abs)->get(0, 0, e), direction = now_.in(sign)->get(0, 0, e);
        if (p_.kind == matrix_kind::with_nan && code == 0) {
            if (!is_nan(got)) fail("the determinant of NaN matrix {} is a number", e);
            return;
        }
        if (code != 0 && (is_definite(p_) || p_.unpivoted)) {
            if (!is_nan(got) || !is_nan(direction))
                fail("the determinant of matrix {} is a number, where the method found none", e);
            return;
        }
        if (code != 0) {
            if (!(std::isinf(got.real()) && got.real() < 0 && direction == number(0)))
                fail("the determinant of singular matrix {} is not 0", e);
            return;
        }
        auto x = before_.meant[static_cast<std::size_t>(e)];
        if (is_definite(p_)) x = hermitian(std::move(x));
        const auto plain = factor_plainly(x, routine::lu_solve, false);
        long double log = 0;
        number product = 1;
        for (std::int64_t k = 0; k < p_.n; ++k) {
            const auto d = plain.f(k, k);
            log += std::log(std::abs(d));
            product *= d / std::abs(d) * (plain.pivots[static_cast<std::size_t>(k)] == k ? 1.0L : -1.0L);
        }
        // d(log det) = trace(A^-1 dA)
        const auto condition = p_.n > 0 ? norm_of(x) * norm_of(inverse_of(x)) : 1;
        const long double unit = unit_ * (10 * static_cast<long double>(p_.n) * condition + 10 * std::abs(log));
        if (std::abs(got - log) > unit || std::abs(direction - product) > unit)
            fail("log |det| of matrix {} is off by {}, its sign by {}", e, static_cast<double>(std::abs(got - log)),
                 static_cast<double>(std::abs(direction - product)));
    }

    void judge_solutions(std::int64_t e, std::int64_t code) {
        const auto& into = is(routine::inverse) && !p_.apart ? *now_.in(matrix) : *now_.in(solution);
        const auto x = into.matrix(e);
        const auto at = static_cast<std::size_t>(e);
        if (code != 0 || (is(routine::least_squares) && p_.kind == matrix_kind::with_nan)) {
            for (std::int64_t j = 0; j < x.columns(); ++j)
                if (count_nan(x, j) < x.rows())
                    return fail("a solution with {} matrix {} is a number", code != 0 ? "singular" : "NaN", e);
            return;
        }
        if (p_.kind == matrix_kind::with_nan) {
            for (std::int64_t j = 0; j < x.columns(); ++j)
                if (count_nan(x, j) == 0) return fail("solution {} with NaN matrix {} is of numbers", j, e);
            return;
        }
        if (is_of_q(p_.what)) {
            if (p_.m == 0) return;
            const auto q = q_of(before_.factors[at].f, before_.factors[at].tau, is(routine::form_q) ? p_.r : p_.m);
            if (is(routine::form_q))
                return note([&](const auto& d) { return factor::quotient(norm_of(d), p_.m, 1, unit_); }, x - q);
            const auto& given = before_.given[at];
            return note(
                [&](const auto& d, const auto& b) { return factor::quotient(norm_of(d), p_.m, norm_of(b), unit_); },
                x - (p_.adjoint ? adjoint(q) : q) * given, given);
        }
        auto a = before_.meant[at];
        if (is_definite(p_)) a = hermitian(std::move(a));
        if (is(routine::triangular_solve))
            for (std::int64_t j = 0; j < p_.n; ++j)
                for (std::int64_t i = 0; i < p_.n; ++i) {
                    if (p_.upper ? i > j : i < j) a(i, j) = 0;
                    if (i == j && p_.unit) a(i, j) = 1;
                }
        if (solves_adjoint(call_of(p_))) a = adjoint(a);
        if (is(routine::inverse))
            return note([&](const auto& a, const auto& x) { return factor::inverse_ratio(a, x, unit_); }, a, x);
        const bool least = is(routine::least_squares) || is(routine::qr_solve);
        note(
            [&](const auto& a, const auto& x, const auto& b) {
                return is_wide_least_squares(p_) ? factor::smallest_solution_ratio(a, x, b, unit_)
                       : least && p_.m != p_.n   ? factor::least_squares_ratio(a, x, b, unit_)
                                                 : factor::solve_ratio(a, x, b, unit_);
            },
            a, x, before_.given[at]);
    }

    const matrix_problem& p_;
    const problem_operands& now_;
    const matrix_inputs& before_;
    std::int64_t least_;
    double unit_;
    matrix_outcome out_;
};

} // namespace

matrix_outcome judge(const matrix_problem& p, const problem_operands& now, const matrix_inputs& before) {
    return judge_of_matrices(p, now, before).run();
}

} // namespace ricci::tests
