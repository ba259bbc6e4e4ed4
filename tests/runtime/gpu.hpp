// gpu: what tests on a real GPU need: its backend, kernels from source, streams and graphs.
#pragma once

#include "runtime/backend.hpp"
#include "runtime/cuda_context.hpp"
#include "tests/skip.hpp"

#include <dlfcn.h>
#include <string>
#include <vector>

namespace ricci::test {

/// A program that includes this ends, as skipped, where no GPU can be used.
[[maybe_unused]] inline const bool has_gpu = skip_unless(runtime::cuda_device_count() > 0, "no GPU can be used");

inline runtime::backend& gpu() { return runtime::backend_of(cuda(0)); }

inline runtime::kernel_handle kernel(const std::string& source, const std::string& entry) {
    return gpu().load(gpu().jit().compile(source), entry);
}

/// A driver function that ricci itself does not call. `function` is its type's model, for the signature.
template <class Function>
Function* driver_function(Function*, const char* name) {
    return reinterpret_cast<Function*>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), name));
}
#define RICCI_TEXT(name) #name
#define RICCI_DRIVER(name) (ricci::test::driver_function(static_cast<decltype(&::name)>(nullptr), RICCI_TEXT(name)))

/// Device 0's primary context is current in its scope, as in a program that uses the CUDA runtime.
class context {
  public:
    context() : scope_(runtime::driver(), runtime::retain_primary_context(0)) {}

  private:
    runtime::context_scope scope_;
};

/// A stream that the null stream does not wait for, so that a missing order shows.
class stream {
  public:
    explicit stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
        const context current;
        runtime::check(RICCI_DRIVER(cuStreamCreate)(&stream_, flags), "cuStreamCreate");
    }
    ~stream() {
        gpu().set_stream(nullptr);
        RICCI_DRIVER(cuStreamDestroy)(stream_);
    }
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;
    operator CUstream() const { return stream_; }

    void begin_capture() const {
        runtime::check(RICCI_DRIVER(cuStreamBeginCapture)(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL),
                       "cuStreamBeginCapture");
    }
    CUgraph end_capture() const {
        CUgraph graph{};
        runtime::check(RICCI_DRIVER(cuStreamEndCapture)(stream_, &graph), "cuStreamEndCapture");
        return graph;
    }

  private:
    CUstream stream_{};
};

/// An executable graph.
class graph {
  public:
    explicit graph(CUgraph captured) : graph_(captured) {
        const context current;
        runtime::check(RICCI_DRIVER(cuGraphInstantiateWithFlags)(&executable_, captured, 0),
                       "cuGraphInstantiateWithFlags");
    }
    ~graph() {
        RICCI_DRIVER(cuGraphExecDestroy)(executable_);
        RICCI_DRIVER(cuGraphDestroy)(graph_);
    }
    graph(const graph&) = delete;
    graph& operator=(const graph&) = delete;
    void launch(CUstream on) const {
        const context current;
        runtime::check(RICCI_DRIVER(cuGraphLaunch)(executable_, on), "cuGraphLaunch");
    }

  private:
    CUgraph graph_;
    CUgraphExec executable_{};
};

/// Memory on the GPU, released at the end of its scope.
template <class T>
class buffer {
  public:
    explicit buffer(std::size_t size)
        : size_(size), data_(static_cast<T*>(gpu().allocate_zeroed(size * sizeof(T)))) {}
    explicit buffer(const std::vector<T>& values) : buffer(values.size()) {
        gpu().copy_in(data_, values.data(), size_ * sizeof(T));
    }
    ~buffer() { gpu().release(data_); }
    buffer(const buffer&) = delete;
    buffer& operator=(const buffer&) = delete;
    T* data() const { return data_; }
    std::uint64_t word() const { return reinterpret_cast<std::uint64_t>(data_); }
    std::size_t bytes() const { return size_ * sizeof(T); }
    std::vector<T> download() const {
        std::vector<T> values(size_);
        gpu().copy_out(values.data(), data_, bytes());
        return values;
    }

  private:
    std::size_t size_;
    T* data_;
};

inline void launch(runtime::kernel_handle k, runtime::launch_shape shape, const std::vector<std::uint64_t>& words) {
    gpu().launch(k, shape, words);
}

} // namespace ricci::test
