// cpu_threads: runs the blocks of a CPU kernel on several threads.
#pragma once

#include <cstdint>
#include <memory>

namespace ricci::runtime {

/// A CPU kernel: runs blocks [first, last) with the arguments `words`.
using cpu_kernel = void (*)(const std::uint64_t* words, std::int64_t first, std::int64_t last);

/// oneTBB's workers are shared by all of the process: a program whose own threads run statements, or that uses oneTBB
/// itself, gets no second pool beside its own, and no more threads than processors.
class cpu_threads {
  public:
    /// As many as RICCI_NUM_THREADS says, at most the processors that this process may use, which is the default.
    cpu_threads();
    ~cpu_threads();

    int count() const { return count_; }
    /// Returns when all of [0, grid) has run, in tasks of about `blocks_a_task`.
    void run(cpu_kernel kernel, const std::uint64_t* words, std::int64_t grid, std::int64_t blocks_a_task);

  private:
    struct arena;
    int count_;
    std::unique_ptr<arena> arena_;
};

} // namespace ricci::runtime
