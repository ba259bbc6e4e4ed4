// problem: a batch of matrices to be factored or solved with: its statements, its operands and what it costs at
// least.
#pragma once

#include "bench/session.hpp"
#include "bench/text_program.hpp"

#include <ricci/lowering/matrix_call.hpp>
#include <ricci/lowering/scalar_type.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ricci::bench::factor {

using lowering::routine;

/// The m x n matrices of a batch, one behind the other, column by column.
struct problem {
    routine what = routine::cholesky;
    lowering::scalar_type type = lowering::scalar_type::f64;
    std::int64_t m = 1, n = 1;
    std::int64_t sides = 0; ///< right-hand sides of a solve; 0: a factorization
    std::int64_t batch = 1;

    std::int64_t least() const { return m < n ? m : n; }
    /// Of all matrices, as LAPACK Working Note 41 counts them.
    double flops() const;
    /// Of all matrices and right-hand sides. A factorization reads and writes its matrix once, all of it; a solve
    /// reads its matrix, and reads and writes the right-hand sides.
    double bytes() const;
    /// The same without the triangle that Cholesky neither reads nor writes, which bytes() has as the papers do.
    double element_bytes() const;
};

/// "cholesky", "lu", "qr", "solve", "cholesky_solve", "lu_solve"
const std::vector<std::string>& routine_names();
routine routine_of(const std::string& name);

constexpr bool solves(routine r) { return !lowering::factors_in_place(r); }
constexpr bool takes_factors(routine r) { return r == routine::cholesky_solve || r == routine::lu_solve; }
constexpr bool is_definite(routine r) { return r == routine::cholesky || r == routine::cholesky_solve; }
constexpr bool has_pivots(routine r) { return r == routine::lu || r == routine::solve || r == routine::lu_solve; }

/// The tensors of a problem, in the order of a set's addresses; the last two only where something is solved.
///
///     original(i,j,e)  the matrices, never written
///     A(i,j,e)         a copy, which becomes the factors; where these are taken, they stand there from the start
///     v(k,e)           pivots, or tau
///     info(e)
///     X(j,r,e)         right-hand sides, then solutions
///     given(j,r,e)     the right-hand sides, never written
enum operand_number : std::size_t { at_original, at_A, at_vector, at_info, at_X, at_given };

/// What is measured, and its operands.
text_program notation_of(const problem& p);
/// What makes random originals definite; and what makes factors of their copies in A. Empty where nothing is to do.
std::string text_of_adjustment(const problem& p);
std::string text_of_factorization(const problem& p);

/// The operands as operand_sets wants them.
work memory_of(const problem& p);

} // namespace ricci::bench::factor
