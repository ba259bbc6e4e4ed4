// device: where a tensor lives and a statement runs, and the memory there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ricci {

/// The CPU or one GPU.
class device {
  public:
    constexpr device() = default; ///< the CPU
    constexpr explicit device(std::int32_t code) : code_(code) {}
    /// 0 the CPU, n + 1 CUDA device n, negative a backend that a test registered.
    constexpr std::int32_t code() const { return code_; }
    constexpr bool is_cpu() const { return code_ == 0; }
    constexpr bool is_cuda() const { return code_ > 0; }
    constexpr bool operator==(const device&) const = default;
    /// "cpu", "cuda:0"
    std::string name() const;

  private:
    std::int32_t code_ = 0;
};

constexpr device cpu() { return device(0); }
namespace runtime {
/// CUDA ordinals are below this.
inline constexpr int max_cuda_devices = 64;

[[noreturn]] void refuse_ordinal(int ordinal);
} // namespace runtime

/// Throws ricci::error for a negative ordinal.
constexpr device cuda(int ordinal = 0) {
    if (ordinal < 0) runtime::refuse_ordinal(ordinal);
    return device(ordinal + 1);
}

/// What RICCI_DEVICE says ("cpu", "cuda", "cuda:1"), else the first usable GPU, else the CPU. Asked once per process.
device default_device();

/// Reads a device's name; throws ricci::error for anything but "cpu", "cuda" and "cuda:N".
device parse_device(const std::string& name);

/// Statements of this thread on `d` go to `stream` (a CUstream or cudaStream_t; null: the default stream) from now
/// on, ordered after what this thread has given to the stream before. No effect on the CPU. Every host thread has a
/// current stream of its own for each device, as in PyTorch: setting it does not touch other threads.
void set_stream(device d, void* stream);
void* current_stream(device d);

/// Waits until all that this thread gave to `d` has finished.
void synchronize(device d);
/// The same for every device used so far.
void synchronize();

namespace runtime {

/// Memory on `d`, aligned to 256 bytes (64 on the CPU), allocated and freed in stream order; zeroed if asked.
/// Throws ricci::error (environment) when there is not enough. 0 bytes give null.
void* allocate(device d, std::size_t bytes, bool zeroed);
void release(device d, void* memory) noexcept;

/// What allocate() gave is written by ricci alone from now on, each time after contents_written(): as long as that
/// holds, its version tells whether its contents are what they were. It ends with contents_exposed(), where someone
/// got a pointer to write through, or with the memory.
void track_contents(device d, const void* memory);
void contents_written(device d, const void* memory);
void contents_exposed(device d, const void* memory);

/// While it lives, what this thread releases stays allocated; it goes with it. For programs, whose statements run
/// after the tensors of the callable are gone.
class kept_memory {
  public:
    kept_memory();
    ~kept_memory();
    kept_memory(const kept_memory&) = delete;
    kept_memory& operator=(const kept_memory&) = delete;

  private:
    friend void release(device d, void* memory) noexcept;
    struct piece {
        device where;
        void* memory;
    };
    std::vector<piece> pieces_;
    kept_memory* outer_;
};

/// Copies bytes between any two devices; within one, in stream order. Between two it waits until the copy is done.
void copy(device to, void* target, device from, const void* source, std::size_t bytes);

} // namespace runtime
} // namespace ricci
