// matrix_problem_numbers: the matrices of each kind, and their factors in long double.
#include "tests/kernels/matrix_problem_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ricci::tests {

using namespace lowering;
using number = wide_number;

bool is_definite(const matrix_problem& p) {
    return p.what == routine::cholesky || p.what == routine::cholesky_solve || p.positive;
}

number random_number(scalar_type type, std::mt19937_64& random) {
    std::uniform_real_distribution<double> unit(-1, 1);
    const double re = unit(random), im = unit(random);
    return is_complex(type) ? number(re, im) : number(re);
}

wide_matrix random_matrix(std::int64_t rows, std::int64_t columns, scalar_type type, std::mt19937_64& random) {
    wide_matrix out(rows, columns);
    for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = 0; i < rows; ++i) out(i, j) = random_number(type, random);
    return out;
}

namespace {

/// The last column, and of a definite matrix row too, is nearly the first one.
void make_nearly_singular(wide_matrix& a, const matrix_problem& p, std::mt19937_64& random) {
    const auto last = p.n - 1;
    const long double little = 100 * static_cast<long double>(p.n) * bench::factor::roundoff(p.type);
    for (std::int64_t i = 0; i < p.m && last > 0; ++i) {
        const auto change = is_definite(p) ? number(i == last) : random_number(p.type, random);
        a(i, last) = a(is_definite(p) && i == last ? 0 : i, 0) * (1.0L + little * change);
        if (is_definite(p)) a(last, i) = std::conj(a(i, last));
    }
}

} // namespace

wide_matrix make_matrix(const matrix_problem& p, std::mt19937_64& random) {
    auto a = random_matrix(p.m, p.n, p.type, random);
    const bool is_double = real_of(p.type) == scalar_type::f64;
    if (p.kind == matrix_kind::zero) a = wide_matrix(p.m, p.n);
    if (is_definite(p) && p.kind != matrix_kind::zero) {
        for (std::int64_t j = 0; j < p.n; ++j) {
            a(j, j) = std::abs(a(j, j)) + static_cast<long double>(p.n);
            for (std::int64_t i = 0; i < j; ++i) a(i, j) = std::conj(a(j, i));
        }
        if (p.kind == matrix_kind::indefinite) a(p.n / 2, p.n / 2) = -1;
    }
    if (p.unpivoted && p.kind != matrix_kind::zero)
        for (std::int64_t j = 0; j < std::min(p.m, p.n); ++j)
            a(j, j) += number(2 * static_cast<long double>(std::max(p.m, p.n)));
    if (p.what == routine::triangular_solve)
        for (std::int64_t j = 0; j < p.n; ++j) a(j, j) += number(static_cast<long double>(p.n));
    if (is_wide_least_squares(p) && p.kind != matrix_kind::zero)
        // well-conditioned, as xQRT13 makes them: a range is as exact as its condition
        for (std::int64_t i = 0; i < p.m; ++i) a(i, i) += number(static_cast<long double>(p.n));
    if (p.kind == matrix_kind::nearly_singular) make_nearly_singular(a, p, random);
    if (p.kind == matrix_kind::graded)
        for (std::int64_t j = 0; j < p.n; ++j)
            for (std::int64_t i = 0; i < p.m; ++i)
                a(i, j) *= std::pow(10.0L, -(is_double ? 6.0L : 2.5L) * static_cast<long double>(i + j) /
                                               static_cast<long double>(std::max(p.m, p.n)));
    const long double scale = p.kind == matrix_kind::large   ? (is_double ? 1e200L : 1e30L)
                              : p.kind == matrix_kind::small ? (is_double ? 1e-200L : 1e-30L)
                                                             : 1;
    for (std::int64_t j = 0; j < p.n; ++j)
        for (std::int64_t i = 0; i < p.m; ++i) a(i, j) *= scale;
    if (p.kind == matrix_kind::singular && is_wide_least_squares(p))
        for (std::int64_t j = 0; j < p.n; ++j) a(p.m / 2, j) = 0;
    else if (p.kind == matrix_kind::singular)
        for (std::int64_t i = 0; i < p.m; ++i) a(i, p.n / 2) = 0;
    if (p.kind == matrix_kind::dependent)
        for (std::int64_t i = 0; i < p.m; ++i) a(i, p.n - 1) = a(i, 0);
    if (p.kind == matrix_kind::with_nan) a(p.m / 2, p.n / 2) = std::nan("");
    return a;
}

plain_factors factor_plainly(wide_matrix x, routine what, bool unpivoted) {
    const auto m = x.rows(), n = x.columns(), k = std::min(m, n);
    plain_factors out{x, {}, {k, 1}};
    if (what == routine::cholesky_solve) {
        for (std::int64_t j = 0; j < n; ++j) {
            for (std::int64_t p = 0; p < j; ++p)
                for (auto i = j; i < n; ++i) x(i, j) -= x(i, p) * std::conj(x(j, p));
            x(j, j) = std::sqrt(x(j, j).real());
            for (auto i = j + 1; i < n; ++i) x(i, j) /= x(j, j);
        }
    } else if (what == routine::lu_solve) {
        for (std::int64_t c = 0; c < k; ++c) {
            auto p = c;
            for (auto i = c; i < m && !unpivoted; ++i)
                if (std::abs(x(i, c)) > std::abs(x(p, c))) p = i;
            out.pivots.push_back(p);
            for (std::int64_t j = 0; j < n; ++j) std::swap(x(c, j), x(p, j));
            for (auto i = c + 1; i < m && x(c, c) != number(0); ++i) {
                x(i, c) /= x(c, c);
                for (auto j = c + 1; j < n; ++j) x(i, j) -= x(i, c) * x(c, j);
            }
        }
    } else {
        for (std::int64_t c = 0; c < k; ++c) {
            long double below = 0;
            for (auto i = c + 1; i < m; ++i) below += std::norm(x(i, c));
            const auto alpha = x(c, c);
            if (below == 0 && alpha.imag() == 0) continue;
            const auto beta = -std::copysign(std::sqrt(std::norm(alpha) + below), alpha.real());
            const number tau{(beta - alpha.real()) / beta, -alpha.imag() / beta};
            for (auto i = c + 1; i < m; ++i) x(i, c) /= alpha - beta;
            x(c, c) = beta;
            for (auto j = c + 1; j < n; ++j) {
                auto sum = x(c, j);
                for (auto i = c + 1; i < m; ++i) sum += std::conj(x(i, c)) * x(i, j);
                sum *= std::conj(tau);
                x(c, j) -= sum;
                for (auto i = c + 1; i < m; ++i) x(i, j) -= x(i, c) * sum;
            }
            out.tau(c, 0) = tau;
        }
    }
    out.f = std::move(x);
    return out;
}

wide_matrix inverse_of(const wide_matrix& a) {
    const auto n = a.rows();
    const auto lu = factor_plainly(a, routine::lu_solve, false);
    auto x = exchanged(bench::factor::identity<number>(n), lu.pivots);
    for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t k = 0; k < i; ++k) x(i, j) -= lu.f(i, k) * x(k, j);
        for (auto i = n; i-- > 0;) {
            for (auto k = i + 1; k < n; ++k) x(i, j) -= lu.f(i, k) * x(k, j);
            x(i, j) /= lu.f(i, i);
        }
    }
    return x;
}

} // namespace ricci::tests
