// cuda_backend: memory, kernels and streams of one NVIDIA GPU, by way of the driver alone.
#include "lowering/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/cublas.hpp"
#include "runtime/cuda_boxes.hpp"
#include "runtime/cuda_constants.hpp"
#include "runtime/cuda_context.hpp"
#include "runtime/cuda_library.hpp"
#include "runtime/cuda_machine.hpp"
#include "runtime/nvrtc_compiler.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <fmt/format.h>
#include <functional>
#include <mutex>
#include <unordered_set>
#include <vector>

namespace ricci::runtime {

namespace {

constexpr std::int64_t max_grid_x = 2147483647, max_grid_y = 65535; // of every GPU since compute capability 3.0

/// Captured launches may start early from CUDA 12.3 on.
constexpr int first_early_start_in_graphs = 12030;

struct kernel {
    CUfunction function{};
    std::string name;
    std::unique_ptr<constant_kernel> with_constants; ///< null where it has none
};

/// This thread's stream on a device. Null is the legacy default stream: a user's own kernels and copies are ordered
/// with ours.
struct thread_stream {
    CUstream stream = nullptr;
    bool busy = false; ///< something was given to it since this thread last waited for it
};

constinit thread_local std::array<thread_stream, max_cuda_devices> thread_streams{};

/// Two events that time what lies between them.
struct event_pair {
    explicit event_pair(const cuda_driver& d) : driver(d) {
        check(d.cuEventCreate(&begin, CU_EVENT_DEFAULT), "cuEventCreate");
        if (const CUresult result = d.cuEventCreate(&end, CU_EVENT_DEFAULT); result != CUDA_SUCCESS) {
            d.cuEventDestroy(begin);
            check(result, "cuEventCreate");
        }
    }
    ~event_pair() { driver.cuEventDestroy(begin), driver.cuEventDestroy(end); }
    event_pair(const event_pair&) = delete;
    event_pair& operator=(const event_pair&) = delete;

