// cuda_cudnn_peer: cuDNN 9 by the fastest of its algorithms, as its own search finds them, where its library is found
// at run time.
#include "bench/conv/convolution_peer.hpp"
#include "bench/conv/cuda_cudnn_api.hpp"
#include "bench/device_memory.hpp"
#include "bench/peers/cuda_peer_library.hpp"

#include "runtime/cuda_context.hpp"

#include <ricci/lowering/error.hpp>
#include <ricci/runtime/backend.hpp>
#include <ricci/runtime/math_mode.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ricci::bench::conv {

namespace {

using lowering::scalar_type;

#define RICCI_CUDNN_FUNCTIONS(X)                                                                                     \
    X(cudnnCreate)                                                                                                   \
    X(cudnnDestroy)                                                                                                  \
    X(cudnnGetVersion)                                                                                               \
    X(cudnnGetErrorString)                                                                                           \
    X(cudnnSetStream)                                                                                                \
    X(cudnnCreateTensorDescriptor)                                                                                   \
    X(cudnnDestroyTensorDescriptor)                                                                                  \
    X(cudnnSetTensor4dDescriptor)                                                                                    \
    X(cudnnCreateFilterDescriptor)                                                                                   \
    X(cudnnDestroyFilterDescriptor)                                                                                  \
    X(cudnnSetFilter4dDescriptor)                                                                                    \
    X(cudnnCreateConvolutionDescriptor)                                                                              \
    X(cudnnDestroyConvolutionDescriptor)                                                                             \
    X(cudnnSetConvolution2dDescriptor)                                                                               \
    X(cudnnSetConvolutionMathType)                                                                                   \
    X(cudnnCreateActivationDescriptor)                                                                               \
    X(cudnnDestroyActivationDescriptor)                                                                              \
    X(cudnnSetActivationDescriptor)                                                                                  \
    X(cudnnGetConvolutionForwardWorkspaceSize)                                                                       \
    X(cudnnFindConvolutionForwardAlgorithmEx)                                                                        \
    X(cudnnConvolutionForward)                                                                                       \
    X(cudnnConvolutionBiasActivationForward)                                                                         \
    X(cudnnAddTensor)                                                                                                \
    X(cudnnActivationForward)                                                                                        \
    X(cudnnTransformTensor)

struct cudnn_functions {
#define RICCI_MEMBER(name) decltype(&::name) name = nullptr;
    RICCI_CUDNN_FUNCTIONS(RICCI_MEMBER)
#undef RICCI_MEMBER

