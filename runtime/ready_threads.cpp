// ready_threads: threads that wait for a little work without sleeping.
#include "runtime/ready_threads.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace ricci::runtime {

namespace {

using steady = std::chrono::steady_clock;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

} // namespace

void ready_threads::do_if_left(std::uint64_t round, int part) {
    auto& state = state_[static_cast<std::size_t>(part)].value;
    std::uint64_t expected = steps * round + to_do;
    if (!state.compare_exchange_strong(expected, steps * round + begun, std::memory_order_acq_rel,
                                       std::memory_order_relaxed))
        return;
    do_part_(work_, part);
    state.store(steps * round + done, std::memory_order_release);
}

void ready_threads::wait(int preferred, double seconds) {
    const auto dismissed = dismissed_.load(std::memory_order_relaxed);
    // In steps of which each counts a little at most: a thread that the system lets wait for a processor, perhaps
    // since the caller is at work on it, is to go on until it has moved to a free one.
    constexpr double most_of_step = 20e-6;
    auto seen = round_.load(std::memory_order_acquire);
    waiting_.fetch_add(1, std::memory_order_relaxed);
    auto last = steady::now();
    double left = seconds;
    for (unsigned looks = 1; left > 0; ++looks) {
        const auto round = round_.load(std::memory_order_acquire);
        if (round != seen) {
            seen = round;
            // too large a number where the next round has begun: then none of them can be begun in this one
            const int parts = parts_.load(std::memory_order_relaxed);
            for (int p = 0; p < parts; ++p)
                if (const int part = (preferred + p) % parts; part > 0) do_if_left(round, part);
            left = seconds;
            last = steady::now();
        } else if (dismissed_.load(std::memory_order_relaxed) != dismissed) {
            break;
        } else if (looks % 64 == 0) {
            const auto now = steady::now();
            left -= std::min(std::chrono::duration<double>(now - last).count(), most_of_step);
            last = now;
        } else {
            pause();
        }
    }
    waiting_.fetch_sub(1, std::memory_order_relaxed);
}

bool ready_threads::run(part_of_work do_part, const void* work, int parts) {
    if (busy_.test_and_set(std::memory_order_acquire)) return false;
    const auto round = round_.load(std::memory_order_relaxed) + 1;
    do_part_ = do_part, work_ = work;
    parts_.store(parts, std::memory_order_relaxed);
    for (int p = 1; p < parts; ++p)
        state_[static_cast<std::size_t>(p)].value.store(steps * round + to_do, std::memory_order_release);
    round_.store(round, std::memory_order_release);
    do_part(work, 0);
    for (int p = 1; p < parts; ++p) do_if_left(round, p);
    for (std::size_t p = 1; p < static_cast<std::size_t>(parts); ++p)
        for (unsigned looks = 1; state_[p].value.load(std::memory_order_acquire) != steps * round + done; ++looks)
            if (looks % 128 == 0) std::this_thread::yield();
            else pause();
    busy_.clear(std::memory_order_release);
    return true;
}

} // namespace ricci::runtime
