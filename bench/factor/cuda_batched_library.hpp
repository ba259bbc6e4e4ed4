// cuda_batched_library: NVIDIA's functions for batches by arrays of pointers, cuSOLVER's and cuBLAS's, found at run
// time.
#pragma once

#include "bench/peers/cuda_peer_library.hpp"

#include <ricci/lowering/scalar_type.hpp>

#include <cublas_v2.h>
#include <cuda.h>

#include <optional>

namespace ricci::bench::factor {

// cuSOLVER's header is not always there with cuBLAS's; of what is called here, little is to be declared.
using solver_handle = void*;
using solver_status = int;

/// The functions of one type. For all types alike: what they differ in are pointers.
struct batched_functions {
    solver_status (*potrf)(solver_handle, cublasFillMode_t, int n, void* const* a, int lda, int* info,
                           int count) = nullptr;
    solver_status (*potrs)(solver_handle, cublasFillMode_t, int n, int sides, void* const* a, int lda, void* const* b,
                           int ldb, int* info, int count) = nullptr;
    cublasStatus_t (*getrf)(cublasHandle_t, int n, void* const* a, int lda, int* pivots, int* info,
                            int count) = nullptr;
    cublasStatus_t (*getrs)(cublasHandle_t, cublasOperation_t, int n, int sides, const void* const* a, int lda,
                            const int* pivots, void* const* b, int ldb, int* host_info, int count) = nullptr;
    cublasStatus_t (*getri)(cublasHandle_t, int n, const void* const* a, int lda, const int* pivots, void* const* c,
                            int ldc, int* info, int count) = nullptr;
    cublasStatus_t (*matinv)(cublasHandle_t, int n, const void* const* a, int lda, void* const* c, int ldc, int* info,
                             int count) = nullptr; ///< n to 32
    cublasStatus_t (*geqrf)(cublasHandle_t, int m, int n, void* const* a, int lda, void* const* tau, int* host_info,
                            int count) = nullptr;
    cublasStatus_t (*gels)(cublasHandle_t, cublasOperation_t, int m, int n, int sides, void* const* a, int lda,
                           void* const* c, int ldc, int* host_info, int* info, int count) = nullptr; ///< m >= n
    cublasStatus_t (*trsm)(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t,
                           int m, int n, const void* alpha, const void* const* a, int lda, void* const* b, int ldb,
                           int count) = nullptr;
};

/// Both libraries, and the functions that are of no type.
class batched_library {
  public:
    /// Throws ricci::error (environment) where one is not found.
    batched_library();

    batched_functions of(lowering::scalar_type type) const;

    // Throw ricci::error (environment) for what is no success.
    void check(cublasStatus_t status, const char* call) const;
    static void check_solver(solver_status status, const char* call);

    cublasStatus_t (*create_blas)(cublasHandle_t*) = nullptr;
    cublasStatus_t (*destroy_blas)(cublasHandle_t) = nullptr;
    cublasStatus_t (*set_blas_stream)(cublasHandle_t, CUstream) = nullptr;
    cublasStatus_t (*blas_version)(cublasHandle_t, int*) = nullptr;
    const char* (*text_of)(cublasStatus_t) = nullptr;
    solver_status (*create_solver)(solver_handle*) = nullptr;
    solver_status (*destroy_solver)(solver_handle) = nullptr;
    solver_status (*set_solver_stream)(solver_handle, CUstream) = nullptr;
    solver_status (*solver_version)(int*) = nullptr;

  private:
    void* blas(const char* name) const;

    void* blas_ = nullptr;
    std::optional<loaded_library> solver_;
};

} // namespace ricci::bench::factor
