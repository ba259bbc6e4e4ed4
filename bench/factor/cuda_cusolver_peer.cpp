// cuda_cusolver_peer: NVIDIA's batched factorizations by arrays of pointers: cuSOLVER's of Cholesky, cuBLAS's of LU
// and QR, and their solves, where the libraries are found at run time.
#include "bench/device_memory.hpp"
#include "bench/factor/cuda_batched_library.hpp"
#include "bench/factor/factor_peer.hpp"

#include "runtime/cuda_context.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/backend.hpp>

#include <fmt/format.h>

#include <array>
#include <limits>

namespace ricci::bench::factor {

namespace {

using lowering::scalar_type;

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

/// Of one set, on the device: the address of each matrix of every array, and pivots that count from 1.
struct set_on_device {
    device_memory addresses, pivots;
    operand_addresses at;
    std::array<std::int64_t, at_work + 1> first{}; ///< of an array, in `addresses`

    void* const* of(operand_number operand) const {
        return reinterpret_cast<void* const*>(addresses.data()) + first[operand];
    }
    const void* const* read_only(operand_number operand) const { return of(operand); }
    int* own_pivots() const { return static_cast<int*>(at[at_vector]); }
    int* given_pivots() const { return reinterpret_cast<int*>(pivots.data()); }
    int* info() const { return static_cast<int*>(at[at_info]); }
};

set_on_device prepare(const problem& p, const operand_addresses& at, device where) {
    set_on_device out;
    out.at = at;
    std::vector<void*> all;
    const std::int64_t element = lowering::size_of(p.type);
    const auto add = [&](operand_number operand, std::int64_t elements) {
        out.first[operand] = static_cast<std::int64_t>(all.size());
        for (std::int64_t e = 0; e < p.batch; ++e)
            all.push_back(static_cast<char*>(at[operand]) + e * elements * element);
    };
    add(at_A, p.m * p.n);
    if (p.what == routine::inverse) add(at_original, p.m * p.n);
    if (p.what == routine::qr) add(at_vector, p.least());
    if (at.size() > at_X) add(at_X, p.n * p.columns());
    if (at.size() > at_work) add(at_work, p.longest() * p.sides);
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

constexpr std::int64_t largest_for_matinv = 32; ///< order

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
        return fmt::format("cuSOLVER {}.{}.{} for Cholesky, cuBLAS {}.{}.{} for LU, QR and triangles", solver / 1000,
                           solver / 100 % 10, solver % 100, blas / 10000, blas / 100 % 100, blas % 100);
    }

