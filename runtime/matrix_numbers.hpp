// matrix_numbers: what the operands of a factorization or a solve hold where its kernels are tried: matrices for
// which all right kernels come to the same factors and solutions, rounding aside.
#pragma once

#include "lowering/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace ricci::runtime {

/// Writes the elements of the operand in a role, a matrix or a vector that is read, into `image`: the elements of its
/// source from number `first` on, in the operand's type. Other roles, and vectors that are written, stay as they are.
///
///   matrix       numbers of some 1/sqrt(n), and about 4 on the diagonal, or, of LU with exchanges, once in each row
///                and column in any order: positive definite where its lower triangle is one of a Hermitian matrix,
///                well conditioned, the pivots and signs far from any other choice; as factors, those of such a matrix
///   tau          of reflections that make no vector longer
///   pivots       any row from their own on
void write_matrix_numbers(const lowering::step& st, lowering::matrix_role role, std::int64_t first,
                          std::span<std::byte> image);

} // namespace ricci::runtime
