// cublas: matrix products by cuBLAS, loaded at run time on the first one. Needs no CUDA header.
#pragma once

#include "runtime/backend.hpp"

namespace ricci::runtime {

/// Whether cuBLAS has a product of these types: A and B alike, C like them, or f32 where they are f16 or bf16; sums
/// in f32 for 2-byte types (f32 by TF32 only where `math` says so), else in the type itself.
bool cublas_takes(const gemm_problem& g);

/// Starts the products on this thread's current stream of `d`; can be captured after one warm run.
/// Throws ricci::error (environment) where cuBLAS is absent (machine().has_blas tells) or fails.
void cublas_gemm(device d, const gemm_problem& g);

} // namespace ricci::runtime
