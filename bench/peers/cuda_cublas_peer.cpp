// cuda_cublas_peer: cuBLAS by every call that fits a product: GEMM, strided batches, batches by pointers.
#include "bench/device_memory.hpp"
#include "bench/peers/gemm_call.hpp"
#include "bench/peers/peer.hpp"

#include "runtime/cuda_context.hpp"
#include "runtime/cuda_library.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/backend.hpp>

#include <cublas_v2.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

namespace ricci::bench {

namespace {

using lowering::scalar_type;

// As in runtime/cuda_driver.hpp, the header's macros choose the version of each function.
#define RICCI_CUBLAS_FUNCTIONS(X)                                                                                    \
    X(cublasCreate)                                                                                                  \
    X(cublasDestroy)                                                                                                 \
    X(cublasGetVersion)                                                                                              \
    X(cublasGetStatusString)                                                                                         \
    X(cublasSetMathMode)                                                                                             \
    X(cublasSetStream)                                                                                               \
    X(cublasGemmEx_64)                                                                                               \
    X(cublasGemmBatchedEx_64)                                                                                        \
    X(cublasGemmStridedBatchedEx_64)

struct cublas_functions {
#define RICCI_MEMBER(name) decltype(&::name) name = nullptr;
    RICCI_CUBLAS_FUNCTIONS(RICCI_MEMBER)
#undef RICCI_MEMBER

