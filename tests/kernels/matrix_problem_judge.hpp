// matrix_problem_judge: whether what came out of a matrix problem is right, by LAPACK's test ratios and its info.
#pragma once

#include "tests/kernels/matrix_problem_numbers.hpp"
#include "tests/kernels/matrix_problem_statement.hpp"

#include <vector>

namespace ricci::tests {

/// What the operands held, by matrix.
struct matrix_inputs {
    std::vector<wide_matrix> meant; ///< the matrices, or those of which there are factors
    std::vector<wide_matrix> given; ///< right-hand sides
    std::vector<plain_factors> factors;
};

/// The first mistake, without the problem's name.
matrix_outcome judge(const matrix_problem& p, const problem_operands& now, const matrix_inputs& before);

} // namespace ricci::tests