    void check(cudnnStatus_t status, const char* call) const {
        if (status != CUDNN_STATUS_SUCCESS)
            throw error(fmt::format("{}: {}", call, cudnnGetErrorString(status)), blame::environment);
    }
};

constexpr cuda_peer_library cudnn_library{"libcudnn.so.9", "RICCI_CUDNN", "nvidia/cudnn", "",
                                          "`pip install nvidia-cudnn-cu13`"};

cudnn_functions load() {
    const loaded_library library(cudnn_library, library_of_gemms());
    cudnn_functions f;
#define RICCI_LOAD(name) f.name = reinterpret_cast<decltype(f.name)>(library.symbol(#name));
    RICCI_CUDNN_FUNCTIONS(RICCI_LOAD)
#undef RICCI_LOAD
    return f;
}

template <class T>
using made_by_cudnn = owned<T, cudnnStatus_t>;

constexpr float one = 1, zero = 0;
constexpr int algorithms = CUDNN_CONVOLUTION_FWD_ALGO_COUNT;
constexpr std::size_t most_offered = 2; ///< algorithms: the search has no bias and no relu, which may change places

bool is_implicit_gemm(cudnnConvolutionFwdAlgo_t algorithm) {
    return algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
           algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
}

const char* name_of(cudnnConvolutionFwdAlgo_t algorithm) {
    static constexpr const char* names[] = {
        "implicit gemm", "implicit precomp gemm", "gemm", "direct", "fft", "fft tiling",
        "winograd",      "winograd nonfused"};
    const auto number = static_cast<std::size_t>(algorithm);
    return number < std::size(names) ? names[number] : "unknown";
}

/// How memory is laid out and what may be rounded.
struct manner {
    cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW;
    cudnnMathType_t math = CUDNN_FMA_MATH;
};

/// Where there are several.
const char* name_of(const manner& how) {
    return how.format == CUDNN_TENSOR_NHWC                     ? " nhwc"
           : how.math == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION ? " converting"
                                                               : "";
}

std::vector<manner> manners_of(scalar_type type, lowering::math_mode math) {
    if (type == scalar_type::f16)
        return {{CUDNN_TENSOR_NCHW, CUDNN_TENSOR_OP_MATH}, {CUDNN_TENSOR_NHWC, CUDNN_TENSOR_OP_MATH}};
    if (math == lowering::math_mode::tf32) // the second may round to half, which has as many digits
        return {{CUDNN_TENSOR_NCHW, CUDNN_TENSOR_OP_MATH},
                {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION}};
    return {{CUDNN_TENSOR_NCHW, CUDNN_FMA_MATH}};
}

/// An algorithm that the search found.
struct found_algorithm {
    cudnnConvolutionFwdAlgo_t algorithm{};
    std::size_t workspace = 0;
    cudnnMathType_t math{};
};

/// The operands of one set, in the order of the format.
struct layer_operands {
    const void *x = nullptr, *w = nullptr, *bias = nullptr;
    void* y = nullptr;
};

int size_of(std::int64_t n) {
    if (n > std::numeric_limits<int>::max()) throw error("cuDNN has no sizes above 2^31 - 1");
    return static_cast<int>(n);
}

/// Everything that is said of a layer before data comes.
class description {
  public:
    description(const cudnn_functions& f, const problem& p, const manner& how)
        : x(f.cudnnDestroyTensorDescriptor), y(f.cudnnDestroyTensorDescriptor), bias(f.cudnnDestroyTensorDescriptor),
          w(f.cudnnDestroyFilterDescriptor), convolution(f.cudnnDestroyConvolutionDescriptor),
          relu(f.cudnnDestroyActivationDescriptor) {
        const int B = size_of(p.batch), C = size_of(p.of.channels), K = size_of(p.of.filters),
                  H = size_of(p.of.height), W = size_of(p.of.width);
        constexpr int R = filter_side, pad = 1, stride = 1, dilation = 1;
        const cudnnDataType_t type = p.type == scalar_type::f16 ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
        const auto tensor = [&](auto& to, int n, int c, int h, int width) {
            f.check(f.cudnnCreateTensorDescriptor(to.made()), "cudnnCreateTensorDescriptor");
            f.check(f.cudnnSetTensor4dDescriptor(to.get(), how.format, type, n, c, h, width),
                    "cudnnSetTensor4dDescriptor");
        };
        tensor(x, B, C, H, W), tensor(y, B, K, H, W), tensor(bias, 1, K, 1, 1);
        f.check(f.cudnnCreateFilterDescriptor(w.made()), "cudnnCreateFilterDescriptor");
        f.check(f.cudnnSetFilter4dDescriptor(w.get(), type, how.format, K, C, R, R), "cudnnSetFilter4dDescriptor");
        f.check(f.cudnnCreateConvolutionDescriptor(convolution.made()), "cudnnCreateConvolutionDescriptor");
        f.check(f.cudnnSetConvolution2dDescriptor(convolution.get(), pad, pad, stride, stride, dilation, dilation,
                                                  CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
                "cudnnSetConvolution2dDescriptor");
        f.check(f.cudnnSetConvolutionMathType(convolution.get(), how.math), "cudnnSetConvolutionMathType");
        f.check(f.cudnnCreateActivationDescriptor(relu.made()), "cudnnCreateActivationDescriptor");
        f.check(f.cudnnSetActivationDescriptor(relu.get(), CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0),
                "cudnnSetActivationDescriptor");
    }

    made_by_cudnn<cudnnTensorDescriptor_t> x, y, bias;
    made_by_cudnn<cudnnFilterDescriptor_t> w;
    made_by_cudnn<cudnnConvolutionDescriptor_t> convolution;
    made_by_cudnn<cudnnActivationDescriptor_t> relu;
};

class cudnn_peer : public convolution_peer {
  public:
    cudnn_peer(std::string name, device where, cudnn_choice among)
        : name_(std::move(name)), among_(among), where_(where), backend_(runtime::backend_of(where)),
          context_(runtime::retain_primary_context(where.code() - 1)), f_(load()) {
        const runtime::context_scope scope(runtime::driver(), context_);
        f_.check(f_.cudnnCreate(&handle_), "cudnnCreate");
    }
    ~cudnn_peer() override { f_.cudnnDestroy(handle_); }
    cudnn_peer(const cudnn_peer&) = delete;
    cudnn_peer& operator=(const cudnn_peer&) = delete;

    std::string version() const override {
        const std::size_t number = f_.cudnnGetVersion();
        return fmt::format("cuDNN {}.{}.{}, the fastest of its {}", number / 10000, number / 100 % 100,
                           number % 100, among_ == cudnn_choice::all ? "algorithms" : "implicit GEMMs");
    }

