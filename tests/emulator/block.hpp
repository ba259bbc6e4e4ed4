// block: runs the threads of one emulated block as fibres on one host thread, in random order.
#pragma once

#include "tests/emulator/copy_engine.hpp"
#include "tests/emulator/state.hpp"

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace ricci::tests {

/// Fibres switch only at barriers and warp operations. Which runs next is drawn, so that threads which rely on an
/// order that no barrier gives see poisoned shared memory or old values in some runs.
class block_runner {
  public:
    using kernel = void (*)(const void* arguments);

    /// The state is the kernel's; its thread, barrier and exchange are set here.
    explicit block_runner(ricci_emulated_state& state) : state_(state) {}

    /// Runs all threads to their end. Throws ricci::error for a barrier or warp operation that not all threads reach,
    /// or that they reach at different lines, and for what copy_engine throws.
    void run(kernel entry, const void* arguments, int threads, int shared_bytes, std::mt19937_64& random);

  private:
    /// Not boost::context::fiber, which unwinds stacks that are left for good: kernels know no exceptions. Not
    /// swapcontext, whose two system calls were a third of the time of kernels with many barriers.
    using context = boost::context::detail::fcontext_t;
    using transfer = boost::context::detail::transfer_t;
    enum class status { ready, at_barrier, at_warp_operation, at_wait, ended };
    struct fibre {
        context at = nullptr; ///< where it goes on
        std::unique_ptr<std::byte[]> stack;
        void* kept = nullptr; ///< AddressSanitizer's
        status now = status::ready;
        int line = 0, kind = 0;
        unsigned mask = 0;
        unsigned long long given = 0;
        unsigned long long* all = nullptr;
    };

    static void barrier(int line);
    static void exchange(unsigned mask, int kind, int line, unsigned long long mine, unsigned long long* all);
    static void wait(const void* barrier, int parity);
    static void main(transfer from);
    template <class F> static void on_engine(F use);

    void start(std::size_t n);
    void resume(std::size_t n);
    void suspend();
    void attach_engine();
    void pass_barrier();
    void pass_warp_operation(std::size_t n);
    [[noreturn]] void fail(const std::string& what);
    std::string states() const;

    ricci_emulated_state& state_;
    std::vector<fibre> fibres_;
    std::size_t threads_ = 0, waiting_ = 0, running_ = 0;
    std::vector<std::size_t> ready_;
    context scheduler_ = nullptr;
    void* kept_ = nullptr;
    const void* scheduler_stack_ = nullptr;
    std::size_t scheduler_bytes_ = 0;
    kernel entry_ = nullptr;
    const void* arguments_ = nullptr;
    copy_engine engine_;
    std::mt19937_64* random_ = nullptr;
    int idle_waits_ = 0;  ///< in a row, by threads whose phase has not ended
    std::string failure_; ///< of the copy engine, thrown once the thread has left its stack
};

} // namespace ricci::tests
