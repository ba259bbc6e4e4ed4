// host_threads: the host's own work, such as compiling, on several of its threads.
#include "runtime/host_threads.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

namespace ricci::runtime {

void on_host_threads(std::size_t count, int threads, const std::function<void(std::size_t)>& work,
                     const std::function<bool(std::size_t done)>& watch) {
    std::atomic<std::size_t> next = 0, done = 0;
    std::atomic<bool> leave_off = false;
    const auto take = [&] {
        for (std::size_t n; !leave_off && (n = next++) < count; ++done) work(n);
    };
    const auto wanted = std::min<std::size_t>(
        threads > 0 ? static_cast<std::size_t>(threads) : std::max(1u, std::thread::hardware_concurrency()), count);
    std::vector<std::jthread> others; // joined whatever is thrown below
    try {
        for (std::size_t n = 0; n < wanted; ++n) others.emplace_back(take);
    } catch (const std::system_error&) { // no more threads are to be had: those that run will do
        if (others.empty()) take();
    }
    while (watch && done < count && !leave_off) {
        if (!watch(done)) leave_off = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

} // namespace ricci::runtime
