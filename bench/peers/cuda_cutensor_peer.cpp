// cuda_cutensor_peer: cuTENSOR 2 by one contraction, where its library is found at run time.
#include "bench/device_memory.hpp"
#include "bench/peers/cuda_cutensor_api.hpp"
#include "bench/peers/cuda_peer_library.hpp"
#include "bench/peers/peer.hpp"

#include "runtime/cuda_context.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/backend.hpp>

#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace ricci::bench {

namespace {

using lowering::scalar_type;

#define RICCI_CUTENSOR_FUNCTIONS(X)                                                                                  \
    X(cutensorCreate)                                                                                                \
    X(cutensorDestroy)                                                                                               \
    X(cutensorGetErrorString)                                                                                        \
    X(cutensorGetVersion)                                                                                            \
    X(cutensorCreateTensorDescriptor)                                                                                \
    X(cutensorDestroyTensorDescriptor)                                                                               \
    X(cutensorCreateContraction)                                                                                     \
    X(cutensorDestroyOperationDescriptor)                                                                            \
    X(cutensorCreatePlanPreference)                                                                                  \
    X(cutensorDestroyPlanPreference)                                                                                 \
    X(cutensorEstimateWorkspaceSize)                                                                                 \
    X(cutensorCreatePlan)                                                                                            \
    X(cutensorDestroyPlan)                                                                                           \
    X(cutensorContract)

struct cutensor_functions {
#define RICCI_MEMBER(name) decltype(&::name) name = nullptr;
    RICCI_CUTENSOR_FUNCTIONS(RICCI_MEMBER)
#undef RICCI_MEMBER
    cutensorComputeDescriptor_t in_f32{}, in_f64{}, in_tf32{}; ///< variables of the library

