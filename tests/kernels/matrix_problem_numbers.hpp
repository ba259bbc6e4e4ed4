// matrix_problem_numbers: the matrices of each kind, and their factors by LAPACK's unblocked algorithms in long
// double.
#pragma once

#include "tests/kernels/matrix_problem.hpp"
#include "tests/kernels/wide_matrix.hpp"

#include <cstdint>
#include <random>
#include <vector>

namespace ricci::tests {

/// Whether the problem's matrices are Hermitian positive definite, of which the lower triangle is read.
bool is_definite(const matrix_problem& p);

wide_number random_number(lowering::scalar_type type, std::mt19937_64& random);
/// Of such numbers, column by column.
wide_matrix random_matrix(std::int64_t rows, std::int64_t columns, lowering::scalar_type type,
                          std::mt19937_64& random);

/// A matrix of the problem's kind.
wide_matrix make_matrix(const matrix_problem& p, std::mt19937_64& random);

struct plain_factors {
    wide_matrix f;
    std::vector<std::int64_t> pivots;
    wide_matrix tau; ///< a column
};

/// For what takes factors: cholesky_solve's, lu_solve's, or those of QR.
plain_factors factor_plainly(wide_matrix x, lowering::routine what, bool unpivoted);

/// By LU; of a matrix that has one.
wide_matrix inverse_of(const wide_matrix& a);

} // namespace ricci::tests