    const cuda_driver& driver;
    CUevent begin{}, end{};
};

CUdeviceptr address(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

class cuda_backend : public backend {
  public:
    explicit cuda_backend(int ordinal);

    const lowering::machine& machine() const override { return machine_; }
    compiler& jit() override { return *compiler_; }

    kernel_handle load(const std::string& code, const std::string& entry) override;
    void launch(kernel_handle handle, const launch_shape& shape, std::span<const std::uint64_t> words) override;
    void launch_with_constants(kernel_handle handle, const launch_shape& shape, std::span<const std::uint64_t> words,
                               std::span<const constant_piece> pieces) override;
    kernel_use use_of(kernel_handle handle) override;
    bool map_boxes(const lowering::box_layout& layout, std::uint64_t address, box_map map) const override {
        return cuda_map_boxes(d_, layout, address, map);
    }
    double seconds_of(const std::function<void()>& work) override;

    void gemm(const gemm_problem& g) override { cublas_gemm(cuda(ordinal_), g); }

    void* allocate(std::size_t bytes) override;
    void release(void* memory) noexcept override;
    void zero(void* memory, std::size_t bytes) override;
    void copy_in(void* target, const void* host, std::size_t bytes) override;
    void copy_out(void* host, const void* source, std::size_t bytes) override;
    void copy_within(void* target, const void* source, std::size_t bytes) override;
    void synchronize() override;
    void set_stream(void* stream) override;
    void* stream() const override { return current().stream; }
    bool capturing() const override;

  private:
    thread_stream& current() const { return thread_streams[static_cast<std::size_t>(ordinal_)]; }
    /// Marks the stream as having work to wait for, and gives it.
    CUstream used_stream() const {
        current().busy = true;
        return current().stream;
    }
    constant_kernel::instance load_instance(const std::string& code, const std::string& entry) const;
    void start(CUfunction function, const kernel& k, const launch_shape& shape, std::span<const std::uint64_t> words);
    bool is_capturing(CUstream stream) const;
    void refuse_capture(const char* what) const;
    void wait();
    CUresult try_allocate(CUdeviceptr& memory, std::size_t bytes);
    void free_deferred();
    [[noreturn]] void out_of_memory(std::size_t bytes) const;
    [[noreturn]] void launch_failure(CUresult result, const kernel& k, const launch_shape& shape,
                                     std::size_t bytes) const;
    int limit(CUdevice_attribute which) const { return attribute(device_, which); }

    const cuda_driver& d_ = driver();
    int ordinal_;
    CUdevice device_{};
    CUcontext context_{};
    std::size_t total_bytes_ = 0;
    CUmemoryPool pool_{}; ///< null where the device has no pools
    lowering::machine machine_;
    bool starts_early_ = false; ///< kernels that allow it
    std::unique_ptr<nvrtc_compiler> compiler_;

    std::mutex mutex_;                         ///< guards what follows
    std::deque<kernel> kernels_;               ///< a deque, for kernels to stay where they are
    std::unordered_set<CUdeviceptr> captured_; ///< allocated while capturing: the graph owns it
    std::vector<CUdeviceptr> deferred_;        ///< released while capturing, but not the graph's: to be freed later
    std::atomic<bool> has_captured_ = false, has_deferred_ = false;
};

cuda_backend::cuda_backend(int ordinal) : ordinal_(ordinal) {
    int count = 0;
    check(d_.cuDeviceGetCount(&count), "cuDeviceGetCount");
    if (ordinal < 0 || ordinal >= std::min(count, max_cuda_devices)) {
        const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
        throw error(fmt::format("cuda:{} does not exist: the driver shows {} GPU{}{}", ordinal, count,
                                count == 1 ? "" : "s",
                                visible ? fmt::format(" (CUDA_VISIBLE_DEVICES is \"{}\")", visible) : ""),
                    blame::environment);
    }
    check(d_.cuDeviceGet(&device_, ordinal), "cuDeviceGet");
    const int newest_major = driver_version() / 1000;
    machine_ = describe_machine(device_);
    starts_early_ = compute_capability(device_) >= 90 && driver_version() >= first_early_start_in_graphs;
    machine_.has_blas = !find_cuda_library(cublas_library, newest_major).file.empty();
    compiler_ = std::make_unique<nvrtc_compiler>(compute_capability(device_), newest_major);
    check(d_.cuDeviceTotalMem(&total_bytes_, device_), "cuDeviceTotalMem");
    context_ = retain_primary_context(ordinal);
    if (!limit(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)) return;
    // A pool of our own: the default one is the user's too, and what is set on it changes what cudaMallocAsync does.
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device_;
    check(d_.cuMemPoolCreate(&pool_, &properties), "cuMemPoolCreate");
    cuuint64_t keep_all = UINT64_MAX; // what is freed stays in the pool: warm temporaries cost no system call
    check(d_.cuMemPoolSetAttribute(pool_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep_all), "cuMemPoolSetAttribute");
}

kernel_handle cuda_backend::load(const std::string& code, const std::string& entry) {
    refuse_capture("loading a kernel for the first time");
    const context_scope scope(d_, context_);
    const auto loaded = load_instance(code, entry);
    kernel k{loaded.function, entry, nullptr};
    if (loaded.constants)
        k.with_constants =
            std::make_unique<constant_kernel>(d_, loaded, [this, code, entry] { return load_instance(code, entry); });
    const std::lock_guard lock(mutex_);
    return &kernels_.emplace_back(std::move(k));
}

constant_kernel::instance cuda_backend::load_instance(const std::string& code, const std::string& entry) const {
    std::array<char, 4096> log{}; // the driver's, where it translates PTX
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
    CUmodule module{};
    if (const CUresult result = d_.cuModuleLoadDataEx(&module, code.c_str(), 2, options, values);
        result != CUDA_SUCCESS)
        driver_failure(result,
                       fmt::format("loading the kernel {} on cuda:{} ({}): cuModuleLoadDataEx", entry, ordinal_,
                                   machine_.architecture)
                           .c_str(),
                       log.data());
    try {
        constant_kernel::instance out;
        check(d_.cuModuleGetFunction(&out.function, module, entry.c_str()),
              fmt::format("looking for {} in its module: cuModuleGetFunction", entry).c_str());
        // The code has the names of its symbols: a look-up that fails is an error to compute-sanitizer.
        constexpr const char* constants = "ricci_constants";
        if (std::size_t bytes = 0; code.find(constants) != code.npos)
            check(d_.cuModuleGetGlobal(&out.constants, &bytes, module, constants),
                  fmt::format("looking for the constants of {}: cuModuleGetGlobal", entry).c_str());
        int fixed = 0;
        check(d_.cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, out.function), "cuFuncGetAttribute");
        // Allows all that a block may have, 48 KB without it. What a block gets, and so the occupancy, is the
        // launch's.
        check(d_.cuFuncSetAttribute(out.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    static_cast<int>(machine_.shared_bytes) - fixed),
              "cuFuncSetAttribute");
        return out;
    } catch (...) {
        d_.cuModuleUnload(module);
        throw;
    }
}

void cuda_backend::launch(kernel_handle handle, const launch_shape& shape, std::span<const std::uint64_t> words) {
    if (shape.grid <= 0) return;
    const auto& k = *static_cast<const kernel*>(handle);
    const context_scope scope(d_, context_);
    start(k.function, k, shape, words);
}

void cuda_backend::launch_with_constants(kernel_handle handle, const launch_shape& shape,
                                         std::span<const std::uint64_t> words,
                                         std::span<const constant_piece> pieces) {
    if (shape.grid <= 0) return;
    const auto& k = *static_cast<const kernel*>(handle);
    const bool in_graph = capturing();
    const context_scope scope(d_, context_);
    k.with_constants->launch(used_stream(), in_graph, pieces,
                             [&](CUfunction function) { start(function, k, shape, words); });
}

void cuda_backend::start(CUfunction function, const kernel& k, const launch_shape& shape,
                         std::span<const std::uint64_t> words) {
    // The fewest rows that hold the grid, as even as can be: block = blockIdx.x + gridDim.x * blockIdx.y, and the
    // kernel returns where that is not below its grid.
    const std::int64_t rows = (shape.grid - 1) / max_grid_x + 1;
    const std::int64_t columns = (shape.grid - 1) / rows + 1;
    if (rows > max_grid_y)
        throw error(fmt::format("kernel {}: {} blocks are more than a GPU can start at once ({})", k.name, shape.grid,
                                max_grid_x * max_grid_y));
    // The driver knows where the kernel wants its one argument, which is not the start of its constants where it has
    // boxes, aligned to 64 bytes.
    void* parameters[] = {const_cast<std::uint64_t*>(words.data())};
    CUlaunchAttribute early{};
    early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    early.value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config{};
    config.gridDimX = static_cast<unsigned>(columns), config.gridDimY = static_cast<unsigned>(rows);
    config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = static_cast<unsigned>(shape.threads);
    config.sharedMemBytes = static_cast<unsigned>(shape.shared_bytes);
    config.hStream = used_stream();
    config.attrs = &early, config.numAttrs = shape.starts_early && starts_early_ ? 1 : 0;
    const CUresult result = d_.cuLaunchKernelEx(&config, function, words.empty() ? nullptr : parameters, nullptr);
    if (result != CUDA_SUCCESS) [[unlikely]]
        launch_failure(result, k, shape, words.size_bytes());
}

void cuda_backend::launch_failure(CUresult result, const kernel& k, const launch_shape& shape,
                                  std::size_t bytes) const {
    const auto of_kernel = [&](CUfunction_attribute which) {
        int value = -1;
        d_.cuFuncGetAttribute(&value, which, k.function); // -1 where the context is lost
        return value;
    };
    driver_failure(
        result, fmt::format("starting the kernel {} on cuda:{}: cuLaunchKernelEx", k.name, ordinal_).c_str(),
        fmt::format(
            "grid {}, block {} threads (kernel's limit {}), dynamic shared memory {} bytes (limit {}), static {}, "
            "registers a thread {}, local memory a thread {} bytes, parameters {} bytes",
            shape.grid, shape.threads, of_kernel(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), shape.shared_bytes,
            of_kernel(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
            of_kernel(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), of_kernel(CU_FUNC_ATTRIBUTE_NUM_REGS),
            of_kernel(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), bytes));
}

CUresult cuda_backend::try_allocate(CUdeviceptr& memory, std::size_t bytes) {
    if (pool_) return d_.cuMemAllocFromPoolAsync(&memory, bytes, pool_, used_stream());
    refuse_capture("allocating memory on a GPU without memory pools");
    return d_.cuMemAlloc(&memory, bytes);
}

kernel_use cuda_backend::use_of(kernel_handle handle) {
    const context_scope scope(d_, context_);
    const auto& k = *static_cast<const kernel*>(handle);
    kernel_use use;
    check(d_.cuFuncGetAttribute(&use.registers, CU_FUNC_ATTRIBUTE_NUM_REGS, k.function), "cuFuncGetAttribute");
    check(d_.cuFuncGetAttribute(&use.local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, k.function),
          "cuFuncGetAttribute");
    return use;
}

double cuda_backend::seconds_of(const std::function<void()>& work) {
    refuse_capture("timing");
    const context_scope scope(d_, context_);
    const event_pair events(d_);
    check(d_.cuEventRecord(events.begin, used_stream()), "cuEventRecord");
    work();
    check(d_.cuEventRecord(events.end, used_stream()), "cuEventRecord");
    check(d_.cuEventSynchronize(events.end), "cuEventSynchronize");
    float milliseconds = 0;
    check(d_.cuEventElapsedTime(&milliseconds, events.begin, events.end), "cuEventElapsedTime");
    return milliseconds * 1e-3;
}

void* cuda_backend::allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    const context_scope scope(d_, context_);
    if (bytes > total_bytes_) out_of_memory(bytes);
    const bool in_graph = capturing();
    if (!in_graph) free_deferred();
    CUdeviceptr memory = 0;
    CUresult result = try_allocate(memory, bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && !in_graph) {
        wait(); // what was freed in stream order is free then
        if (pool_) d_.cuMemPoolTrimTo(pool_, 0);
        d_.cuDeviceGraphMemTrim(device_);
        result = try_allocate(memory, bytes);
    }
    if (result == CUDA_ERROR_OUT_OF_MEMORY) out_of_memory(bytes);
    check(result, pool_ ? "cuMemAllocFromPoolAsync" : "cuMemAlloc");
    if (in_graph) {
        const std::lock_guard lock(mutex_);
        captured_.insert(memory);
        has_captured_ = true;
    }
    return reinterpret_cast<void*>(memory);
}

void cuda_backend::out_of_memory(std::size_t bytes) const {
    std::size_t free = 0, total = 0;
    d_.cuMemGetInfo(&free, &total);
    throw memory_error(fmt::format("cuda:{} ({}) is out of memory: {} bytes were asked for, {} of {} are free",
                                   ordinal_, machine_.name, bytes, free, total));
}

// Never throws, and reports nothing: after a failed kernel, or while the process ends, there is nothing left to free.
void cuda_backend::release(void* memory) noexcept {
    if (!memory) return;
    try {
        const context_scope scope(d_, context_);
        bool in_graph = false;
        if (has_captured_ || current().stream) {
            in_graph = capturing();
            const std::lock_guard lock(mutex_);
            const bool of_graph = captured_.erase(address(memory)) > 0;
            has_captured_ = !captured_.empty();
            if (in_graph && !of_graph) { // a graph can free only what it allocated
                deferred_.push_back(address(memory));
                has_deferred_ = true;
                return;
            }
        }
        if (!in_graph) free_deferred();
        if (pool_)
            d_.cuMemFreeAsync(address(memory), used_stream());
        else
            d_.cuMemFree(address(memory));
    } catch (...) {
    }
}

void cuda_backend::free_deferred() {
    if (!has_deferred_) return;
    std::vector<CUdeviceptr> all;
    {
        const std::lock_guard lock(mutex_);
        all.swap(deferred_);
        has_deferred_ = false;
    }
    for (const CUdeviceptr memory : all) pool_ ? d_.cuMemFreeAsync(memory, used_stream()) : d_.cuMemFree(memory);
}

void cuda_backend::zero(void* memory, std::size_t bytes) {
    if (bytes == 0) return;
    const context_scope scope(d_, context_);
    check(d_.cuMemsetD8Async(address(memory), 0, bytes, used_stream()), "cuMemsetD8Async");
}

void cuda_backend::copy_in(void* target, const void* host, std::size_t bytes) {
    if (bytes == 0) return;
    refuse_capture("copying from the host");
    const context_scope scope(d_, context_);
    check(d_.cuMemcpyHtoDAsync(address(target), host, bytes, used_stream()), "cuMemcpyHtoDAsync");
    wait();
}

void cuda_backend::copy_out(void* host, const void* source, std::size_t bytes) {
    if (bytes == 0) return;
    refuse_capture("reading on the host");
    const context_scope scope(d_, context_);
    check(d_.cuMemcpyDtoHAsync(host, address(source), bytes, used_stream()), "cuMemcpyDtoHAsync");
    wait();
}

void cuda_backend::copy_within(void* target, const void* source, std::size_t bytes) {
    if (bytes == 0) return;
    const context_scope scope(d_, context_);
    check(d_.cuMemcpyDtoDAsync(address(target), address(source), bytes, used_stream()), "cuMemcpyDtoDAsync");
}

void cuda_backend::wait() {
    check(d_.cuStreamSynchronize(current().stream), "cuStreamSynchronize");
    current().busy = false;
}

void cuda_backend::synchronize() {
    refuse_capture("synchronize()");
    const context_scope scope(d_, context_);
    wait();
}

// Null cannot be captured, so the usual case costs no call.
bool cuda_backend::capturing() const { return current().stream && is_capturing(current().stream); }

bool cuda_backend::is_capturing(CUstream stream) const {
    const context_scope scope(d_, context_);
    CUstreamCaptureStatus status{};
    check(d_.cuStreamIsCapturing(stream, &status), "cuStreamIsCapturing");
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void cuda_backend::refuse_capture(const char* what) const {
    if (capturing())
        throw error(fmt::format(
            "cuda:{}: {} waits or allocates, and the current stream is being captured into a CUDA graph: do it "
            "before the capture begins (a statement: by running it once)",
            ordinal_, what));
}

void cuda_backend::set_stream(void* to) {
    thread_stream& now = current();
    const auto next = static_cast<CUstream>(to);
    if (now.stream == next) return;
    const context_scope scope(d_, context_);
    const bool next_captures = next && is_capturing(next); // first of all: a handle that is no stream is refused here
    // What a capture holds has no time yet, so nothing is ordered after it. The driver is asked about the null stream
    // too: where another capture forbids to touch it, this call alone fails and leaves that capture whole.
    CUstreamCaptureStatus status{};
    const CUresult asked = d_.cuStreamIsCapturing(now.stream, &status);
    if (now.busy) check(asked, "cuStreamIsCapturing");
    const bool ordered =
        asked == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_NONE && (now.busy || !next_captures);
    if (ordered && next_captures) {
        // The capture must not depend on an event from outside: wait here, which needs the thread's leave.
        const relaxed_capture leave(d_);
        check(d_.cuStreamSynchronize(now.stream), "cuStreamSynchronize");
    } else if (ordered) {
        CUevent event{};
        check(d_.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
        CUresult result = d_.cuEventRecord(event, now.stream);
        if (result == CUDA_SUCCESS) result = d_.cuStreamWaitEvent(next, event, 0);
        d_.cuEventDestroy(event); // the driver keeps it until the wait is over
        check(result, "cuEventRecord, cuStreamWaitEvent");
    }
    now = {next, ordered && !next_captures};
}

} // namespace

std::unique_ptr<backend> make_cuda_backend(int ordinal) { return std::make_unique<cuda_backend>(ordinal); }

int cuda_device_count() noexcept {
    static const int count = []() noexcept {
        try {
            int devices = 0;
            if (!driver_problem().empty() || driver().cuDeviceGetCount(&devices) != CUDA_SUCCESS) return 0;
            // Without a compiler a GPU is of no use: the default device is the CPU then, and `ricci doctor` says why.
            if (find_cuda_library(nvrtc_library, driver_version() / 1000).file.empty()) return 0;
            return std::min(devices, max_cuda_devices);
        } catch (...) {
            return 0;
        }
    }();
    return count;
}

} // namespace ricci::runtime
