// lapack_library: LAPACK's functions, found at run time: in the BLAS that was linked, as OpenBLAS has them, or
// apart.
#pragma once

#include <ricci/lowering/scalar_type.hpp>

#include <cstddef>
#include <string>

namespace ricci::bench::factor {

/// Of one type. Fortran's convention: everything by address, and the length of each character argument at the end.
struct lapack_functions {
    void (*potrf)(const char* uplo, const int* n, void* a, const int* lda, int* info, std::size_t) = nullptr;
    void (*potrs)(const char* uplo, const int* n, const int* sides, const void* a, const int* lda, void* b,
                  const int* ldb, int* info, std::size_t) = nullptr;
    void (*posv)(const char* uplo, const int* n, const int* sides, void* a, const int* lda, void* b, const int* ldb,
                 int* info, std::size_t) = nullptr;
    void (*getrf)(const int* m, const int* n, void* a, const int* lda, int* pivots, int* info) = nullptr;
    void (*getrs)(const char* transpose, const int* n, const int* sides, const void* a, const int* lda,
                  const int* pivots, void* b, const int* ldb, int* info, std::size_t) = nullptr;
    void (*gesv)(const int* n, const int* sides, void* a, const int* lda, int* pivots, void* b, const int* ldb,
                 int* info) = nullptr;
    void (*getri)(const int* n, void* a, const int* lda, const int* pivots, void* work, const int* work_size,
                  int* info) = nullptr;
    void (*geqrf)(const int* m, const int* n, void* a, const int* lda, void* tau, void* work, const int* work_size,
                  int* info) = nullptr;
    /// ormqr, of complex types unmqr.
    void (*apply_q)(const char* side, const char* transpose, const int* m, const int* sides, const int* reflectors,
                    const void* a, const int* lda, const void* tau, void* c, const int* ldc, void* work,
                    const int* work_size, int* info, std::size_t, std::size_t) = nullptr;
    void (*gels)(const char* transpose, const int* m, const int* n, const int* sides, void* a, const int* lda,
                 void* b, const int* ldb, void* work, const int* work_size, int* info, std::size_t) = nullptr;
    void (*trtrs)(const char* uplo, const char* transpose, const char* diagonal, const int* n, const int* sides,
                  const void* a, const int* lda, void* b, const int* ldb, int* info, std::size_t, std::size_t,
                  std::size_t) = nullptr;
};

class lapack_library {
  public:
    /// Looks in the file that RICCI_LAPACK names, else in what is linked, else for liblapack.so.3 and
    /// libopenblas.so.0. Throws ricci::error (environment) where there is none.
    lapack_library();

    lapack_functions of(lowering::scalar_type type) const;
    /// "OpenBLAS 0.3.21 ...", or the file.
    std::string version() const;

    /// How many threads one of its calls may use from now on; without effect on a library that is not OpenBLAS.
    void set_threads(int count) const;

  private:
    void* symbol(const std::string& name) const;

    void* handle_ = nullptr;
    void (*set_threads_)(int) = nullptr;
};

} // namespace ricci::bench::factor
