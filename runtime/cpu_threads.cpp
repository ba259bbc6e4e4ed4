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
#include <tbb/task_group.h>

namespace ricci::runtime {

namespace {

int thread_count(int processors) {
    const char* text = variable("RICCI_NUM_THREADS");
    if (!text) return processors;
    int count = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, failure] = std::from_chars(text, end, count);
    if (failure != std::errc() || stop != end || count < 1)
        throw error(fmt::format("RICCI_NUM_THREADS is \"{}\": expected a number from 1", text), blame::environment);
    return std::min(count, processors);
}

/// Of a node's tasks: from here on threads that end early take some of others; below each has one part, which two
/// threads do 1.76 times as fast as one in statements of 10 to 30 us, not 1.63 times.
constexpr std::int64_t few_tasks = 128;

constexpr std::size_t page = 4096;

/// words: memory, bytes.
void write_to_pages(const std::uint64_t* words, std::int64_t first, std::int64_t last) {
    auto* memory = reinterpret_cast<char*>(static_cast<std::uintptr_t>(words[0]));
    for (auto p = static_cast<std::size_t>(first); p < static_cast<std::size_t>(last); ++p) {
        volatile char& byte = memory[std::min<std::size_t>(p * page, words[1] - 1)];
        byte = 0;
    }
}

} // namespace

std::vector<numa_node> numa_nodes() {
    const auto ids = tbb::info::numa_nodes();
    if (ids.size() < 2) return {{-1, tbb::info::default_concurrency()}};
    std::vector<numa_node> out;
    for (const auto id : ids) out.push_back({id, tbb::info::default_concurrency(id)});
    return out;
}

/// One arena for each node that has threads, and how many those before it have.
struct cpu_threads::arena {
    std::vector<std::unique_ptr<tbb::task_arena>> nodes;
    std::vector<int> threads_before{0};

    arena(const std::vector<numa_node>& all, int count) {
        int processors = 0, before = 0, sum = 0;
        for (const auto& n : all) sum += n.processors;
        for (const auto& n : all) {
            processors += n.processors;
            const int threads = static_cast<int>(std::int64_t{count} * processors / sum) - before;
            if (threads == 0) continue;
            before += threads;
            nodes.push_back(std::make_unique<tbb::task_arena>(tbb::task_arena::constraints(n.id, threads)));
            threads_before.push_back(before);
        }
    }

    std::int64_t first_block(std::size_t node, std::int64_t grid) const {
        const std::int64_t all = threads_before.back(), before = threads_before[node];
        return grid / all * before + grid % all * before / all;
    }
};

cpu_threads::cpu_threads(const std::vector<numa_node>& nodes) : count_(0) {
    for (const auto& n : nodes) count_ += n.processors;
    count_ = thread_count(count_);
    arena_ = std::make_unique<arena>(nodes, count_);
}

cpu_threads::~cpu_threads() = default;

void cpu_threads::run(cpu_kernel kernel, const std::uint64_t* words, std::int64_t grid, std::int64_t blocks_a_task) {
    const auto& nodes = arena_->nodes;
    blocks_a_task = std::max<std::int64_t>(blocks_a_task, 1);
    const auto grain = static_cast<std::size_t>(blocks_a_task);
    const auto run_part = [&](std::size_t node) {
        const auto first = arena_->first_block(node, grid), last = arena_->first_block(node + 1, grid);
        const tbb::blocked_range<std::int64_t> blocks(first, last, grain);
        const auto run_blocks = [&](const auto& some) { kernel(words, some.begin(), some.end()); };
        if ((last - first) / blocks_a_task < few_tasks)
            tbb::parallel_for(blocks, run_blocks, tbb::static_partitioner());
        else tbb::parallel_for(blocks, run_blocks);
    };
    if (nodes.size() == 1) return nodes[0]->execute([&] { run_part(0); });
    std::vector<tbb::task_group> others(nodes.size());
    for (std::size_t n = 1; n < nodes.size(); ++n)
        nodes[n]->execute([&, n] { others[n].run([&, n] { run_part(n); }); });
    nodes[0]->execute([&] { run_part(0); });
    for (std::size_t n = 1; n < nodes.size(); ++n) nodes[n]->execute([&, n] { others[n].wait(); });
}

void cpu_threads::touch(void* memory, std::size_t bytes) {
    if (arena_->nodes.size() < 2 || bytes == 0) return;
    const std::uint64_t words[] = {reinterpret_cast<std::uintptr_t>(memory), bytes};
    run(write_to_pages, words, static_cast<std::int64_t>((bytes + page - 1) / page), 1024);
}

} // namespace ricci::runtime
