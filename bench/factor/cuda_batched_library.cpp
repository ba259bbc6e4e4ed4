// cuda_batched_library: finds cuSOLVER and cuBLAS.
#include "bench/factor/cuda_batched_library.hpp"

#include "runtime/cuda_driver.hpp"
#include "runtime/cuda_library.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/backend.hpp>

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <utility>

namespace ricci::bench::factor {

namespace {

constexpr std::array solver_files{"libcusolver.so.12", "libcusolver.so.11"}; // of CUDA 13, and of 12

constexpr cuda_peer_library solver_library(const char* file) {
    return {file, "RICCI_CUSOLVER", "nvidia/*", "", "`pip install nvidia-cusolver`"};
}

template <class F>
void load(F*& to, void* symbol) {
    to = reinterpret_cast<F*>(symbol);
}

} // namespace

batched_library::batched_library() {
    const auto place = runtime::find_cuda_library(runtime::cublas_library, runtime::driver_version() / 1000);
    if (place.file.empty()) throw error("no cuBLAS: " + place.missing, blame::environment);
    const auto gemms = runtime::files_beside(place.file, "libcublasLt.so");
    blas_ = runtime::open_library(place.file, gemms);
    auto needed = gemms; // by cuSOLVER, and not always where the loader looks
    needed.push_back(place.file);
    for (const char* stem : {"libnvJitLink.so", "libcusparse.so"})
        for (auto& file : runtime::files_beside(place.file, stem)) needed.push_back(std::move(file));
    for (const char* file : solver_files) try {
            solver_.emplace(solver_library(file), needed);
            break;
        } catch (const error&) {
            if (file == solver_files.back()) throw;
        }
    load(create_blas, blas("cublasCreate_v2")), load(destroy_blas, blas("cublasDestroy_v2"));
    load(set_blas_stream, blas("cublasSetStream_v2")), load(blas_version, blas("cublasGetVersion_v2"));
    load(text_of, blas("cublasGetStatusString"));
    load(create_solver, solver_->symbol("cusolverDnCreate"));
    load(destroy_solver, solver_->symbol("cusolverDnDestroy"));
    load(set_solver_stream, solver_->symbol("cusolverDnSetStream"));
    load(solver_version, solver_->symbol("cusolverGetVersion"));
}

batched_functions batched_library::of(lowering::scalar_type type) const {
    using enum lowering::scalar_type;
    const char letter = type == f32 ? 'S' : type == f64 ? 'D' : type == c64 ? 'C' : 'Z';
    batched_functions f;
    const auto of_solver = [&](auto& to, const char* name) {
        load(to, solver_->symbol(fmt::format("cusolverDn{}{}Batched", letter, name).c_str()));
    };
    const auto of_blas = [&](auto& to, const char* name) {
        load(to, blas(fmt::format("cublas{}{}Batched", letter, name).c_str()));
    };
    of_solver(f.potrf, "potrf"), of_solver(f.potrs, "potrs");
    of_blas(f.getrf, "getrf"), of_blas(f.getrs, "getrs"), of_blas(f.getri, "getri"), of_blas(f.matinv, "matinv");
    of_blas(f.geqrf, "geqrf"), of_blas(f.gels, "gels"), of_blas(f.trsm, "trsm");
    return f;
}

void batched_library::check(cublasStatus_t status, const char* call) const {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw error(fmt::format("{}: {}", call, text_of(status)), blame::environment);
}

void batched_library::check_solver(solver_status status, const char* call) {
    if (status != 0) throw error(fmt::format("{}: cuSOLVER's status {}", call, status), blame::environment);
}

void* batched_library::blas(const char* name) const {
    void* const found = dlsym(blas_, name);
    if (!found) throw error(fmt::format("cuBLAS has no {}: it is too old", name), blame::environment);
    return found;
}

} // namespace ricci::bench::factor
