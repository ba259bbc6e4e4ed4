// cuda_cusolver_peer: NVIDIA's batched factorizations by arrays of pointers: cuSOLVER's of Cholesky, cuBLAS's of LU
// and QR, where the libraries are found at run time.
#include "bench/device_memory.hpp"
#include "bench/factor/factor_peer.hpp"
#include "bench/peers/cuda_peer_library.hpp"

#include "runtime/cuda_context.hpp"
#include "runtime/cuda_library.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/backend.hpp>

#include <cublas_v2.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace ricci::bench::factor {

namespace {

using lowering::scalar_type;

// cuSOLVER's header is not always there with cuBLAS's; of what is called here, little is to be declared.
using solver_handle = void*;
using solver_status = int;

/// The functions of one type. For all types alike: what they differ in are pointers.
struct batched_functions {
    solver_status (*potrf)(solver_handle, cublasFillMode_t, int n, void* const* a, int lda, int* info,
                           int count) = nullptr;
    solver_status (*potrs)(solver_handle, cublasFillMode_t, int n, int sides, void* const* a, int lda,
                           void* const* b, int ldb, int* info, int count) = nullptr;
    cublasStatus_t (*getrf)(cublasHandle_t, int n, void* const* a, int lda, int* pivots, int* info,
                            int count) = nullptr;
    cublasStatus_t (*getrs)(cublasHandle_t, cublasOperation_t, int n, int sides, const void* const* a, int lda,
                            const int* pivots, void* const* b, int ldb, int* host_info, int count) = nullptr;
    cublasStatus_t (*geqrf)(cublasHandle_t, int m, int n, void* const* a, int lda, void* const* tau, int* host_info,
                            int count) = nullptr;
    cublasStatus_t (*trsm)(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t,
                           int m, int n, const void* alpha, const void* const* a, int lda, void* const* b, int ldb,
                           int count) = nullptr;
};

constexpr std::array solver_files{"libcusolver.so.12", "libcusolver.so.11"}; // of CUDA 13, and of 12

constexpr cuda_peer_library solver_library(const char* file) {
    return {file, "RICCI_CUSOLVER", "nvidia/*", "", "`pip install nvidia-cusolver`"};
}

/// Both libraries, and the functions that are of no type.
class libraries {
  public:
    libraries() {
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
        load(create_solver, solver_->symbol("cusolverDnCreate")),
            load(destroy_solver, solver_->symbol("cusolverDnDestroy"));
        load(set_solver_stream, solver_->symbol("cusolverDnSetStream"));
        load(solver_version, solver_->symbol("cusolverGetVersion"));
    }

    batched_functions of(scalar_type type) const {
        using enum scalar_type;
        const char letter = type == f32 ? 'S' : type == f64 ? 'D' : type == c64 ? 'C' : 'Z';
        batched_functions f;
        const auto of_solver = [&](auto& to, const char* name) {
            load(to, solver_->symbol(fmt::format("cusolverDn{}{}Batched", letter, name).c_str()));
        };
        const auto of_blas = [&](auto& to, const char* name) {
            load(to, blas(fmt::format("cublas{}{}Batched", letter, name).c_str()));
        };
        of_solver(f.potrf, "potrf"), of_solver(f.potrs, "potrs");
        of_blas(f.getrf, "getrf"), of_blas(f.getrs, "getrs"), of_blas(f.geqrf, "geqrf"), of_blas(f.trsm, "trsm");
        return f;
    }

    void check(cublasStatus_t status, const char* call) const {
        if (status != CUBLAS_STATUS_SUCCESS)
            throw error(fmt::format("{}: {}", call, text_of(status)), blame::environment);
    }
    static void check_solver(solver_status status, const char* call) {
        if (status != 0) throw error(fmt::format("{}: cuSOLVER's status {}", call, status), blame::environment);
    }

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
    template <class F>
    static void load(F*& to, void* symbol) {
        to = reinterpret_cast<F*>(symbol);
    }
    void* blas(const char* name) const {
        void* const found = dlsym(blas_, name);
        if (!found) throw error(fmt::format("cuBLAS has no {}: it is too old", name), blame::environment);
        return found;
    }

