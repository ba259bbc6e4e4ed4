// factor_ratios: how good factors and solutions are, by the ratios of LAPACK's own testers, which want less than 30.
//
// Sources: LAPACK's TESTING/LIN, xPOT01, xGET01, xQRT01, xGET02, xGET03, xQRT14, xQRT16, xQRT17; norms are 1-norms,
// epsilon is the unit roundoff. All is computed in long double.
#pragma once

#include "lowering/scalar_type.hpp"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ricci::tests {

inline constexpr double largest_ratio = 30;

/// A matrix, column by column.
class wide_matrix {
  public:
    using number = std::complex<long double>;

    wide_matrix(std::int64_t rows, std::int64_t columns)
        : rows_(rows), columns_(columns), values_(static_cast<std::size_t>(rows * columns)) {}
    static wide_matrix identity(std::int64_t n);

    std::int64_t rows() const { return rows_; }
    std::int64_t columns() const { return columns_; }
    number& operator()(std::int64_t i, std::int64_t j) { return values_[static_cast<std::size_t>(i + j * rows_)]; }
    const number& operator()(std::int64_t i, std::int64_t j) const {
        return values_[static_cast<std::size_t>(i + j * rows_)];
    }

  private:
    std::int64_t rows_, columns_;
    std::vector<number> values_;
};

wide_matrix operator*(const wide_matrix& a, const wide_matrix& b);
wide_matrix operator-(wide_matrix a, const wide_matrix& b);
wide_matrix adjoint(const wide_matrix& a);
/// The largest sum of a column's absolute values; NaN where an element is.
long double norm_of(const wide_matrix& a);

/// What factors in place hold.
wide_matrix lower_of(const wide_matrix& factors, bool unit); ///< m x min(m, n)
wide_matrix upper_of(const wide_matrix& factors);            ///< min(m, n) x n
/// Q of Householder vectors below the diagonal and tau: its first `columns` columns.
wide_matrix q_of(const wide_matrix& factors, const std::vector<wide_matrix::number>& tau, std::int64_t columns);
/// Rows exchanged as LU's pivots say, from 0.
wide_matrix permuted(wide_matrix a, const std::vector<std::int64_t>& pivots);

/// The unit roundoff of numbers of a type: 2^-24, 2^-53.
double roundoff(lowering::scalar_type t);

double cholesky_ratio(const wide_matrix& a, const wide_matrix& factors, lowering::scalar_type t);
double lu_ratio(const wide_matrix& a, const wide_matrix& factors, const std::vector<std::int64_t>& pivots,
                lowering::scalar_type t);
/// The larger of |A - QR| / (m |A| eps) and |I - Q^H Q| / (m eps).
double qr_ratio(const wide_matrix& a, const wide_matrix& factors, const std::vector<wide_matrix::number>& tau,
                lowering::scalar_type t);
/// max over right-hand sides of |b - Ax| / (|A| |x| eps).
double solve_ratio(const wide_matrix& a, const wide_matrix& x, const wide_matrix& b, lowering::scalar_type t);
/// |A^H (b - Ax)| / (|A| |b| max(m, n, r) eps).
double least_squares_ratio(const wide_matrix& a, const wide_matrix& x, const wide_matrix& b, lowering::scalar_type t);
/// Of A with more columns than rows, of full rank, the larger of max |b - Ax| / (n |A| |x| eps) and, the smallest
/// solution being the one in the range of A^H, max |x - Px| / (n |x| eps) with P that range's projector.
double smallest_solution_ratio(const wide_matrix& a, const wide_matrix& x, const wide_matrix& b,
                               lowering::scalar_type t);
/// |I - A X| / (n |A| |X| eps).
double inverse_ratio(const wide_matrix& a, const wide_matrix& x, lowering::scalar_type t);
/// |I - Q^H Q| / (m eps).
double orthogonality_ratio(const wide_matrix& q, lowering::scalar_type t);

} // namespace ricci::tests