    void check(cutensorStatus_t status, const char* call) const {
        if (status != CUTENSOR_STATUS_SUCCESS)
            throw error(fmt::format("{}: {}", call, cutensorGetErrorString(status)), blame::environment);
    }
};

constexpr cuda_peer_library cutensor_library{"libcutensor.so.2", "RICCI_CUTENSOR", "cutensor", "libcutensor/*/",
                                             "`pip install cutensor-cu13`"};

cutensor_functions load() {
    const loaded_library library(cutensor_library, library_of_gemms());
    cutensor_functions f;
#define RICCI_LOAD(name) f.name = reinterpret_cast<decltype(f.name)>(library.symbol(#name));
    RICCI_CUTENSOR_FUNCTIONS(RICCI_LOAD)
#undef RICCI_LOAD
    f.in_f32 = *static_cast<const cutensorComputeDescriptor_t*>(library.symbol("CUTENSOR_COMPUTE_DESC_32F"));
    f.in_f64 = *static_cast<const cutensorComputeDescriptor_t*>(library.symbol("CUTENSOR_COMPUTE_DESC_64F"));
    f.in_tf32 = *static_cast<const cutensorComputeDescriptor_t*>(library.symbol("CUTENSOR_COMPUTE_DESC_TF32"));
    return f;
}

cudaDataType_t data_type(scalar_type t) {
    constexpr cudaDataType_t types[] = {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
    return types[static_cast<int>(t)];
}

/// The largest power of two, at most 256, that divides the address: what a descriptor may promise.
std::uint32_t alignment_of(const void* data) {
    const auto address = reinterpret_cast<std::uintptr_t>(data) | 256;
    return static_cast<std::uint32_t>(address & (~address + 1));
}

template <class T>
using made_by_cutensor = owned<T, cutensorStatus_t>;

/// One tensor's modes, named by letters.
struct tensor_modes {
    std::vector<std::int32_t> names;
    std::vector<std::int64_t> extents, strides;
    void add(char name, std::int64_t extent, std::int64_t stride) {
        names.push_back(name), extents.push_back(extent), strides.push_back(stride);
    }
};

tensor_modes modes_of(const product& p, const matrix& x, char row, std::int64_t rows, char column,
                      std::int64_t columns) {
    tensor_modes all;
    all.add(row, rows, x.row_stride);
    all.add(column, columns, x.column_stride);
    if (p.batched && x.batch_stride != 0) all.add('e', p.batch, x.batch_stride);
    return all;
}

class cutensor_peer : public peer {
  public:
    explicit cutensor_peer(device where)
        : where_(where), backend_(runtime::backend_of(where)),
          context_(runtime::retain_primary_context(where.code() - 1)), f_(load()) {
        const runtime::context_scope scope(runtime::driver(), context_);
        f_.check(f_.cutensorCreate(&handle_), "cutensorCreate");
    }
    ~cutensor_peer() override { f_.cutensorDestroy(handle_); }
    cutensor_peer(const cutensor_peer&) = delete;
    cutensor_peer& operator=(const cutensor_peer&) = delete;

    std::string version() const override {
        const std::size_t number = f_.cutensorGetVersion();
        return fmt::format("cuTENSOR {}.{}.{}", number / 10000, number / 100 % 100, number % 100);
    }

    std::vector<contender> contenders(const product& p, std::span<const operand_set> sets) override {
        if (p.places) return {};
        if (p.a.type != p.b.type || p.a.type != p.c.type) return {}; // it has no contraction of such types
        const runtime::context_scope scope(runtime::driver(), context_);
        auto made = std::make_shared<prepared>(f_);
        plan(*made, p, sets);
        std::vector<operand_set> operands(sets.begin(), sets.end());
        return {{"cutensor", "",
                 [this, made, operands = std::move(operands)](std::size_t set) { run(*made, operands[set]); }}};
    }

  private:
    struct prepared {
        explicit prepared(const cutensor_functions& f) : plan(f.cutensorDestroyPlan) {}
        made_by_cutensor<cutensorPlan_t> plan;
        device_memory workspace;
        bool wide = false;
        std::array<double, 2> alpha64{1, 0}, beta64{0, 0}; ///< a complex factor begins with its real part
        std::array<float, 2> alpha32{1, 0}, beta32{0, 0};
    };

    void describe(made_by_cutensor<cutensorTensorDescriptor_t>& out, const tensor_modes& modes, scalar_type type,
                  std::uint32_t alignment) {
        f_.check(
            f_.cutensorCreateTensorDescriptor(handle_, out.made(), static_cast<std::uint32_t>(modes.names.size()),
                                              modes.extents.data(), modes.strides.data(), data_type(type), alignment),
            "cutensorCreateTensorDescriptor");
    }

    void plan(prepared& out, const product& p, std::span<const operand_set> sets) {
        std::uint32_t a_alignment = 256, b_alignment = 256, c_alignment = 256; // of all sets
        for (const operand_set& set : sets) {
            a_alignment = std::min(a_alignment, alignment_of(set.a));
            b_alignment = std::min(b_alignment, alignment_of(set.b));
            c_alignment = std::min(c_alignment, alignment_of(set.c));
        }
        const tensor_modes in_a = modes_of(p, p.a, 'i', p.m, 'k', p.k), in_b = modes_of(p, p.b, 'k', p.k, 'j', p.n),
                           in_c = modes_of(p, p.c, 'i', p.m, 'j', p.n);
        made_by_cutensor<cutensorTensorDescriptor_t> a(f_.cutensorDestroyTensorDescriptor),
            b(f_.cutensorDestroyTensorDescriptor), c(f_.cutensorDestroyTensorDescriptor);
        describe(a, in_a, p.a.type, a_alignment);
        describe(b, in_b, p.b.type, b_alignment);
        describe(c, in_c, p.c.type, c_alignment);

        out.wide = lowering::real_of(compute_type(p)) == scalar_type::f64;
        if (p.accumulate) out.beta64[0] = 1, out.beta32[0] = 1;
        const auto conjugated = [](bool yes) { return yes ? CUTENSOR_OP_CONJ : CUTENSOR_OP_IDENTITY; };
        made_by_cutensor<cutensorOperationDescriptor_t> operation(f_.cutensorDestroyOperationDescriptor);
        f_.check(f_.cutensorCreateContraction(handle_, operation.made(), a.get(), in_a.names.data(),
                                              conjugated(p.a_conjugated), b.get(), in_b.names.data(),
                                              conjugated(p.b_conjugated), c.get(), in_c.names.data(),
                                              CUTENSOR_OP_IDENTITY, c.get(), in_c.names.data(),
                                              out.wide        ? f_.in_f64
                                              : is_rounded(p) ? f_.in_tf32
                                                              : f_.in_f32),
                 "cutensorCreateContraction");
        made_by_cutensor<cutensorPlanPreference_t> preference(f_.cutensorDestroyPlanPreference);
        f_.check(f_.cutensorCreatePlanPreference(handle_, preference.made(), CUTENSOR_ALGO_DEFAULT,
                                                 CUTENSOR_JIT_MODE_NONE),
                 "cutensorCreatePlanPreference");
        std::uint64_t bytes = 0;
        f_.check(f_.cutensorEstimateWorkspaceSize(handle_, operation.get(), preference.get(),
                                                  CUTENSOR_WORKSPACE_DEFAULT, &bytes),
                 "cutensorEstimateWorkspaceSize");
        f_.check(f_.cutensorCreatePlan(handle_, out.plan.made(), operation.get(), preference.get(), bytes),
                 "cutensorCreatePlan");
        if (bytes > 0) out.workspace = device_memory(where_, bytes);
    }

    void run(const prepared& p, const operand_set& set) {
        const runtime::context_scope scope(runtime::driver(), context_);
        const void* const alpha = p.wide ? static_cast<const void*>(p.alpha64.data()) : p.alpha32.data();
        const void* const beta = p.wide ? static_cast<const void*>(p.beta64.data()) : p.beta32.data();
        f_.check(f_.cutensorContract(handle_, p.plan.get(), alpha, set.a, set.b, beta, set.c, set.c,
                                     p.workspace.data(), p.workspace.bytes(),
                                     static_cast<CUstream>(backend_.stream())),
                 "cutensorContract");
    }

    device where_;
    runtime::backend& backend_;
    CUcontext context_;
    cutensor_functions f_;
    cutensorHandle_t handle_{};
};

} // namespace

std::unique_ptr<peer> make_cutensor_peer(device where) { return std::make_unique<cutensor_peer>(where); }

} // namespace ricci::bench