    void* blas_ = nullptr;
    std::optional<loaded_library> solver_;
};

int int_of(std::int64_t size) {
    if (size > std::numeric_limits<int>::max()) throw error("cuSOLVER has no sizes above 2^31 - 1");
    return static_cast<int>(size);
}

/// What every call is given, but for the set.
struct call {
    batched_functions f;
    int m = 0, n = 0, sides = 0, count = 0;
    std::array<double, 2> one64{1, 0}; ///< a complex number begins with its real part
    std::array<float, 2> one32{1, 0};
    bool is_double = true;

    const void* one() const { return is_double ? static_cast<const void*>(one64.data()) : one32.data(); }
};

/// Of one set, on the device: the address of every matrix, tau and right-hand side, and pivots that count from 1.
struct set_on_device {
    device_memory addresses, pivots;
    std::array<std::int64_t, 3> first{}; ///< in `addresses`
    operand_addresses at;

    void* const* matrices() const { return list(0); }
    void* const* taus() const { return list(1); }
    void* const* solutions() const { return list(2); }
    int* own_pivots() const { return static_cast<int*>(at[at_vector]); }
    int* given_pivots() const { return reinterpret_cast<int*>(pivots.data()); }
    int* info() const { return static_cast<int*>(at[at_info]); }

  private:
    void* const* list(std::size_t which) const {
        return reinterpret_cast<void* const*>(addresses.data()) + first[which];
    }
};

set_on_device prepare(const problem& p, const operand_addresses& at, device where) {
    set_on_device out;
    out.at = at;
    std::vector<void*> all;
    const std::int64_t element = lowering::size_of(p.type);
    const auto add = [&](std::size_t which, operand_number operand, std::int64_t elements) {
        out.first[which] = static_cast<std::int64_t>(all.size());
        for (std::int64_t e = 0; e < p.batch; ++e)
            all.push_back(static_cast<char*>(at[operand]) + e * elements * element);
    };
    add(0, at_A, p.m * p.n);
    if (p.what == routine::qr) add(1, at_vector, p.least());
    if (solves(p.what)) add(2, at_X, p.n * p.sides);
    const auto put = [&](device_memory& to, const void* from, std::size_t bytes) {
        to = device_memory(where, bytes);
        runtime::copy(where, to.data(), cpu(), from, bytes);
    };
    put(out.addresses, all.data(), all.size() * sizeof(void*));
    if (p.what == routine::lu_solve) {
        const auto pivots = pivots_from_one(p, at, where);
        put(out.pivots, pivots.data(), pivots.size() * sizeof(std::int32_t));
    }
    return out;
}

class cusolver_peer : public factor_peer {
  public:
    explicit cusolver_peer(device where)
        : where_(where), backend_(runtime::backend_of(where)),
          context_(runtime::retain_primary_context(where.code() - 1)) {
        const runtime::context_scope scope(runtime::driver(), context_);
        l_.check(l_.create_blas(&blas_), "cublasCreate");
        const solver_status status = l_.create_solver(&solver_);
        if (status != 0) l_.destroy_blas(blas_);
        l_.check_solver(status, "cusolverDnCreate");
    }
    ~cusolver_peer() override { l_.destroy_solver(solver_), l_.destroy_blas(blas_); }
    cusolver_peer(const cusolver_peer&) = delete;
    cusolver_peer& operator=(const cusolver_peer&) = delete;

    std::string version() const override {
        int solver = 0, blas = 0;
        l_.solver_version(&solver), l_.blas_version(blas_, &blas);
        return fmt::format("cuSOLVER {}.{}.{} for Cholesky, cuBLAS {}.{}.{} for LU and QR", solver / 1000,
                           solver / 100 % 10, solver % 100, blas / 10000, blas / 100 % 100, blas % 100);
    }

