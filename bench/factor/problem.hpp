// problem: a batch of matrices to be factored or solved with: its statements, its operands and what it costs at
// least.
#pragma once

#include "bench/factor/routine.hpp"
#include "bench/session.hpp"
#include "bench/text_program.hpp"

#include <ricci/lowering/scalar_type.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ricci::bench::factor {

/// The m x n matrices of a batch, one behind the other, column by column.
struct problem {
    routine what = routine::cholesky;
    lowering::scalar_type type = lowering::scalar_type::f64;
    std::int64_t m = 1, n = 1;
    std::int64_t sides = 0; ///< right-hand sides; 0 where the routine takes none
    std::int64_t batch = 1;

    std::int64_t least() const { return m < n ? m : n; }
    std::int64_t longest() const { return m < n ? n : m; }
    /// What X has.
    std::int64_t columns() const { return what == routine::inverse ? n : sides; }
    /// Of all matrices, as LAPACK Working Note 41 counts them.
    double flops() const;
    /// Of all matrices and right-hand sides. A factorization reads and writes its matrix once, all of it; a solve
    /// reads its matrix and its right-hand sides, and writes the solutions. Pivots, tau and info are not counted.
    double bytes() const;
    /// What has to be moved: the same without the triangle that Cholesky and triangular solves neither read nor
    /// write, which bytes() has as the papers do.
    double element_bytes() const;
};

/// The tensors of a problem, in the order of a set's addresses; those behind `info` only where a routine has them.
///
///     original(i,j,e)  the matrices, never written
///     A(i,j,e)         a copy, which becomes the factors; where these are taken, they stand there from the start
///     v(k,e)           pivots, or tau
///     info(e)
///     X(j,r,e)         right-hand sides, then solutions; or solutions alone, or the inverse
///     given(i,r,e)     the right-hand sides, never written; of least squares with max(m, n) rows of memory
///     work(l,r,e)      of least squares, a copy for peers, which put their solutions there
enum operand_number : std::size_t { at_original, at_A, at_vector, at_info, at_X, at_given, at_work };

/// What is measured, and its operands.
text_program notation_of(const problem& p);
/// What makes random originals definite or well conditioned; and what makes factors of their copies in A. Empty where
/// nothing is to do.
std::string text_of_adjustment(const problem& p);
std::string text_of_factorization(const problem& p);

/// The operands as operand_sets wants them.
work memory_of(const problem& p);

} // namespace ricci::bench::factor
