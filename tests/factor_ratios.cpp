// factor_ratios: LAPACK's test ratios in long double.
#include "tests/factor_ratios.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ricci::tests {
namespace {

using number = wide_matrix::number;
using lowering::scalar_type;

long double larger(long double a, long double b) { return a != a ? a : b != b ? b : std::max(a, b); }

/// 0 for 0/0: of nothing, or an exact result of a zero matrix.
double quotient(long double error, long double scale) {
    if (error == 0) return 0;
    return static_cast<double>(error / scale);
}

long double count(std::int64_t n) { return static_cast<long double>(std::max<std::int64_t>(n, 1)); }

wide_matrix column_of(const wide_matrix& a, std::int64_t j) {
    wide_matrix out(a.rows(), 1);
    for (std::int64_t i = 0; i < a.rows(); ++i) out(i, 0) = a(i, j);
    return out;
}

} // namespace

wide_matrix wide_matrix::identity(std::int64_t n) {
    wide_matrix out(n, n);
    for (std::int64_t i = 0; i < n; ++i) out(i, i) = 1;
    return out;
}

wide_matrix operator*(const wide_matrix& a, const wide_matrix& b) {
    wide_matrix out(a.rows(), b.columns());
    for (std::int64_t j = 0; j < b.columns(); ++j)
        for (std::int64_t k = 0; k < a.columns(); ++k) {
            const auto x = b(k, j);
            if (x == number(0)) continue;
            for (std::int64_t i = 0; i < a.rows(); ++i) {
                const auto y = a(i, k);
                // std::complex's own product looks for infinities, which takes most of the time
                auto& sum = out(i, j);
                sum = {sum.real() + (y.real() * x.real() - y.imag() * x.imag()),
                       sum.imag() + (y.real() * x.imag() + y.imag() * x.real())};
            }
        }
    return out;
}

wide_matrix operator-(wide_matrix a, const wide_matrix& b) {
    for (std::int64_t j = 0; j < a.columns(); ++j)
        for (std::int64_t i = 0; i < a.rows(); ++i) a(i, j) -= b(i, j);
    return a;
}

wide_matrix adjoint(const wide_matrix& a) {
    wide_matrix out(a.columns(), a.rows());
    for (std::int64_t j = 0; j < a.columns(); ++j)
        for (std::int64_t i = 0; i < a.rows(); ++i) out(j, i) = std::conj(a(i, j));
    return out;
}

long double norm_of(const wide_matrix& a) {
    long double out = 0;
    for (std::int64_t j = 0; j < a.columns(); ++j) {
        long double sum = 0;
        for (std::int64_t i = 0; i < a.rows(); ++i) sum += std::abs(a(i, j));
        out = larger(out, sum);
    }
    return out;
}

wide_matrix lower_of(const wide_matrix& f, bool unit) {
    const auto k = std::min(f.rows(), f.columns());
    wide_matrix out(f.rows(), k);
    for (std::int64_t j = 0; j < k; ++j)
        for (std::int64_t i = j; i < f.rows(); ++i) out(i, j) = i == j && unit ? number(1) : f(i, j);
    return out;
}

wide_matrix upper_of(const wide_matrix& f) {
    const auto k = std::min(f.rows(), f.columns());
    wide_matrix out(k, f.columns());
    for (std::int64_t j = 0; j < f.columns(); ++j)
        for (std::int64_t i = 0; i < std::min(k, j + 1); ++i) out(i, j) = f(i, j);
    return out;
}

wide_matrix q_of(const wide_matrix& f, const std::vector<number>& tau, std::int64_t columns) {
    wide_matrix out(f.rows(), columns);
    for (std::int64_t j = 0; j < columns; ++j) out(j, j) = 1;
    for (auto k = static_cast<std::int64_t>(tau.size()) - 1; k >= 0; --k) // H_k = I - tau v v^H, the last one first
        for (std::int64_t j = 0; j < columns; ++j) {
            number sum = out(k, j);
            for (std::int64_t i = k + 1; i < f.rows(); ++i) sum += std::conj(f(i, k)) * out(i, j);
            sum *= tau[static_cast<std::size_t>(k)];
            out(k, j) -= sum;
            for (std::int64_t i = k + 1; i < f.rows(); ++i) out(i, j) -= f(i, k) * sum;
        }
    return out;
}

wide_matrix permuted(wide_matrix a, const std::vector<std::int64_t>& pivots) {
    for (std::size_t k = 0; k < pivots.size(); ++k)
        for (std::int64_t j = 0; j < a.columns(); ++j) std::swap(a(static_cast<std::int64_t>(k), j), a(pivots[k], j));
    return a;
}

