// cublas: matrix products by cuBLAS, loaded at run time on the first one.
#include "runtime/cublas.hpp"

#include "lowering/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/cuda_context.hpp"
#include "runtime/cuda_library.hpp"

#include <array>
#include <cublas_v2.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <mutex>
#include <vector>

namespace ricci::runtime {

namespace {

using lowering::scalar_type;

// The _64 functions take sizes above 2^31 - 1; CUDA 12 brought them. As in cuda_driver.hpp, <cublas_v2.h>'s macros
// choose.
#define RICCI_CUBLAS_FUNCTIONS(X)                                                                                    \
    X(cublasCreate)                                                                                                  \
    X(cublasGetStatusString)                                                                                         \
    X(cublasSetMathMode)                                                                                             \
    X(cublasSetStream)                                                                                               \
    X(cublasSetWorkspace)                                                                                            \
    X(cublasGemmEx_64)                                                                                               \
    X(cublasGemmStridedBatchedEx_64)

struct cublas_functions {
#define RICCI_MEMBER(name) decltype(&::name) name = nullptr;
    RICCI_CUBLAS_FUNCTIONS(RICCI_MEMBER)
#undef RICCI_MEMBER
    std::filesystem::path path;

    void check(cublasStatus_t status, const char* call) const {
        if (status != CUBLAS_STATUS_SUCCESS) [[unlikely]]
            library_failure("cuBLAS", call, status, cublasGetStatusString(status));
    }
};

const cublas_functions& cublas() {
    static const cublas_functions* const once = [] {
        auto place = find_cuda_library(cublas_library, driver_version() / 1000);
        if (place.file.empty()) throw error("no cuBLAS: " + place.missing, blame::environment);
        void* library = open_library(place.file, files_beside(place.file, "libcublasLt.so"));
        auto* f = new cublas_functions;
#define RICCI_SYMBOL(name) #name
#define RICCI_LOAD(name)                                                                                             \
    f->name = reinterpret_cast<decltype(f->name)>(dlsym(library, RICCI_SYMBOL(name)));                               \
    if (!f->name)                                                                                                    \
        throw error(fmt::format("{} has no {}: it is too old", place.file.string(), RICCI_SYMBOL(name)),             \
                    blame::environment);
        RICCI_CUBLAS_FUNCTIONS(RICCI_LOAD)
#undef RICCI_LOAD
#undef RICCI_SYMBOL
        f->path = std::move(place.file);
        return f;
    }();
    return *once;
}

/// A handle serves one thread at a time. When its thread ends it goes back, since to make one takes milliseconds.
struct lease {
    CUcontext context{};
    cublasHandle_t handle{};
};

struct idle_leases {
    std::mutex mutex;
    std::array<std::vector<lease>, max_cuda_devices> of_device;
};

idle_leases& idle() {
    static auto& all = *new idle_leases; // threads may end after static destructors
    return all;
}

struct thread_leases {
    std::array<lease, max_cuda_devices> of_device{};
    ~thread_leases() {
        const std::lock_guard lock(idle().mutex);
        for (std::size_t i = 0; i < of_device.size(); ++i)
            if (of_device[i].handle) idle().of_device[i].push_back(of_device[i]);
    }
};

lease make_lease(int ordinal) {
    lease l;
    l.context = retain_primary_context(ordinal);
    const context_scope scope(driver(), l.context);
    const cublas_functions& f = cublas();
    // cublasCreate allocates, which a capture of any thread forbids unless this thread says that it knows.
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    check(driver().cuThreadExchangeStreamCaptureMode(&mode), "cuThreadExchangeStreamCaptureMode");
    const cublasStatus_t made = f.cublasCreate(&l.handle);
    driver().cuThreadExchangeStreamCaptureMode(&mode);
    f.check(made, "cublasCreate");
    // f32 in f32 but where a call says otherwise; and partial sums of 2-byte products in float too.
    f.check(f.cublasSetMathMode(
                l.handle,
                static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
            "cublasSetMathMode");
    return l;
}

const lease& lease_of(int ordinal) {
    thread_local thread_leases mine;
    const auto i = static_cast<std::size_t>(ordinal);
    lease& l = mine.of_device[i];
    if (l.handle) return l;
    {
        const std::lock_guard lock(idle().mutex);
        if (auto& free = idle().of_device[i]; !free.empty()) {
            l = free.back();
            free.pop_back();
            return l;
        }
    }
    return l = make_lease(ordinal);
}

cudaDataType_t data_type(scalar_type t) {
    constexpr cudaDataType_t types[] = {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
    return types[static_cast<int>(t)];
}

cublasOperation_t operation(char transpose) {
    return transpose == 'N' ? CUBLAS_OP_N : transpose == 'T' ? CUBLAS_OP_T : CUBLAS_OP_C;
}

/// alpha and beta in the type that cuBLAS reads them in, which is the compute type.
struct factor {
    double f64[2];
    float f32[2];
    explicit factor(std::complex<double> value)
        : f64{value.real(), value.imag()}, f32{static_cast<float>(value.real()), static_cast<float>(value.imag())} {}
    const void* in(scalar_type compute) const {
        return lowering::real_of(compute) == scalar_type::f64 ? static_cast<const void*>(f64) : f32;
    }
};

/// Memory of the stream that lasts for one call, where a graph is captured: cuBLAS's own would be shared by the
/// graph's replays and what else runs then. Elsewhere it is left to cuBLAS, since allocating and releasing took 0.6
/// us of the stream's time (H100).
class workspace {
  public:
    static constexpr std::size_t bytes = 32 << 20; ///< what NVIDIA recommends for sm_90; older GPUs ask for less
    explicit workspace(backend& b) : backend_(b), memory_(b.capturing() ? b.allocate(bytes) : nullptr) {}
    ~workspace() {
        if (memory_) backend_.release(memory_);
    }
    workspace(const workspace&) = delete;
    workspace& operator=(const workspace&) = delete;
    void* memory() const { return memory_; }

  private:
    backend& backend_;
    void* memory_;
};

} // namespace

bool cublas_takes(const gemm_problem& g) {
    using enum scalar_type;
    if (g.a.type != g.b.type || g.compute != lowering::accumulator(g.a.type)) return false;
    return g.c.type == g.a.type || (lowering::size_of(g.a.type) == 2 && g.c.type == f32);
}

void cublas_gemm(device d, const gemm_problem& g) {
    if (g.m == 0 || g.n == 0 || g.count == 0) return;
    if (!cublas_takes(g))
        throw error(fmt::format("cuBLAS has no product {} x {} -> {} summed in {}", name_of(g.a.type),
                                name_of(g.b.type), name_of(g.c.type), name_of(g.compute)));
    backend& b = backend_of(d);
    const lease& l = lease_of(d.code() - 1);
    const cublas_functions& f = cublas();
    const context_scope scope(driver(), l.context);
    const workspace space(b);
    // and cuBLAS's own workspace
    f.check(f.cublasSetStream(l.handle, static_cast<cudaStream_t>(b.stream())), "cublasSetStream");
    if (space.memory())
        f.check(f.cublasSetWorkspace(l.handle, space.memory(), workspace::bytes), "cublasSetWorkspace");

    const auto mode = lowering::real_of(g.compute) == scalar_type::f64 ? CUBLAS_COMPUTE_64F
                      : g.math == lowering::math_mode::tf32            ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                                       : CUBLAS_COMPUTE_32F;
    const factor alpha(g.alpha), beta(g.beta);
    void* c = const_cast<void*>(g.c.data);
    if (g.count == 1)
        f.check(f.cublasGemmEx_64(l.handle, operation(g.a.transpose), operation(g.b.transpose), g.m, g.n, g.k,
                                  alpha.in(g.compute), g.a.data, data_type(g.a.type), g.a.leading, g.b.data,
                                  data_type(g.b.type), g.b.leading, beta.in(g.compute), c, data_type(g.c.type),
                                  g.c.leading, mode, CUBLAS_GEMM_DEFAULT),
                "cublasGemmEx_64");
    else
        f.check(f.cublasGemmStridedBatchedEx_64(l.handle, operation(g.a.transpose), operation(g.b.transpose), g.m,
                                                g.n, g.k, alpha.in(g.compute), g.a.data, data_type(g.a.type),
                                                g.a.leading, g.a.stride, g.b.data, data_type(g.b.type), g.b.leading,
                                                g.b.stride, beta.in(g.compute), c, data_type(g.c.type), g.c.leading,
                                                g.c.stride, g.count, mode, CUBLAS_GEMM_DEFAULT),
                "cublasGemmStridedBatchedEx_64");
}

} // namespace ricci::runtime
