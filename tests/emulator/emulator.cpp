// emulator: the backend of the emulated GPU.
#include "tests/emulator/emulator.hpp"

#include "lowering/error.hpp"
#include "runtime/temporary_directory.hpp"
#include "tests/emulator/block.hpp"
#include "tests/emulator/emulator_compiler.hpp"
#include "tests/emulator/sanitizer.hpp"
#include "tests/host_backend.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fstream>
#include <mutex>
#include <numeric>

namespace ricci::tests {
namespace {

constexpr std::size_t alignment = 1024, guard = 4096;
constexpr std::int64_t max_grid_x = 150; // a GPU's is 2^31 - 1, which no test reaches
constexpr int poison = 0xff;             // a NaN in every type

/// A block's dynamic shared memory between two guards.
class shared_memory {
  public:
    explicit shared_memory(std::size_t bytes) : bytes_(bytes), all_(bytes + 2 * guard + alignment) {
        const auto start = reinterpret_cast<std::uintptr_t>(all_.data()) + guard;
        data_ = all_.data() + guard + (alignment - start % alignment) % alignment;
        std::memset(all_.data(), poison, all_.size());
        forbid(all_.data(), static_cast<std::size_t>(data_ - all_.data()));
        forbid(data_ + bytes_, static_cast<std::size_t>(all_.data() + all_.size() - data_) - bytes_);
    }
    ~shared_memory() { permit(all_.data(), all_.size()); }
    shared_memory(const shared_memory&) = delete;
    shared_memory& operator=(const shared_memory&) = delete;

    std::byte* data() { return data_; }
    void reset() { std::memset(data_, poison, bytes_); }
    /// AddressSanitizer stops at the access itself; without it a changed guard tells afterwards.
    bool guards_intact() {
        permit(all_.data(), all_.size());
        const auto whole = [](std::byte b) { return b == std::byte{poison}; };
        const bool intact =
            std::all_of(all_.data(), data_, whole) && std::all_of(data_ + bytes_, all_.data() + all_.size(), whole);
        return intact;
    }

  private:
    std::size_t bytes_;
    std::vector<std::byte> all_;
    std::byte* data_;
};

struct emulated_kernel {
    std::string name;
    block_runner::kernel entry;
    void (*attach)(ricci_emulated_state*);
    std::byte* constants = nullptr; ///< null: it has none
};

class emulator : public tests::host_backend {
  public:
    emulator() {
        machine_.kind = lowering::target::cuda;
        machine_.name = "emulated GPU";
        machine_.architecture = "sm_90";
        machine_.processors = 4;
        machine_.shared_bytes = 227 << 10, machine_.memory_bytes = 16LL << 30;
        machine_.bandwidth = 3e12;
        machine_.flops_f64 = 30e12;
        machine_.flops_f32 = 60e12;
        machine_.launch_seconds = 3e-6;
        const char* seed = std::getenv("RICCI_TEST_SEED");
        random_.seed(seed ? std::strtoull(seed, nullptr, 10) : 1);
    }

    const lowering::machine& machine() const override { return machine_; }
    runtime::compiler& jit() override { return compiler_; }

    /// The file stays until the program ends, so that AddressSanitizer can name lines.
    runtime::kernel_handle load(const std::string& code, const std::string& entry) override {
        const std::lock_guard lock(mutex_);
        const auto file = folder_.path() / fmt::format("{}.{}.so", entry, kernels_.size());
        std::ofstream(file, std::ios::binary) << code;
        void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) throw error(fmt::format("emulator: {}", dlerror()), blame::environment);
        auto k = std::make_unique<emulated_kernel>();
        k->name = entry;
        k->entry = reinterpret_cast<block_runner::kernel>(dlsym(library, entry.c_str()));
        k->attach = reinterpret_cast<void (*)(ricci_emulated_state*)>(dlsym(library, "ricci_attach"));
        k->constants = static_cast<std::byte*>(dlsym(library, "ricci_constants"));
        if (!k->entry || !k->attach) throw error(fmt::format("emulator: no kernel {}", entry), blame::environment);
        kernels_.push_back(std::move(k));
        return kernels_.back().get();
    }

    void launch(runtime::kernel_handle handle, const runtime::launch_shape& shape,
                std::span<const std::uint64_t> words) override {
        launch_with_constants(handle, shape, words, {});
    }