    std::vector<contender> contenders(const problem& p, const std::vector<operand_addresses>& sets) override {
        const runtime::context_scope scope(runtime::driver(), context_);
        use_stream();
        std::vector<contender> all;
        std::size_t workspace = 1;
        std::string reason = "cuDNN has no algorithm for it";
        for (const manner& how : manners_of(p.type, runtime::chosen_math())) try {
                workspace = std::max(workspace, offer(all, p, how, sets));
            } catch (const error& e) { // another manner may do
                reason = e.what();
            }
        workspace_ = {}; // what was searched with may be all that there is, of which ricci wants some
        workspace_ = device_memory(where_, workspace);
        if (all.empty()) throw error(reason, blame::environment);
        return all;
    }

  private:
    /// What the contenders of one manner share.
    struct data {
        std::vector<layer_operands> sets;
        std::vector<device_memory> copies; ///< of operands in another order
        std::function<void()> show;        ///< puts the first set's results where they are checked
    };

    void use_stream() {
        f_.check(f_.cudnnSetStream(handle_, static_cast<CUstream>(backend_.stream())), "cudnnSetStream");
    }

    /// Returns the workspace that they want.
    std::size_t offer(std::vector<contender>& all, const problem& p, const manner& how,
                      const std::vector<operand_addresses>& sets) {
        std::size_t workspace = 0;
        const auto operands = std::make_shared<data>();
        for (const operand_addresses& at : sets)
            operands->sets.push_back({at[at_D], at[at_F], at[at_bias], at[at_O]});
        if (how.format == CUDNN_TENSOR_NHWC) reorder(p, *operands);
        for (const found_algorithm& found : search(p, how, operands->sets.front())) {
            const auto described = std::make_shared<const description>(f_, p, manner{how.format, found.math});
            const auto add =
                [&](const char* after,
                    void (cudnn_peer::*run)(const description&, const found_algorithm&, const layer_operands&)) {
                    contender c{name_, fmt::format("{}{}, {}", name_of(found.algorithm), name_of(how), after),
                                [this, described, found, operands, run](std::size_t set) {
                                    const runtime::context_scope scope(runtime::driver(), context_);
                                    use_stream();
                                    (this->*run)(*described, found, operands->sets[set]);
                                }};
                    c.show = operands->show;
                    all.push_back(std::move(c));
                };
            add("bias and relu in it", &cudnn_peer::run_fused);
            add("then bias and relu", &cudnn_peer::run_apart);
            workspace = std::max(workspace, found.workspace);
        }
        return workspace;
    }

    void transform(const made_by_cudnn<cudnnTensorDescriptor_t>& from, const void* x,
                   const made_by_cudnn<cudnnTensorDescriptor_t>& to, void* y) {
        f_.check(f_.cudnnTransformTensor(handle_, &one, from.get(), x, &zero, to.get(), y), "cudnnTransformTensor");
    }

    /// Copies with the channels fastest; results are copied back only to be checked.
    void reorder(const problem& p, data& operands) {
        problem filters = p; // as if they were pictures
        filters.batch = p.of.filters, filters.of.width = filters.of.height = filter_side;
        const auto describe = [&](const problem& of, cudnnTensorFormat_t format) {
            return std::make_shared<const description>(f_, of, manner{format, CUDNN_TENSOR_OP_MATH});
        };
        const auto plain = describe(p, CUDNN_TENSOR_NCHW), by_channel = describe(p, CUDNN_TENSOR_NHWC),
                   plain_filters = describe(filters, CUDNN_TENSOR_NCHW),
                   filters_by_channel = describe(filters, CUDNN_TENSOR_NHWC);
        const auto copy = [&](std::int64_t elements) {
            const auto bytes = static_cast<std::size_t>(elements * lowering::size_of(p.type));
            return operands.copies.emplace_back(where_, bytes).data();
        };
        void* const results = operands.sets.front().y;
        for (layer_operands& each : operands.sets) {
            void* const x = copy(p.of.pixels() * p.of.channels * p.batch);
            void* const w = copy(p.terms() * p.of.filters);
            transform(plain->x, each.x, by_channel->x, x);
            transform(plain_filters->x, each.w, filters_by_channel->x, w);
            each.x = x, each.w = w, each.y = copy(p.of.pixels() * p.of.filters * p.batch);
        }
        operands.show = [this, plain, by_channel, from = operands.sets.front().y, results] {
            const runtime::context_scope scope(runtime::driver(), context_);
            use_stream();
            transform(by_channel->y, from, plain->y, results);
        };
    }