    std::vector<way> ways(const problem& p, const std::vector<operand_addresses>& given) override {
        call c;
        c.f = l_.of(p.type);
        c.m = int_of(p.m), c.n = int_of(p.n), c.sides = int_of(p.sides), c.count = int_of(p.batch);
        c.is_double = lowering::real_of(p.type) == scalar_type::f64;
        const auto sets = std::make_shared<std::vector<set_on_device>>();
        for (const operand_addresses& at : given) sets->push_back(prepare(p, at, where_));
        std::vector<way> all;
        const auto add = [&](const char* variant, auto run, const copies& spoils, const answer& leaves = {1}) {
            all.push_back({variant,
                           [this, c, sets, run](std::size_t set) {
                               const runtime::context_scope scope(runtime::driver(), context_);
                               use_stream();
                               (this->*run)(c, (*sets)[set]);
                           },
                           spoils, leaves});
        };
        constexpr copies matrices{true, false, false}, sides{false, true, false}, both{true, true, false};
        using self = cusolver_peer;
        switch (p.what) {
        case routine::cholesky:
            add("potrfBatched", &self::cholesky, matrices);
            break;
        case routine::lu:
            if (p.m == p.n) add("getrfBatched", &self::lu, matrices);
            break;
        case routine::qr:
            add("geqrfBatched", &self::qr, matrices);
            break;
        case routine::solve:
            add("getrfBatched, getrsBatched", &self::solve, both);
            break;
        case routine::solve_positive:
            if (p.sides == 1) add("potrfBatched, potrsBatched", &self::solve_positive, both); // it takes no more
            add("potrfBatched, trsmBatched twice", &self::solve_positive_by_triangles, both);
            break;
        case routine::least_squares:
            if (p.m >= p.n) add("gelsBatched", &self::least_squares, {true, false, true}, {1, at_work, p.longest()});
            break;
        case routine::inverse:
            if (p.n <= largest_for_matinv) add("matinvBatched", &self::inverse, {});
            add("getrfBatched, getriBatched", &self::inverse_by_lu, matrices);
            break;
        case routine::triangular_solve:
            add("trsmBatched", &self::triangular_solve, sides);
            break;
        case routine::cholesky_solve:
            if (p.sides == 1) add("potrsBatched", &self::cholesky_solve, sides);
            add("trsmBatched twice", &self::triangular_solves, sides);
            break;
        case routine::lu_solve:
            add("getrsBatched", &self::lu_solve, sides);
            break;
        case routine::qr_solve: // there is no batched ormqr
            break;
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
        l_.check_solver(c.f.potrf(solver_, CUBLAS_FILL_MODE_LOWER, c.n, s.of(at_A), c.n, s.info(), c.count),
                        "cusolverDnXpotrfBatched");
    }
    void lu(const call& c, const set_on_device& s) {
        l_.check(c.f.getrf(blas_, c.n, s.of(at_A), c.n, s.own_pivots(), s.info(), c.count), "cublasXgetrfBatched");
    }
    void qr(const call& c, const set_on_device& s) {
        int wrong_argument = 0;
        l_.check(c.f.geqrf(blas_, c.m, c.n, s.of(at_A), c.m, s.of(at_vector), &wrong_argument, c.count),
                 "cublasXgeqrfBatched");
    }
    void solve(const call& c, const set_on_device& s) {
        lu(c, s);
        substitute(c, s, s.own_pivots());
    }
    void solve_positive(const call& c, const set_on_device& s) {
        cholesky(c, s);
        cholesky_solve(c, s);
    }
    void solve_positive_by_triangles(const call& c, const set_on_device& s) {
        cholesky(c, s);
        triangular_solves(c, s);
    }
    void least_squares(const call& c, const set_on_device& s) {
        int wrong_argument = 0;
        l_.check(c.f.gels(blas_, CUBLAS_OP_N, c.m, c.n, c.sides, s.of(at_A), c.m, s.of(at_work), c.m, &wrong_argument,
                          s.info(), c.count),
                 "cublasXgelsBatched");
    }
    void inverse(const call& c, const set_on_device& s) {
        l_.check(c.f.matinv(blas_, c.n, s.read_only(at_original), c.n, s.of(at_X), c.n, s.info(), c.count),
                 "cublasXmatinvBatched");
    }
    void inverse_by_lu(const call& c, const set_on_device& s) {
        lu(c, s);
        l_.check(c.f.getri(blas_, c.n, s.read_only(at_A), c.n, s.own_pivots(), s.of(at_X), c.n, s.info(), c.count),
                 "cublasXgetriBatched");
    }
    void triangular_solve(const call& c, const set_on_device& s) { solve_with_lower(c, s, CUBLAS_OP_N); }
    void lu_solve(const call& c, const set_on_device& s) { substitute(c, s, s.given_pivots()); }
    void cholesky_solve(const call& c, const set_on_device& s) {
        l_.check_solver(c.f.potrs(solver_, CUBLAS_FILL_MODE_LOWER, c.n, c.sides, s.of(at_A), c.n, s.of(at_X), c.n,
                                  s.info(), c.count),
                        "cusolverDnXpotrsBatched");
    }
    void triangular_solves(const call& c, const set_on_device& s) {
        solve_with_lower(c, s, CUBLAS_OP_N);
        solve_with_lower(c, s, CUBLAS_OP_C);
    }
    void substitute(const call& c, const set_on_device& s, const int* pivots) {
        int wrong_argument = 0;
        l_.check(c.f.getrs(blas_, CUBLAS_OP_N, c.n, c.sides, s.read_only(at_A), c.n, pivots, s.of(at_X), c.n,
                           &wrong_argument, c.count),
                 "cublasXgetrsBatched");
    }
    void solve_with_lower(const call& c, const set_on_device& s, cublasOperation_t operation) {
        l_.check(c.f.trsm(blas_, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, operation, CUBLAS_DIAG_NON_UNIT, c.n,
                          c.sides, c.one(), s.read_only(at_A), c.n, s.of(at_X), c.n, c.count),
                 "cublasXtrsmBatched");
    }

    device where_;
    runtime::backend& backend_;
    CUcontext context_;
    batched_library l_;
    cublasHandle_t blas_{};
    solver_handle solver_ = nullptr;
};

} // namespace

std::unique_ptr<factor_peer> make_cusolver_peer(device where) { return std::make_unique<cusolver_peer>(where); }

} // namespace ricci::bench::factor