    void check(cublasStatus_t status, const char* call) const {
        if (status != CUBLAS_STATUS_SUCCESS)
            throw error(fmt::format("{}: {}", call, cublasGetStatusString(status)), blame::environment);
    }
};

cublas_functions load() {
    const auto place = runtime::find_cuda_library(runtime::cublas_library, runtime::driver_version() / 1000);
    if (place.file.empty()) throw error("no cuBLAS: " + place.missing, blame::environment);
    void* const library = runtime::open_library(place.file, runtime::files_beside(place.file, "libcublasLt.so"));
    cublas_functions f;
#define RICCI_SYMBOL(name) #name
#define RICCI_LOAD(name)                                                                                             \
    f.name = reinterpret_cast<decltype(f.name)>(dlsym(library, RICCI_SYMBOL(name)));                                 \
    if (!f.name)                                                                                                     \
        throw error(fmt::format("{} has no {}: it is too old", place.file.string(), RICCI_SYMBOL(name)),             \
                    blame::environment);
    RICCI_CUBLAS_FUNCTIONS(RICCI_LOAD)
#undef RICCI_LOAD
#undef RICCI_SYMBOL
    return f;
}

cudaDataType_t data_type(scalar_type t) {
    constexpr cudaDataType_t types[] = {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
    return types[static_cast<int>(t)];
}

cublasOperation_t operation(char o) { return o == 'N' ? CUBLAS_OP_N : o == 'T' ? CUBLAS_OP_T : CUBLAS_OP_C; }

/// What every call of one contender is given, but for the operands. It is read from here during the calls.
struct call {
    gemm_call g;
    cublasOperation_t op_a{}, op_b{};
    cudaDataType_t ab_type{}, c_type{};
    cublasComputeType_t compute{};
    cublasMath_t mode = CUBLAS_DEFAULT_MATH;
    std::array<double, 2> alpha64{1, 0}, beta64{0, 0}; ///< a complex factor begins with its real part
    std::array<float, 2> alpha32{1, 0}, beta32{0, 0};
    std::int64_t in_bytes = 0, out_bytes = 0; ///< of an element

    const void* alpha() const { return wide() ? static_cast<const void*>(alpha64.data()) : alpha32.data(); }
    const void* beta() const { return wide() ? static_cast<const void*>(beta64.data()) : beta32.data(); }
    bool wide() const { return compute == CUBLAS_COMPUTE_64F; }
};

call make_call(const product& p, const gemm_call& g) {
    call c;
    c.g = g;
    c.op_a = operation(g.a.operation), c.op_b = operation(g.b.operation);
    c.ab_type = data_type(p.a.type), c.c_type = data_type(p.c.type);
    c.compute = lowering::real_of(compute_type(p)) == scalar_type::f64 ? CUBLAS_COMPUTE_64F
                : is_rounded(p)                                        ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                                       : CUBLAS_COMPUTE_32F;
    if (p.accumulate) c.beta64[0] = 1, c.beta32[0] = 1;
    c.in_bytes = lowering::size_of(p.a.type), c.out_bytes = lowering::size_of(p.c.type);
    return c;
}

/// Whether cuBLAS has a product of these types that sums in compute_type.
bool has_types(const product& p) {
    if (p.a.type != p.b.type) return false;
    return p.c.type == p.a.type || (lowering::size_of(p.a.type) == 2 && p.c.type == scalar_type::f32);
}

operand_set in_order(const gemm_call& g, const operand_set& set) {
    return g.swapped ? operand_set{set.b, set.a, set.c} : set;
}

/// To 4 bytes. Without, calls for half fail with a misaligned address (cuBLAS 13.1), and the whole process with them.
bool is_aligned(const operand_set& set) {
    const auto bits = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at); };
    return (bits(set.a) | bits(set.b) | bits(set.c)) % 4 == 0;
}

/// The addresses of every product's A, B and C, on the device: three arrays, one behind the other.
device_memory pointers(const call& c, const operand_set& set, device where) {
    const auto count = static_cast<std::size_t>(c.g.count);
    std::vector<const void*> all(3 * count);
    const auto fill = [&](std::size_t first, const void* data, std::int64_t stride, std::int64_t bytes,
                          bool in_order) {
        for (std::size_t e = 0; e < count; ++e) {
            const auto number = static_cast<std::int64_t>(e);
            all[first + e] =
                static_cast<const char*>(data) + (in_order ? number : c.g.place(number)) * stride * bytes;
        }
    };
    fill(0, set.a, c.g.a.batch_stride, c.in_bytes, false);
    fill(count, set.b, c.g.b.batch_stride, c.in_bytes, false);
    fill(2 * count, set.c, c.g.c.batch_stride, c.out_bytes, true);
    device_memory memory(where, all.size() * sizeof(void*));
    runtime::copy(where, memory.data(), cpu(), all.data(), memory.bytes());
    return memory;
}

class cublas_peer : public peer {
  public:
    explicit cublas_peer(device where)
        : where_(where), backend_(runtime::backend_of(where)),
          context_(runtime::retain_primary_context(where.code() - 1)), f_(load()) {
        const runtime::context_scope scope(runtime::driver(), context_);
        f_.check(f_.cublasCreate(&handle_), "cublasCreate");
    }
    ~cublas_peer() override { f_.cublasDestroy(handle_); }
    cublas_peer(const cublas_peer&) = delete;
    cublas_peer& operator=(const cublas_peer&) = delete;

    std::string version() const override {
        int number = 0;
        f_.cublasGetVersion(handle_, &number);
        return fmt::format("cuBLAS {}.{}.{}", number / 10000, number / 100 % 100, number % 100);
    }

    std::vector<contender> contenders(const product& p, std::span<const operand_set> given) override {
        const auto g = gemm_call_of(p);
        if (!g || !has_types(p)) return {};
        if (lowering::size_of(p.a.type) == 2)
            for (const operand_set& set : given)
                if (!is_aligned(set)) throw error("cuBLAS faults on 2-byte operands that are not aligned to 4 bytes");
        std::vector<operand_set> sets;
        for (const operand_set& set : given) sets.push_back(in_order(*g, set));
        std::vector<contender> all;
        const call c = make_call(p, *g);
        // As many bytes of addresses as of operands: they would only show that memory is slow.
        const bool lists_pay = p.places || static_cast<double>(g->count) * 3 * sizeof(void*) <= bytes_of(p);
        auto lists = std::make_shared<std::vector<device_memory>>();
        if (g->count > 1 && lists_pay)
            for (const operand_set& set : sets) lists->push_back(pointers(c, set, where_));
        offer(all, c, sets, lists, "");
        // Partial sums of 2-byte products may be rounded to 2 bytes by default, faster and less exact.
        if (lowering::size_of(p.a.type) == 2) {
            call exact = c;
            exact.mode =
                static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
            offer(all, exact, sets, lists, ", sums in f32");
        }
        return all;
    }