    void launch_with_constants(runtime::kernel_handle handle, const runtime::launch_shape& shape,
                               std::span<const std::uint64_t> words,
                               std::span<const runtime::constant_piece> pieces) override {
        if (shape.grid <= 0) return;
        const std::lock_guard lock(mutex_);
        const auto& k = *static_cast<emulated_kernel*>(handle);
        for (const auto& piece : pieces)
            std::memcpy(k.constants + piece.at, reinterpret_cast<const void*>(piece.from),
                        static_cast<std::size_t>(piece.bytes));
        if (shape.threads < 1 || shape.threads > 1024 || shape.shared_bytes < 0 ||
            shape.shared_bytes > machine_.shared_bytes)
            throw error(fmt::format("emulator: {} cannot start with {} threads and {} bytes of shared memory", k.name,
                                    shape.threads, shape.shared_bytes),
                        blame::environment);
        // As the CUDA backend folds very large grids: more blocks than asked for, which the kernel must end at once.
        const std::int64_t rows = (shape.grid - 1) / max_grid_x + 1;
        const std::int64_t columns = (shape.grid - 1) / rows + 1;
        state_.grid = {static_cast<unsigned>(columns), static_cast<unsigned>(rows), 1};
        state_.threads = {static_cast<unsigned>(shape.threads), 1, 1};
        k.attach(&state_);
        std::vector<std::int64_t> blocks(static_cast<std::size_t>(rows * columns));
        std::iota(blocks.begin(), blocks.end(), 0);
        std::shuffle(blocks.begin(), blocks.end(), random_);
        // A copy on the heap, exactly as large: reading arguments that were not given is seen.
        const std::vector<std::uint64_t> arguments(words.begin(), words.end());
        shared_memory shared(static_cast<std::size_t>(shape.shared_bytes));
        state_.shared = shared.data();
        for (const std::int64_t b : blocks) {
            state_.block = {static_cast<unsigned>(b % columns), static_cast<unsigned>(b / columns), 0};
            shared.reset();
            runner_.run(k.entry, arguments.data(), shape.threads, shape.shared_bytes, random_);
        }
        if (!shared.guards_intact())
            throw error(
                fmt::format("emulator: {} wrote outside its {} bytes of shared memory", k.name, shape.shared_bytes),
                blame::environment);
    }

    /// As copy_engine reads it.
    bool map_boxes(const lowering::box_layout& layout, std::uint64_t address,
                   runtime::box_map map) const override {
        const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
        if (!takes_boxes_at(layout, address)) return false;
        const auto too_large = [](std::int64_t limit) { return [=](std::int64_t x) { return x < 0 || x > limit; }; };
        if (std::any_of(layout.extent.begin(), layout.extent.end(), too_large(std::int64_t{1} << 32)) ||
            std::any_of(layout.between.begin(), layout.between.end(), too_large((std::int64_t{1} << 40) - 1)))
            throw error("emulator: a matrix larger than the copy engine knows", blame::environment);
        map[0] = address / 16 * 16, map[1] = word(layout.element), map[2] = layout.exchanged;
        std::transform(layout.extent.begin(), layout.extent.end(), map.begin() + 3, word);
        map[3] = word(line_length(layout, address));
        std::transform(layout.box.begin(), layout.box.end(), map.begin() + 6, word);
        std::transform(layout.between.begin(), layout.between.end(), map.begin() + 9, word);
        map[11] = address, map[12] = word(layout.bytes_from_anywhere);
        return true;
    }

    void* allocate(std::size_t bytes) override {
        void* memory = nullptr;
        if (posix_memalign(&memory, alignment, std::max<std::size_t>(bytes, 1)) != 0)
            throw error(fmt::format("emulator: no {} bytes of memory", bytes), blame::environment);
        std::memset(memory, poison, bytes);
        return memory;
    }
    void release(void* memory) noexcept override { std::free(memory); }

  private:
    std::mutex mutex_;
    lowering::machine machine_;
    emulator_compiler compiler_;
    runtime::temporary_directory folder_;
    std::vector<std::unique_ptr<emulated_kernel>> kernels_;
    std::mt19937_64 random_;
    ricci_emulated_state state_{};
    block_runner runner_{state_};
};

} // namespace

std::unique_ptr<runtime::backend> make_emulator() { return std::make_unique<emulator>(); }

void register_emulator() {
    static const bool once = (runtime::register_backend(emulator_device, make_emulator), true);
    static_cast<void>(once);
}

} // namespace ricci::tests
