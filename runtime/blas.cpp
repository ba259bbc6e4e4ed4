// blas: the BLAS that CMake found, if any, by one typed function.
#include "runtime/blas.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <limits>

#ifdef RICCI_HAS_BLAS

// Fortran's convention: everything by address, and the length of each character argument at the end.
#define RICCI_GEMM(name)                                                                                             \
    extern "C" void name(const char*, const char*, const int*, const int*, const int*, const void*, const void*,     \
                         const int*, const void*, const int*, const void*, void*, const int*, std::size_t,           \
                         std::size_t)
RICCI_GEMM(sgemm_);
RICCI_GEMM(dgemm_);
RICCI_GEMM(cgemm_);
RICCI_GEMM(zgemm_);
#undef RICCI_GEMM
extern "C" void openblas_set_num_threads(int) __attribute__((weak)); // not every BLAS has it

#endif

namespace ricci::runtime {

#ifdef RICCI_HAS_BLAS

bool has_blas() { return true; }

void set_blas_threads(int count) {
    if (openblas_set_num_threads != nullptr) openblas_set_num_threads(count);
}

bool blas_gemm(lowering::scalar_type type, char transpose_a, char transpose_b, std::int64_t m, std::int64_t n,
               std::int64_t k, std::complex<double> alpha, const void* a, std::int64_t lda, const void* b,
               std::int64_t ldb, std::complex<double> beta, void* c, std::int64_t ldc) {
    if (std::max({m, n, k, lda, ldb, ldc}) > std::numeric_limits<int>::max()) return false;
    const int sizes[] = {static_cast<int>(m),   static_cast<int>(n),   static_cast<int>(k),
                         static_cast<int>(lda), static_cast<int>(ldb), static_cast<int>(ldc)};
    const auto call = [&](auto gemm, const auto& factor, const auto& old) {
        gemm(&transpose_a, &transpose_b, &sizes[0], &sizes[1], &sizes[2], &factor, a, &sizes[3], b, &sizes[4], &old,
             c, &sizes[5], 1, 1);
        return true;
    };
    using enum lowering::scalar_type;
    switch (type) {
    case f32:
        return call(sgemm_, static_cast<float>(alpha.real()), static_cast<float>(beta.real()));
    case f64:
        return call(dgemm_, alpha.real(), beta.real());
    case c64:
        return call(cgemm_, std::complex<float>(alpha), std::complex<float>(beta));
    case c128:
        return call(zgemm_, alpha, beta);
    default:
        return false;
    }
}

#else

bool has_blas() { return false; }

void set_blas_threads(int) {}

bool blas_gemm(lowering::scalar_type, char, char, std::int64_t, std::int64_t, std::int64_t, std::complex<double>,
               const void*, std::int64_t, const void*, std::int64_t, std::complex<double>, void*, std::int64_t) {
    return false;
}

#endif

} // namespace ricci::runtime
