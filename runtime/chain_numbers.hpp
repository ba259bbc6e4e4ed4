// chain_numbers: what the memories of a chain that factors or solves hold where its kernel is tried: such that its
// matrices are those of matrix_numbers, and that what it assembles is positive definite where it can be seen how.
#pragma once

#include "lowering/plan.hpp"

#include <cstdint>
#include <set>
#include <vector>

namespace ricci::runtime {

struct chain_numbers {
    /// For write_matrix_numbers: the operands in the roles matrix and vector are in memory. Of several that share an
    /// element the first one's numbers count.
    std::vector<lowering::step> matrices;
    /// By operand::source: memories that weigh what Cholesky's matrix is assembled from, whose numbers are to be
    /// positive; unless they are of another kind elsewhere, its factors.
    std::set<std::int32_t> weights, factors;
};

/// Of a chain's steps, whose operands' sources are those of its memories, or of its locals.
///
/// A matrix that comes from memory is that of its call. One that the chain assembles for Cholesky is a sum of
/// products: those of factors along its rows and factors along its columns, B(q,i) D(q) B(q,j), are positive
/// definite where the weights D are positive and the factors the same tensor; those of matrices in memory,
/// K(i,j) + s M(i,j), where these are and s is positive. Others may be anything.
chain_numbers chain_numbers_of(const lowering::chain& c, const std::vector<lowering::step>& steps);

} // namespace ricci::runtime