    std::vector<way> ways(const problem& p, const std::vector<operand_addresses>& given) override {
        if (p.what == routine::lu && p.m != p.n) return {}; // it has none of them in batches
        call c;
        c.f = l_.of(p.type);
        c.m = int_of(p.m), c.n = int_of(p.n), c.sides = int_of(p.sides), c.count = int_of(p.batch);
        c.is_double = lowering::real_of(p.type) == scalar_type::f64;
        const auto sets = std::make_shared<std::vector<set_on_device>>();
        for (const operand_addresses& at : given) sets->push_back(prepare(p, at, where_));
        std::vector<way> all;
        const auto add = [&](const char* variant, auto run) {
            all.push_back({variant,
                           [this, c, sets, run](std::size_t set) {
                               const runtime::context_scope scope(runtime::driver(), context_);
                               use_stream();
                               (this->*run)(c, (*sets)[set]);
                           },
                           p.what == routine::solve, 1});
        };
        switch (p.what) {
        case routine::cholesky:
            add("potrfBatched", &cusolver_peer::cholesky);
            break;
        case routine::lu:
            add("getrfBatched", &cusolver_peer::lu);
            break;
        case routine::qr:
            add("geqrfBatched", &cusolver_peer::qr);
            break;
        case routine::solve:
            add("getrfBatched, getrsBatched", &cusolver_peer::solve);
            break;
        case routine::lu_solve:
            add("getrsBatched", &cusolver_peer::lu_solve);
            break;
        default:
            if (p.sides == 1) add("potrsBatched", &cusolver_peer::cholesky_solve); // it takes no more
            add("trsmBatched twice", &cusolver_peer::triangular_solves);
        }
        return all;
    }

  private:
    void use_stream() {
        const auto stream = static_cast<CUstream>(backend_.stream());
        l_.check(l_.set_blas_stream(blas_, stream), "cublasSetStream");
        l_.check_solver(l_.set_solver_stream(solver_, stream), "cusolverDnSetStream");
    }

    void cholesky(const call& c, const set_on_device& s) {
        l_.check_solver(c.f.potrf(solver_, CUBLAS_FILL_MODE_LOWER, c.n, s.matrices(), c.n, s.info(), c.count),
                        "cusolverDnXpotrfBatched");
    }
    void lu(const call& c, const set_on_device& s) {
        l_.check(c.f.getrf(blas_, c.n, s.matrices(), c.n, s.own_pivots(), s.info(), c.count), "cublasXgetrfBatched");
    }
    void qr(const call& c, const set_on_device& s) {
        int wrong_argument = 0;
        l_.check(c.f.geqrf(blas_, c.m, c.n, s.matrices(), c.m, s.taus(), &wrong_argument, c.count),
                 "cublasXgeqrfBatched");
    }
    void solve(const call& c, const set_on_device& s) {
        lu(c, s);
        substitute(c, s, s.own_pivots());
    }
    void lu_solve(const call& c, const set_on_device& s) { substitute(c, s, s.given_pivots()); }
    void substitute(const call& c, const set_on_device& s, const int* pivots) {
        int wrong_argument = 0;
        l_.check(c.f.getrs(blas_, CUBLAS_OP_N, c.n, c.sides, s.matrices(), c.n, pivots, s.solutions(), c.n,
                           &wrong_argument, c.count),
                 "cublasXgetrsBatched");
    }
    void cholesky_solve(const call& c, const set_on_device& s) {
        l_.check_solver(c.f.potrs(solver_, CUBLAS_FILL_MODE_LOWER, c.n, c.sides, s.matrices(), c.n, s.solutions(),
                                  c.n, s.info(), c.count),
                        "cusolverDnXpotrsBatched");
    }
    void triangular_solves(const call& c, const set_on_device& s) {
        for (const cublasOperation_t operation : {CUBLAS_OP_N, CUBLAS_OP_C})
            l_.check(c.f.trsm(blas_, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, operation, CUBLAS_DIAG_NON_UNIT, c.n,
                              c.sides, c.one(), s.matrices(), c.n, s.solutions(), c.n, c.count),
                     "cublasXtrsmBatched");
    }

    device where_;
    runtime::backend& backend_;
    CUcontext context_;
    libraries l_;
    cublasHandle_t blas_{};
    solver_handle solver_ = nullptr;
};

} // namespace

std::unique_ptr<factor_peer> make_cusolver_peer(device where) { return std::make_unique<cusolver_peer>(where); }

} // namespace ricci::bench::factor
