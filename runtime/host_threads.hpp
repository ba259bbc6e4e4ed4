// host_threads: the host's own work, such as compiling, on several of its threads.
#pragma once

#include <cstddef>
#include <functional>

namespace ricci::runtime {

/// work(0) to work(count - 1), which throw nothing, each on the next free of `threads` threads (0: as many as the
/// machine has); on fewer where the system gives no more. `watch`, if there is one, is called here every other
/// millisecond with how many are done, and ends it by returning false: what is under way is waited for.
void on_host_threads(std::size_t count, int threads, const std::function<void(std::size_t)>& work,
                     const std::function<bool(std::size_t done)>& watch = {});

} // namespace ricci::runtime
