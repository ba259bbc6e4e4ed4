// fake_backend: a backend whose compiler counts its calls and whose code is its source; what the cache needs, and no
// more.
#pragma once

#include "lowering/error.hpp"
#include "runtime/backend.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace ricci::test {

class fake_compiler : public runtime::compiler {
  public:
    std::string identity() const override { return name; }
    std::string options() const override { return flags; }
    std::string compile(const std::string& source) override {
        ++calls;
        std::this_thread::sleep_for(delay);
        if (source.find("error") != std::string::npos) throw error("does not compile", blame::environment);
        return "code of " + source + std::string(padding, 'x');
    }

    std::atomic<int> calls = 0;
    std::chrono::milliseconds delay{0};
    std::size_t padding = 0;
    std::string name = "fake 1", flags = "-fake";
};

/// A kernel's handle is the text that it was loaded from.
class fake_backend : public runtime::backend {
  public:
    const lowering::machine& machine() const override { return machine_; }
    fake_compiler& jit() override { return compiler_; }
    runtime::kernel_handle load(const std::string& code, const std::string&) override {
        const std::lock_guard lock(mutex_);
        if (!code.starts_with(accepts)) throw error("cannot be loaded", blame::environment);
        return const_cast<std::string*>(&*loaded_.insert(code).first);
    }
    void launch(runtime::kernel_handle, const runtime::launch_shape&, std::span<const std::uint64_t>) override {}
    void* allocate(std::size_t) override { return nullptr; }
    void release(void*) noexcept override {}
    void zero(void*, std::size_t) override {}
    void copy_in(void*, const void*, std::size_t) override {}
    void copy_out(void*, const void*, std::size_t) override {}
    void copy_within(void*, const void*, std::size_t) override {}
    void synchronize() override {}

    std::string accepts = "code of "; ///< what loadable code begins with

  private:
    lowering::machine machine_;
    fake_compiler compiler_;
    std::mutex mutex_;
    std::set<std::string> loaded_;
};

/// A fake_backend that is never deleted: the cache in memory knows backends by their address.
inline fake_backend& new_fake_backend() {
    static std::mutex mutex;
    static auto& all = *new std::vector<std::unique_ptr<fake_backend>>;
    const std::lock_guard lock(mutex);
    return *all.emplace_back(std::make_unique<fake_backend>());
}

} // namespace ricci::test