double roundoff(scalar_type t) { return lowering::real_of(t) == scalar_type::f64 ? 0x1p-53 : 0x1p-24; }

double cholesky_ratio(const wide_matrix& a, const wide_matrix& factors, scalar_type t) {
    const auto l = lower_of(factors, false);
    // of a the lower triangle alone counts
    auto whole = a;
    for (std::int64_t j = 0; j < a.columns(); ++j) {
        whole(j, j) = a(j, j).real();
        for (std::int64_t i = 0; i < j; ++i) whole(i, j) = std::conj(a(j, i));
    }
    return quotient(norm_of(l * adjoint(l) - whole), count(a.rows()) * norm_of(whole) * roundoff(t));
}

double lu_ratio(const wide_matrix& a, const wide_matrix& factors, const std::vector<std::int64_t>& pivots,
                scalar_type t) {
    return quotient(norm_of(lower_of(factors, true) * upper_of(factors) - permuted(a, pivots)),
                    count(a.columns()) * norm_of(a) * roundoff(t));
}

double orthogonality_ratio(const wide_matrix& q, scalar_type t) {
    return quotient(norm_of(wide_matrix::identity(q.columns()) - adjoint(q) * q), count(q.rows()) * roundoff(t));
}

double qr_ratio(const wide_matrix& a, const wide_matrix& factors, const std::vector<number>& tau, scalar_type t) {
    const auto q = q_of(factors, tau, std::min(a.rows(), a.columns()));
    const double residual = quotient(norm_of(a - q * upper_of(factors)), count(a.rows()) * norm_of(a) * roundoff(t));
    return static_cast<double>(larger(residual, orthogonality_ratio(q, t)));
}

double solve_ratio(const wide_matrix& a, const wide_matrix& x, const wide_matrix& b, scalar_type t) {
    const auto residual = b - a * x;
    const auto scale = norm_of(a);
    long double out = 0;
    for (std::int64_t j = 0; j < x.columns(); ++j)
        out = larger(out, quotient(norm_of(column_of(residual, j)), scale * norm_of(column_of(x, j)) * roundoff(t)));
    return static_cast<double>(out);
}

double least_squares_ratio(const wide_matrix& a, const wide_matrix& x, const wide_matrix& b, scalar_type t) {
    const auto sizes = std::max({a.rows(), a.columns(), x.columns()});
    return quotient(norm_of(adjoint(a) * (b - a * x)), norm_of(a) * norm_of(b) * count(sizes) * roundoff(t));
}

double smallest_solution_ratio(const wide_matrix& a, const wide_matrix& x, const wide_matrix& b, scalar_type t) {
    // the range of A^H: Gram-Schmidt, twice
    auto q = adjoint(a);
    const auto remove = [&](wide_matrix& from, std::int64_t j, std::int64_t k) {
        number product = 0;
        for (std::int64_t i = 0; i < q.rows(); ++i) product += std::conj(q(i, k)) * from(i, j);
        for (std::int64_t i = 0; i < q.rows(); ++i) from(i, j) -= q(i, k) * product;
    };
    for (std::int64_t j = 0; j < q.columns(); ++j) {
        for (std::int64_t k = 0; k < 2 * j; ++k) remove(q, j, k % j);
        long double square = 0;
        for (std::int64_t i = 0; i < q.rows(); ++i) square += std::norm(q(i, j));
        for (std::int64_t i = 0; i < q.rows(); ++i) q(i, j) /= std::sqrt(square);
    }
    const auto residual = b - a * x;
    const auto scale = norm_of(a);
    auto outside = x;
    long double out = 0;
    for (std::int64_t j = 0; j < x.columns(); ++j) {
        for (std::int64_t k = 0; k < q.columns(); ++k) remove(outside, j, k);
        const auto unit = norm_of(column_of(x, j)) * count(a.columns()) * roundoff(t);
        out = larger(out, quotient(norm_of(column_of(residual, j)), scale * unit));
        out = larger(out, quotient(norm_of(column_of(outside, j)), unit));
    }
    return static_cast<double>(out);
}

double inverse_ratio(const wide_matrix& a, const wide_matrix& x, scalar_type t) {
    return quotient(norm_of(wide_matrix::identity(a.rows()) - a * x),
                    count(a.rows()) * norm_of(a) * norm_of(x) * roundoff(t));
}

} // namespace ricci::tests
