// fake_gpu: a GPU whose kernels do nothing, in the time that the test says; for what chooses among kernels.
#pragma once

#include "lowering/error.hpp"
#include "tests/bound_text.hpp"
#include "tests/host_backend.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>

namespace ricci::test {

/// The constants of a kernel's prelude by name.
struct fake_kernel {
    std::map<std::string, int> constant;
    int at(const char* name) const { return constant.at(name); }
};

class fake_gpu : public tests::host_backend {
  public:
    /// `chip` is the name of the machine, by which its database is found.
    explicit fake_gpu(const std::string& chip) : machine_(tests::some_gpu()) { machine_.name = chip; }

    const lowering::machine& machine() const override { return machine_; }
    runtime::compiler& jit() override { return compiler_; }
    runtime::kernel_handle load(const std::string& code, const std::string&) override {
        fake_kernel k;
        std::istringstream lines(code);
        for (std::string line; std::getline(lines, line);) { // a std::regex took most of the tests' time
            char type[8], name[64], value[24], end = 0;
            const auto at = line.find("constexpr ");
            if (at != std::string::npos &&
                std::sscanf(line.c_str() + at, "constexpr %7s %63[A-Za-z0-9_] = %23[A-Za-z0-9_]%c", type, name, value,
                            &end) == 4 &&
                end == ';' && (std::string_view(type) == "int" || std::string_view(type) == "bool"))
                k.constant[name] = std::string_view(value) == "true" ? 1 : std::atoi(value); // "false" is 0
        }
        const std::lock_guard lock(mutex_);
        return &kernels_.emplace_back(std::move(k));
    }
    void launch(runtime::kernel_handle handle, const runtime::launch_shape& shape,
                std::span<const std::uint64_t> words) override {
        const auto& k = *static_cast<const fake_kernel*>(handle);
        grid = shape.grid;
        if (on_launch) on_launch(k, words);
        now_ += seconds(k);
        ++launches;
    }
    runtime::kernel_use use_of(runtime::kernel_handle handle) override {
        const auto& k = *static_cast<const fake_kernel*>(handle);
        return {64, spills && spills(k) ? 128 : 0};
    }
    double seconds_of(const std::function<void()>& work) override {
        if (is_capturing) throw error("timing while a stream is captured", blame::environment);
        const double begin = now_;
        work();
        return now_ - begin;
    }
    void* allocate(std::size_t bytes) override {
        if (bytes > most_bytes) throw error("fake GPU: out of memory", blame::environment);
        ++pieces;
        return std::malloc(bytes);
    }
    void release(void* memory) noexcept override {
        --pieces;
        std::free(memory);
    }
    bool capturing() const override { return is_capturing; }

    std::function<double(const fake_kernel&)> seconds = [](const fake_kernel&) { return 1e-4; };
    std::function<bool(const fake_kernel&)> spills, fails; ///< fails: to compile
    std::function<void(const fake_kernel&, std::span<const std::uint64_t>)> on_launch;
    std::size_t most_bytes = std::size_t{1} << 30;
    std::atomic<int> compiled = 0;
    std::int64_t grid = 0;        ///< of the launch that `seconds` is asked for
    int launches = 0, pieces = 0; ///< memory that was not released
    bool is_capturing = false;

  private:
    class fake_compiler : public runtime::compiler {
      public:
        explicit fake_compiler(fake_gpu& owner) : owner_(owner) {}
        std::string identity() const override { return "fake"; }
        std::string options() const override { return "-fake"; }
        std::string compile(const std::string& source) override {
            ++owner_.compiled;
            if (owner_.fails) {
                const std::unique_ptr<fake_kernel> k(
                    new fake_kernel(*static_cast<fake_kernel*>(owner_.load(source, ""))));
                if (owner_.fails(*k)) throw error("does not compile\nand here is why", blame::environment);
            }
            return source.substr(0, source.find("\n//")); // the prelude
        }

      private:
        fake_gpu& owner_;
    };

    lowering::machine machine_;
    fake_compiler compiler_{*this};
    std::mutex mutex_;
    std::deque<fake_kernel> kernels_;
    double now_ = 0;
};

/// One that is never deleted: the cache in memory knows backends by their address.
inline fake_gpu& new_fake_gpu(const std::string& chip) {
    static auto& all = *new std::deque<fake_gpu>;
    return all.emplace_back(chip);
}

/// One that is the device of this code, for as long as the process: each code is used once.
inline fake_gpu& register_fake_gpu(std::int32_t code, const std::string& chip) {
    auto owned = std::make_unique<fake_gpu>(chip);
    auto& out = *owned;
    auto held = std::make_shared<std::unique_ptr<fake_gpu>>(std::move(owned));
    runtime::register_backend(code, [held] { return std::move(*held); });
    runtime::backend_of(device(code));
    return out;
}

} // namespace ricci::test
