// ready_threads: threads that wait for a little work without sleeping, so that it begins within a fraction of a
// microsecond. Whose threads they are, and when they come, is the caller's.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace ricci::runtime {

/// One thread has work at a time; another's `run` says no meanwhile. What no waiting thread has begun when the
/// caller has done its part, it does itself: a thread that left, or that the system took the processor from, or that
/// a forked process has not, is not waited for.
class ready_threads {
  public:
    static constexpr int most_parts = 64;
    using part_of_work = void (*)(const void* work, int part);

    /// Threads that wait now, about.
    int waiting() const { return waiting_.load(std::memory_order_relaxed); }

    /// Waits for work and does it until none has come for `seconds`, or `dismiss`. `preferred`: the part that this
    /// thread tries first, always the same, so that a core finds in its cache what it worked on.
    void wait(int preferred, double seconds);

    /// Runs do_part(work, p) for all p in [0, parts), 0 here. False, with nothing done, where another thread is at
    /// it.
    bool run(part_of_work do_part, const void* work, int parts);

    /// Those who wait return.
    void dismiss() { dismissed_.fetch_add(1, std::memory_order_relaxed); }

  private:
    enum step : std::uint64_t { to_do, begun, done, steps };
    /// How far a part is in the latest round that has it. Each on a line of memory that only its thread and the
    /// caller use.
    struct alignas(64) part_state { std::atomic<std::uint64_t> value{done}; };

    void do_if_left(std::uint64_t round, int part);

    std::array<part_state, most_parts> state_;
    // written by the caller; the work is read by those who have begun a part of it, for whom the caller waits
    alignas(64) std::atomic<std::uint64_t> round_{0};
    std::atomic<int> parts_{0};
    part_of_work do_part_ = nullptr;
    const void* work_ = nullptr;
    std::atomic<std::uint64_t> dismissed_{0};
    alignas(64) std::atomic<int> waiting_{0};
    std::atomic_flag busy_{};
};

} // namespace ricci::runtime
