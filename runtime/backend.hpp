// backend: what a device must be able to do. One implementation a kind: cpu_backend, cuda_backend, the tests'
// emulator.
#pragma once

#include "lowering/box_layout.hpp"
#include "lowering/error.hpp"
#include "lowering/machine.hpp"
#include "lowering/scalar_type.hpp"
#include "runtime/device.hpp"

#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ricci::runtime {

/// Turns complete source (no #include left) into loadable code.
class compiler {
  public:
    virtual ~compiler() = default;
    /// Distinguishes compilers without loading them: path, size and modification time. Empty if there is none.
    virtual std::string identity() const = 0;
    /// Every option and the architecture; part of the cache's key.
    virtual std::string options() const = 0;
    /// The code (cubin, shared object). Throws ricci::error (environment) with the log and where the source was kept.
    virtual std::string compile(const std::string& source) = 0;
};

/// How a kernel is started. Blocks are numbered [0, grid); the kernel gets `words`, its `struct arguments`, by value.
struct launch_shape {
    std::int64_t grid = 1;
    int threads = 1;             ///< a block, on a GPU
    int shared_bytes = 0;        ///< dynamic shared memory a block
    bool starts_early = false;   ///< its first statement is wait_for_stream: it may start while those before it end
    double seconds_per_block = 0;///< the model's estimate; the CPU decides from it how many threads are worth waking
};

/// A matrix, column by column, or `stride` elements apart one for each product of a batch.
struct gemm_operand {
    lowering::scalar_type type = lowering::scalar_type::f64;
    const void* data = nullptr;
    std::int64_t leading = 1; ///< leading dimension, elements
    std::int64_t stride = 0;  ///< elements; 0: all products use the same matrix
    char transpose = 'N';     ///< 'N', 'T' or 'C' (conjugate transpose)
};

/// C = alpha*op(A)*op(B) + beta*C for `count` products; op(A) is m x k, op(B) k x n, C m x n.
struct gemm_problem {
    std::int64_t m = 0, n = 0, k = 0, count = 1;
    gemm_operand a, b, c;                                       ///< c.transpose is 'N'; C is written
    lowering::scalar_type compute = lowering::scalar_type::f64; ///< products are summed in it
    std::complex<double> alpha = 1, beta = 0;                   ///< real, unless compute is complex
    lowering::math_mode math = lowering::math_mode::full;       ///< tf32: of f32 and c64
};

/// A piece of the device's memory that becomes a part of a kernel's constants (`ricci_constants` in its source).
struct constant_piece {
    std::uint64_t from = 0;
    std::int64_t at = 0, bytes = 0; ///< bytes from the constants' start
};

/// A loaded kernel; owned by its backend for the life of the process.
using kernel_handle = void*;

/// What a GPU's copy engine is told of a matrix in boxes, words of a kernel's arguments: kernels/ptx_box.cuh.
inline constexpr std::size_t words_of_boxes = 16;
using box_map = std::span<std::uint64_t, words_of_boxes>;

/// What a kernel takes of a GPU for each thread.
struct kernel_use {
    int registers = 0;
    int local_bytes = 0; ///< spilled registers and arrays that are in none
};

class backend {
  public:
    virtual ~backend() = default;
    virtual const lowering::machine& machine() const = 0;
    virtual compiler& jit() = 0;

    /// Loads code that jit().compile() returned, in this process or another.
    virtual kernel_handle load(const std::string& code, const std::string& entry) = 0;
    /// Starts blocks [0, grid) on this thread's current stream. grid == 0 does nothing.
    virtual void launch(kernel_handle kernel, const launch_shape& shape, std::span<const std::uint64_t> words) = 0;
    /// The same for a kernel with constants, which hold the pieces from then on, in the order of the stream.
    virtual void launch_with_constants(kernel_handle, const launch_shape&, std::span<const std::uint64_t>,
                                       std::span<const constant_piece>) {
        throw error("kernels of this device have no constants", blame::environment);
    }
    virtual kernel_use use_of(kernel_handle) { return {}; }

    /// What a group of steps does for one slice.
    struct slice_work {
        void (*run)(const void* context, std::int64_t slice);
        const void* context;
        double seconds = 0; ///< the model's estimate of one
    };
    /// Runs the work for slices [0, count): at once where there are threads for it, and then all that one launches
    /// runs on the thread that launches it.
    virtual void run_slices(std::int64_t count, const slice_work& work) {
        for (std::int64_t s = 0; s < count; ++s) work.run(work.context, s);
    }

    /// Writes what a kernel's copies of boxes want to know of the matrix at `address`: kernels/ptx_box.cuh. False
    /// where a line of the matrix does not start at a multiple of 16 bytes, or there are no such copies.
    virtual bool map_boxes(const lowering::box_layout&, std::uint64_t, box_map) const {
        return false;
    }

    /// Seconds that the device takes for what `work` gives to the current stream. Waits.
    virtual double seconds_of(const std::function<void()>& work) {
        synchronize();
        const auto begin = std::chrono::steady_clock::now();
        work();
        synchronize();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

    /// A library's GEMM on the current stream; only where machine().has_blas.
    virtual void gemm(const gemm_problem&) { throw error("this device has no library for GEMM", blame::environment); }

    virtual void* allocate(std::size_t bytes) = 0; ///< stream-ordered; throws when there is not enough
    /// The same, all bits zero. The CPU has a cheaper way than to write them.
    virtual void* allocate_zeroed(std::size_t bytes) {
        void* memory = allocate(bytes);
        zero(memory, bytes);
        return memory;
    }
    virtual void release(void* memory) noexcept = 0;
    virtual void zero(void* memory, std::size_t bytes) = 0;
    virtual void copy_in(void* target, const void* host, std::size_t bytes) = 0;  ///< waits
    virtual void copy_out(void* host, const void* source, std::size_t bytes) = 0; ///< waits
    virtual void copy_within(void* target, const void* source, std::size_t bytes) = 0;
    virtual void synchronize() = 0;
    virtual void set_stream(void*) {}
    virtual void* stream() const { return nullptr; }
    /// Whether the current stream is being captured into a CUDA graph.
    virtual bool capturing() const { return false; }
};

/// The backend of `d`, started on first use. Throws ricci::error (environment) saying what is missing.
backend& backend_of(device d);

/// Those that backend_of has started.
std::vector<backend*> started_backends();

/// Gives a backend to a negative device code, down to -16; for tests. It must not have been started yet.
void register_backend(std::int32_t code, std::function<std::unique_ptr<backend>()> make);

std::unique_ptr<backend> make_cpu_backend();
/// Throws ricci::error when there is no driver or no such device, or this build has no CUDA.
std::unique_ptr<backend> make_cuda_backend(int ordinal);
/// Number of usable GPUs; 0 without a driver. Never throws.
int cuda_device_count() noexcept;

} // namespace ricci::runtime
