// cross_backend: compiles a step's kernel for another CPU and has the driver run it there.
#include "tests/cross/cross_backend.hpp"

#include "lowering/error.hpp"
#include "runtime/host_compiler.hpp"
#include "runtime/temporary_directory.hpp"
#include "tests/host_backend.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <mutex>
#include <spawn.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

extern char** environ;

namespace ricci::tests {
namespace {

constexpr std::size_t memory_bytes = std::size_t{256} << 20, alignment = 64;
// Where neither this process nor an emulated one has anything: under 2^46, far from heap, libraries and stack.
constexpr std::uintptr_t memory_address = std::uintptr_t{1} << 45;

[[noreturn]] void fail(const std::string& what) { throw error("cross: " + what, blame::environment); }

/// Memory that the driver sees at the same address; taken in order, and all anew once all was released.
class shared_memory {
  public:
    shared_memory() : file_(memfd_create("ricci-cross", MFD_CLOEXEC)) {
        if (file_ < 0 || ftruncate(file_, memory_bytes) != 0) fail("no memory to share");
        void* wanted = reinterpret_cast<void*>(memory_address);
        if (mmap(wanted, memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file_, 0) != wanted)
            fail("the address of the shared memory is taken");
    }
    ~shared_memory() {
        munmap(reinterpret_cast<void*>(memory_address), memory_bytes);
        close(file_);
    }
    shared_memory(const shared_memory&) = delete;
    shared_memory& operator=(const shared_memory&) = delete;

    int file() const { return file_; }

    void* take(std::size_t bytes) {
        const auto size = (bytes + alignment - 1) / alignment * alignment;
        if (size > memory_bytes - used_) fail(fmt::format("no {} bytes of memory", bytes));
        ++pieces_;
        return reinterpret_cast<void*>(memory_address + std::exchange(used_, used_ + size));
    }
    void give_back() {
        if (--pieces_ == 0) used_ = 0;
    }

  private:
    int file_;
    std::size_t used_ = 0, pieces_ = 0;
};

/// The running driver and the pipes to it and from it.
class driver_process {
  public:
    driver_process(const cross_target& target, int memory) {
        std::array<int, 2> in{}, out{};
        if (pipe(in.data()) != 0 || pipe(out.data()) != 0) fail("no pipes");
        auto line = target.emulator;
        line.insert(line.end(), {target.driver(), std::to_string(memory_address), std::to_string(memory_bytes)});
        std::vector<char*> argv;
        for (auto& word : line) argv.push_back(word.data());
        argv.push_back(nullptr);
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        for (const auto& [from, to] : {std::pair{in[0], 0}, std::pair{out[1], 1}, std::pair{memory, 3}})
            posix_spawn_file_actions_adddup2(&files, from, to);
        for (const int end : {in[0], in[1], out[0], out[1], memory})
            if (end > 3) posix_spawn_file_actions_addclose(&files, end);
        const int failure = posix_spawnp(&process_, argv.front(), &files, nullptr, argv.data(), environ);
        posix_spawn_file_actions_destroy(&files);
        close(in[0]), close(out[1]);
        to_ = in[1], from_ = out[0];
        if (failure != 0) fail(fmt::format("{} cannot be started", line.front()));
    }
    ~driver_process() {
        close(to_), close(from_);
        waitpid(process_, nullptr, 0);
    }
    driver_process(const driver_process&) = delete;
    driver_process& operator=(const driver_process&) = delete;

    /// What the driver says of the kernel, empty if all went well; else it has ended.
    std::string run(const cross_kernel& k, std::int64_t blocks, std::span<const std::uint64_t> words) {
        const std::string names = k.object.string() + '\0' + k.entry + '\0';
        const std::uint64_t head[4]{names.size(), words.size_bytes(), static_cast<std::uint64_t>(blocks), 0};
        if (!send(head, sizeof head) || !send(names.data(), names.size()) || !send(words.data(), words.size_bytes()))
            return "the driver does not listen";
        std::string said;
        std::array<char, 256> some{};
        for (ssize_t got = 0; (got = read(from_, some.data(), some.size())) > 0;) {
            said.append(some.data(), static_cast<std::size_t>(got));
            if (said == std::string(sizeof(std::uint64_t), '\0')) return {};
        }
        return said.empty() ? "the kernel died" : said;
    }

  private:
    bool send(const void* from, std::size_t bytes) const {
        for (const char* p = static_cast<const char*>(from); bytes > 0;) {
            const ssize_t sent = write(to_, p, bytes);
            if (sent <= 0) return false;
            p += sent, bytes -= static_cast<std::size_t>(sent);
        }
        return true;
    }

    pid_t process_ = 0;
    int to_ = -1, from_ = -1;
};

class cross_backend : public host_backend {
  public:
    explicit cross_backend(const cross_target& target)
        : target_(target), machine_(target.chip()), compiler_(target.compiler, target.all_options()) {
        std::signal(SIGPIPE, SIG_IGN); // a driver that died is seen by what write returns
    }

    const lowering::machine& machine() const override { return machine_; }
    runtime::compiler& jit() override { return compiler_; }

    runtime::kernel_handle load(const std::string& code, const std::string& entry) override {
        const std::lock_guard lock(mutex_);
        const auto file = folder_.path() / fmt::format("{}.{}.so", entry, kernels_.size());
        std::ofstream(file, std::ios::binary) << code;
        kernels_.push_back(std::make_unique<cross_kernel>(cross_kernel{file, entry}));
        return kernels_.back().get();
    }

    void launch(runtime::kernel_handle handle, const runtime::launch_shape& shape,
                std::span<const std::uint64_t> words) override {
        if (shape.grid <= 0) return;
        const std::lock_guard lock(mutex_);
        const auto& kernel = *static_cast<const cross_kernel*>(handle);
        if (!driver_) driver_ = std::make_unique<driver_process>(target_, memory_.file());
        const auto wrong = driver_->run(kernel, shape.grid, words);
        if (wrong.empty()) return;
        driver_.reset(); // the next kernel has another
        fail(fmt::format("{}: {}", kernel.entry, wrong));
    }

    void* allocate(std::size_t bytes) override {
        const std::lock_guard lock(mutex_);
        void* memory = memory_.take(bytes);
        std::memset(memory, 0xff, bytes); // a NaN in every type
        return memory;
    }
    void release(void* memory) noexcept override {
        const std::lock_guard lock(mutex_);
        if (memory != nullptr) memory_.give_back();
    }

  private:
    std::mutex mutex_;
    cross_target target_;
    lowering::machine machine_;
    runtime::host_compiler compiler_;
    runtime::temporary_directory folder_;
    std::vector<std::unique_ptr<cross_kernel>> kernels_;
    shared_memory memory_;
    std::unique_ptr<driver_process> driver_;
};

} // namespace

std::unique_ptr<runtime::backend> make_cross_backend(const cross_target& target) {
    return std::make_unique<cross_backend>(target);
}

void register_cross_backend(const cross_target& target) {
    runtime::register_backend(cross_device, [target] { return make_cross_backend(target); });
}

} // namespace ricci::tests
