// blas: the BLAS that CMake found, if any, by one typed function.
#pragma once

#include "lowering/scalar_type.hpp"

#include <complex>
#include <cstdint>

namespace ricci::runtime {

/// Whether this build has a BLAS.
bool has_blas();

/// How many threads OpenBLAS uses from now on, in all of the process; other libraries keep theirs.
void set_blas_threads(int count);

/// C = alpha*op(A)*op(B) + beta*C with op(A) m x k, op(B) k x n, C m x n, all column by column; a transposition is
/// 'N', 'T' or 'C'. Leading dimensions are in elements. Returns false, having done nothing, where no BLAS can do it:
/// none in this build, another type than f32, f64, c64, c128, or a size above 2^31 - 1. For real types alpha and beta
/// must be real.
bool blas_gemm(lowering::scalar_type type, char transpose_a, char transpose_b, std::int64_t m, std::int64_t n,
               std::int64_t k, std::complex<double> alpha, const void* a, std::int64_t lda, const void* b,
               std::int64_t ldb, std::complex<double> beta, void* c, std::int64_t ldc);

} // namespace ricci::runtime
