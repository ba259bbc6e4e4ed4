// gemm_call: a product as a BLAS takes it: transpositions, leading dimensions, and which operand comes first.
#pragma once

#include "bench/product.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace ricci::bench {

/// One matrix of a GEMM, or of a batch of them.
struct gemm_matrix {
    char operation = 'N'; ///< 'N', 'T' or 'C'
    std::int64_t leading = 1, batch_stride = 0;
};

/// C = op(A)*op(B) + beta*C with op(A) m x k and op(B) k x n.
struct gemm_call {
    bool swapped = false; ///< computes C^T = B^T*A^T: the product's B comes first
    std::int64_t m = 0, n = 0, k = 0, count = 1;
    gemm_matrix a, b, c;
    std::shared_ptr<const std::vector<std::int32_t>> places; ///< as the product's

    /// Which of A's and B's matrices product e takes.
    std::int64_t place(std::int64_t e) const { return places ? (*places)[static_cast<std::size_t>(e)] : e; }
};

/// Nothing where no BLAS can: neither index of a matrix has stride 1, or one is conjugated and not transposed.
std::optional<gemm_call> gemm_call_of(const product& p);

/// The same batch as one GEMM, where all products use the same A and the columns of all B and C are equally far
/// apart.
std::optional<gemm_call> as_one_gemm(const gemm_call& call);

} // namespace ricci::bench