  private:
    void offer(std::vector<contender>& all, const call& c, const std::vector<operand_set>& sets,
               const std::shared_ptr<std::vector<device_memory>>& lists, const char* how) {
        const auto add = [&](const char* variant, auto run) {
            all.push_back({"cublas", fmt::format("{}{}", variant, how), std::move(run)});
        };
        if (c.g.count == 1) {
            add("gemm", [this, c, sets](std::size_t set) { gemm(c, sets[set]); });
            return;
        }
        if (!c.g.places) add("strided", [this, c, sets](std::size_t set) { strided(c, sets[set]); });
        if (!lists->empty()) add("pointers", [this, c, lists](std::size_t set) { by_pointers(c, (*lists)[set]); });
        if (const auto one = as_one_gemm(c.g)) {
            call all_at_once = c;
            all_at_once.g = *one;
            add("one gemm", [this, c = all_at_once, sets](std::size_t set) { gemm(c, sets[set]); });
        }
    }

    /// Stream and mode stay as set; both calls are cheap.
    void prepare(const call& c) {
        const auto stream = static_cast<cudaStream_t>(backend_.stream());
        f_.check(f_.cublasSetStream(handle_, stream), "cublasSetStream");
        f_.check(f_.cublasSetMathMode(handle_, c.mode), "cublasSetMathMode");
    }

    void gemm(const call& c, const operand_set& set) {
        const runtime::context_scope scope(runtime::driver(), context_);
        prepare(c);
        f_.check(f_.cublasGemmEx_64(handle_, c.op_a, c.op_b, c.g.m, c.g.n, c.g.k, c.alpha(), set.a, c.ab_type,
                                    c.g.a.leading, set.b, c.ab_type, c.g.b.leading, c.beta(), set.c, c.c_type,
                                    c.g.c.leading, c.compute, CUBLAS_GEMM_DEFAULT),
                 "cublasGemmEx");
    }

    void strided(const call& c, const operand_set& set) {
        const runtime::context_scope scope(runtime::driver(), context_);
        prepare(c);
        f_.check(f_.cublasGemmStridedBatchedEx_64(
                     handle_, c.op_a, c.op_b, c.g.m, c.g.n, c.g.k, c.alpha(), set.a, c.ab_type, c.g.a.leading,
                     c.g.a.batch_stride, set.b, c.ab_type, c.g.b.leading, c.g.b.batch_stride, c.beta(), set.c,
                     c.c_type, c.g.c.leading, c.g.c.batch_stride, c.g.count, c.compute, CUBLAS_GEMM_DEFAULT),
                 "cublasGemmStridedBatchedEx");
    }

    void by_pointers(const call& c, const device_memory& list) {
        const runtime::context_scope scope(runtime::driver(), context_);
        prepare(c);
        void** const first = reinterpret_cast<void**>(list.data());
        const void* const* const a = first;
        const void* const* const b = first + c.g.count;
        f_.check(f_.cublasGemmBatchedEx_64(handle_, c.op_a, c.op_b, c.g.m, c.g.n, c.g.k, c.alpha(), a, c.ab_type,
                                           c.g.a.leading, b, c.ab_type, c.g.b.leading, c.beta(),
                                           first + 2 * c.g.count, c.c_type, c.g.c.leading, c.g.count, c.compute,
                                           CUBLAS_GEMM_DEFAULT),
                 "cublasGemmBatchedEx");
    }

    device where_;
    runtime::backend& backend_;
    CUcontext context_;
    cublas_functions f_;
    cublasHandle_t handle_{};
};

} // namespace

std::unique_ptr<peer> make_cublas_peer(device where) { return std::make_unique<cublas_peer>(where); }

} // namespace ricci::bench
