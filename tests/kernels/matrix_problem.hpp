// matrix_problem: a factorization or a solve of random matrices in memory of any layout, run on a device and judged
// by LAPACK's test ratios.
//
//   matrix_problem_operand     where operands lie, in memory between guards and on a device
//   matrix_problem_numbers     the matrices of each kind, and their factors in long double
//   matrix_problem_statement   the call
//   matrix_problem_judge       what is right
//   random_matrix_problem      problems from a seed
#pragma once

#include "lowering/statement.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ricci::tests {

/// How a tensor's axes lie: first index fastest; last index fastest; the batch fastest; columns apart; rows reversed
/// and an odd start; the batch between rows and columns; dense, but aligned to a part of a number only.
enum class matrix_layout : std::uint8_t { dense, row_major, interleaved, padded, reversed, between, displaced };

enum class matrix_kind : std::uint8_t {
    random,   ///< in [-1, 1]; Hermitian positive definite for Cholesky, with a dominant diagonal for triangles and
              ///< where rows are not exchanged
    graded,   ///< rows and columns fall by nearly the type's precision
    large,    ///< by 1e200 (1e30 in f32), where a sum of squares overflows
    small,    ///< by 1e-200 (1e-30)
    singular, ///< a column of zeros in the middle (of wide least squares a row); of a triangle a zero on the diagonal
    dependent,       ///< the last column is the first one
    nearly_singular, ///< the same but for some roundoffs: condition 1/(100 n eps), where Cholesky still must not fail
    indefinite,
    zero,
    with_nan
};

struct matrix_problem {
    lowering::routine what = lowering::routine::cholesky;
    lowering::scalar_type type = lowering::scalar_type::f64;
    std::int64_t m = 1, n = 1, r = 1, batch = 1;
    std::int64_t more_sides = 1, more_batch = 1; ///< of a second axis of the right-hand sides, of the batch
    int batch_axes = 1, side_axes = 1;           ///< 0: none; the extents of those that there are not are 1
    matrix_layout layout = matrix_layout::dense, sides = matrix_layout::dense;
    /// Not 0: operands lie anywhere instead, as this seed says: ranges of the indices, positions in any order, fixed
    /// and affine ones, strides of any sign with gaps, an operand that is only read once for all along an axis, or
    /// over what is written.
    std::uint64_t places = 0;
    matrix_kind kind = matrix_kind::random;
    bool apart = true; ///< right-hand sides are given, or an inverse stored, in memory of their own
    /// m = n: the right-hand sides that are given have the matrix's second index, or the first where its adjoint
    /// solves.
    bool given_by_columns = false;
    bool conjugated = false, unpivoted = false, positive = false, upper = false, unit = false, adjoint = false;
    bool wide = false; ///< integers of 8 bytes
    std::uint64_t seed = 1;

    std::int64_t matrices() const { return batch * more_batch; }
    std::int64_t all_sides() const { return r * more_sides; }
};

/// Whether a kind says something of a problem's routine: of what takes factors, and of least squares,
/// well-conditioned ones.
bool is_wanted(matrix_kind kind, const matrix_problem& p);

/// Of fewer equations than unknowns.
bool is_wide_least_squares(const matrix_problem& p);

/// "lu f64 5x7, 3 matrices, row-major, graded": for messages.
std::string to_string(const matrix_problem& p);

struct matrix_outcome {
    std::string mistake;            ///< empty: all is right
    double ratio = 0;               ///< the worst of the batch
    std::vector<std::int64_t> info; ///< by matrix
};

/// Runs the problem on a device (see runtime/device.hpp) and judges every matrix; also that nothing but what is to be
/// written was. Cholesky leaves what is above the diagonal alone. `how`: what runs the statement, runtime::run if
/// empty.
matrix_outcome run_matrix_problem(const matrix_problem& p, std::int32_t device,
                                  const std::function<void(const lowering::statement&)>& how = {});

} // namespace ricci::tests
