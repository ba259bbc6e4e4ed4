// cpu_threads: runs the blocks of a CPU kernel on several threads.
//
// The only file with oneTBB in it. The thread sanitizer cannot see how oneTBB's library synchronises, and would
// report its templates; so this file alone is built without it (CMakeLists.txt).
#include "runtime/cpu_threads.hpp"

#include "lowering/error.hpp"
#include "runtime/environment.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace ricci::runtime {

namespace {

int thread_count() {
    const int processors = tbb::info::default_concurrency();
    const char* text = variable("RICCI_NUM_THREADS");
    if (!text) return processors;
    int count = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, failure] = std::from_chars(text, end, count);
    if (failure != std::errc() || stop != end || count < 1)
        throw error(fmt::format("RICCI_NUM_THREADS is \"{}\": expected a number from 1", text), blame::environment);
    return std::min(count, processors);
}

} // namespace

struct cpu_threads::arena {
    tbb::task_arena tasks;
};

cpu_threads::cpu_threads() : count_(thread_count()), arena_(new arena{tbb::task_arena(count_)}) {}

cpu_threads::~cpu_threads() = default;

void cpu_threads::run(cpu_kernel kernel, const std::uint64_t* words, std::int64_t grid, std::int64_t blocks_a_task) {
    const tbb::blocked_range<std::int64_t> all(0, grid,
                                               static_cast<std::size_t>(std::max<std::int64_t>(blocks_a_task, 1)));
    arena_->tasks.execute([&] {
        tbb::parallel_for(all, [&](const tbb::blocked_range<std::int64_t>& blocks) {
            kernel(words, blocks.begin(), blocks.end());
        });
    });
}

} // namespace ricci::runtime