    /// The fastest algorithms; found once for a layer, whatever it is compared with.
    const std::vector<found_algorithm>& search(const problem& p, const manner& how, const layer_operands& at) {
        const std::string key = fmt::format("{} {} {} {} {}", to_string(p.of), p.batch, lowering::name_of(p.type),
                                            static_cast<int>(how.format), static_cast<int>(how.math));
        const auto [place, is_new] = found_.try_emplace(key);
        if (!is_new) return place->second;
        const description d(f_, p, how);
        provide_at_most(most_workspace(d));
        constexpr int most = 2 * algorithms; // each with and without tensor cores
        cudnnConvolutionFwdAlgoPerf_t results[most];
        int count = 0;
        f_.check(f_.cudnnFindConvolutionForwardAlgorithmEx(handle_, d.x.get(), at.x, d.w.get(), at.w,
                                                           d.convolution.get(), d.y.get(), at.y, most, &count,
                                                           results, workspace_.data(), workspace_.bytes()),
                 "cudnnFindConvolutionForwardAlgorithmEx");
        const auto is_new_algorithm = [&](cudnnConvolutionFwdAlgo_t a) {
            return std::none_of(place->second.begin(), place->second.end(),
                                [&](const found_algorithm& other) { return other.algorithm == a; });
        };
        for (int n = 0; n < count && place->second.size() < most_offered; ++n) // the fastest first
            if (results[n].status == CUDNN_STATUS_SUCCESS && is_new_algorithm(results[n].algo) &&
                (among_ == cudnn_choice::all || is_implicit_gemm(results[n].algo)))
                place->second.push_back({results[n].algo, results[n].memory,
                                         how.math == CUDNN_FMA_MATH ? how.math : results[n].mathType});
        return place->second;
    }

    /// Of the algorithm that wants most.
    std::size_t most_workspace(const description& d) {
        std::size_t most = 0;
        for (int n = 0; n < algorithms; ++n) {
            std::size_t bytes = 0;
            if (f_.cudnnGetConvolutionForwardWorkspaceSize(handle_, d.x.get(), d.w.get(), d.convolution.get(),
                                                           d.y.get(), static_cast<cudnnConvolutionFwdAlgo_t>(n),
                                                           &bytes) == CUDNN_STATUS_SUCCESS)
                most = std::max(most, bytes);
        }
        return most;
    }

    void provide(std::size_t bytes) {
        if (workspace_.bytes() >= bytes) return;
        workspace_ = {}; // freed before the larger one is taken
        workspace_ = device_memory(where_, bytes);
    }

    /// As much as there is, down to what no algorithm notices.
    void provide_at_most(std::size_t bytes) {
        constexpr std::size_t little = 16 << 20;
        for (; bytes > little; bytes /= 2) try {
                return provide(bytes);
            } catch (const error&) { // half of it may be there
            }
        provide(std::max<std::size_t>(bytes, 1));
    }

    void run_fused(const description& d, const found_algorithm& by, const layer_operands& at) {
        f_.check(f_.cudnnConvolutionBiasActivationForward(handle_, &one, d.x.get(), at.x, d.w.get(), at.w,
                                                          d.convolution.get(), by.algorithm, workspace_.data(),
                                                          workspace_.bytes(), &zero, d.y.get(), at.y, d.bias.get(),
                                                          at.bias, d.relu.get(), d.y.get(), at.y),
                 "cudnnConvolutionBiasActivationForward");
    }

    void run_apart(const description& d, const found_algorithm& by, const layer_operands& at) {
        f_.check(f_.cudnnConvolutionForward(handle_, &one, d.x.get(), at.x, d.w.get(), at.w, d.convolution.get(),
                                            by.algorithm, workspace_.data(), workspace_.bytes(), &zero, d.y.get(),
                                            at.y),
                 "cudnnConvolutionForward");
        f_.check(f_.cudnnAddTensor(handle_, &one, d.bias.get(), at.bias, &one, d.y.get(), at.y), "cudnnAddTensor");
        f_.check(f_.cudnnActivationForward(handle_, d.relu.get(), &one, d.y.get(), at.y, &zero, d.y.get(), at.y),
                 "cudnnActivationForward");
    }

    std::string name_;
    cudnn_choice among_;
    device where_;
    runtime::backend& backend_;
    CUcontext context_;
    cudnn_functions f_;
    cudnnHandle_t handle_{};
    device_memory workspace_; ///< of all contenders
    std::map<std::string, std::vector<found_algorithm>> found_;
};

} // namespace

std::unique_ptr<convolution_peer> make_cudnn_peer(const std::string& name, device where, cudnn_choice among) {
    return std::make_unique<cudnn_peer>(name, where, among);
}

} // namespace ricci::bench::conv
