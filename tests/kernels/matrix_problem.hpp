// matrix_problem: a factorization or a solve of random matrices in memory of any layout, run on a device and judged
// by LAPACK's test ratios.
#pragma once

#include "lowering/statement.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ricci::tests {

/// How a tensor's axes lie: first index fastest; last index fastest; the batch fastest; columns apart; rows reversed
/// and an odd start.
enum class matrix_layout : std::uint8_t { dense, row_major, interleaved, padded, reversed };

enum class matrix_kind : std::uint8_t {
    random,    ///< in [-1, 1]; Hermitian positive definite for Cholesky, with a dominant diagonal for triangles
    graded,    ///< rows and columns fall by nearly the type's precision
    large,     ///< by 1e200 (1e30 in f32), where a sum of squares overflows
    small,     ///< by 1e-200 (1e-30)
    singular,  ///< a column of zeros in the middle; of a triangle a zero on the diagonal
    dependent, ///< the last column is the first one
    indefinite,
    zero,
    with_nan
};

struct matrix_problem {
    lowering::routine what = lowering::routine::cholesky;
    lowering::scalar_type type = lowering::scalar_type::f64;
    std::int64_t m = 1, n = 1, r = 1, batch = 1;
    matrix_layout layout = matrix_layout::dense, sides = matrix_layout::dense;
    matrix_kind kind = matrix_kind::random;
    bool apart = true; ///< right-hand sides are given, or an inverse stored, in memory of their own
    bool conjugated = false, unpivoted = false, positive = false, upper = false, unit = false, adjoint = false;
    bool wide = false; ///< integers of 8 bytes
    std::uint64_t seed = 1;
};

/// "lu f64 5x7, 3 matrices, row-major, graded": for messages.
std::string to_string(const matrix_problem& p);

struct matrix_outcome {
    std::string mistake;            ///< empty: all is right
    double ratio = 0;               ///< the worst of the batch
    std::vector<std::int64_t> info; ///< by matrix
};

/// Runs the problem on a device (see runtime/device.hpp) through runtime::run and judges every matrix; also that
/// nothing but what is to be written was. Cholesky leaves what is above the diagonal alone.
matrix_outcome run_matrix_problem(const matrix_problem& p, std::int32_t device);

} // namespace ricci::tests
