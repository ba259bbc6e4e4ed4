// ratios: how good factors and solutions are, by the ratios of LAPACK's own testers, which want less than 30:
// residual / (size * norms * unit roundoff).
//
// Sources: LAPACK's TESTING/LIN, xPOT01, xGET01, xQRT01, xGET02, xGET03, xQRT17, xQRT14; norms are 1-norms. `unit` is
// the roundoff of what is judged, T has more digits. Infinite where a number is NaN, which no comparison finds.
#pragma once

#include "bench/factor/reference_matrix.hpp"

#include <ricci/lowering/scalar_type.hpp>

#include <limits>

namespace ricci::bench::factor {

inline constexpr double largest_ratio = 30;

/// Of numbers of a type: 2^-24, 2^-53.
inline double roundoff(lowering::scalar_type t) {
    return lowering::real_of(t) == lowering::scalar_type::f64 ? 0x1p-53 : 0x1p-24;
}

/// residual / (size * norm * unit); 0 for 0/0: of nothing, or an exact result of a zero matrix.
inline double quotient(long double residual, std::int64_t size, long double norm, double unit) {
    if (residual == 0) return 0;
    const auto ratio = static_cast<double>(residual / (static_cast<long double>(size) * norm * unit));
    return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
}

/// Of a Hermitian matrix, of which the lower triangle is read.
template <class T>
double cholesky_ratio(const matrix<T>& a, const matrix<T>& factors, double unit) {
    const auto l = lower_of(factors, false), whole = hermitian(a);
    return quotient(norm_of(l * adjoint(l) - whole), a.rows(), norm_of(whole), unit);
}

/// Infinite too where a pivot is not one of the rows that are left.
template <class T>
double lu_ratio(const matrix<T>& a, const matrix<T>& factors, const std::vector<std::int64_t>& pivots, double unit) {
    for (std::size_t k = 0; k < pivots.size(); ++k)
        if (pivots[k] < static_cast<std::int64_t>(k) || pivots[k] >= a.rows())
            return std::numeric_limits<double>::infinity();
    const auto residual = lower_of(factors, true) * upper_of(factors) - exchanged(a, pivots);
    return quotient(norm_of(residual), a.columns(), norm_of(a), unit);
}

/// |I - Q^H Q| / (m unit).
template <class T>
double orthogonality_ratio(const matrix<T>& q, double unit) {
    return quotient(norm_of(identity<T>(q.columns()) - adjoint(q) * q), q.rows(), 1, unit);
}

/// The larger of |A - QR| / (m |A| unit) and the ratio of Q's orthogonality. tau: a column of min(m, n).
template <class T>
double qr_ratio(const matrix<T>& a, const matrix<T>& factors, const matrix<T>& tau, double unit) {
    const auto q = q_of(factors, tau, tau.rows());
    return std::max(quotient(norm_of(a - q * upper_of(factors)), a.rows(), norm_of(a), unit),
                    orthogonality_ratio(q, unit));
}

/// The largest of the right-hand sides' |b - Ax| / (size |A| |x| unit); size 1 for LAPACK's, of square matrices.
template <class T>
double solve_ratio(const matrix<T>& a, const matrix<T>& x, const matrix<T>& b, double unit, std::int64_t size = 1) {
    const auto residual = b - a * x;
    const auto norm = norm_of(a);
    double worst = 0;
    for (std::int64_t j = 0; j < x.columns(); ++j)
        worst = std::max(worst, quotient(norm_of_column(residual, j), size, norm * norm_of_column(x, j), unit));
    return worst;
}

/// |A^H (b - Ax)| / (max(m, n, r) |A| |b| unit): the residual is orthogonal to what A can reach.
template <class T>
double least_squares_ratio(const matrix<T>& a, const matrix<T>& x, const matrix<T>& b, double unit) {
    return quotient(norm_of(adjoint(a) * (b - a * x)), std::max({a.rows(), a.columns(), x.columns()}),
                    norm_of(a) * norm_of(b), unit);
}

/// Of A with more columns than rows, of full rank: the larger of |b - Ax| / (n |A| |x| unit) and, the smallest
/// solution being the one in the space of A's rows, |x - Px| / (n |x| unit) with P that space's projector.
template <class T>
double smallest_solution_ratio(const matrix<T>& a, const matrix<T>& x, const matrix<T>& b, double unit) {
    const auto beyond = beyond_rows(a, x);
    double worst = solve_ratio(a, x, b, unit, a.columns());
    for (std::int64_t j = 0; j < x.columns(); ++j)
        worst = std::max(worst, quotient(norm_of_column(beyond, j), a.columns(), norm_of_column(x, j), unit));
    return worst;
}

/// |I - AX| / (n |A| |X| unit).
template <class T>
double inverse_ratio(const matrix<T>& a, const matrix<T>& x, double unit) {
    return quotient(norm_of(identity<T>(a.rows()) - a * x), a.rows(), norm_of(a) * norm_of(x), unit);
}

} // namespace ricci::bench::factor
