// cpu_threads: runs the blocks of a CPU kernel on several threads.
//
// The only file with oneTBB in it. The thread sanitizer cannot see how oneTBB's library synchronises, and would
// report its templates; so this file alone is built without it (CMakeLists.txt).
#include "runtime/cpu_threads.hpp"

#include "lowering/error.hpp"
#include "runtime/environment.hpp"
#include "runtime/ready_threads.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sched.h>
#include <string>
#include <string_view>
#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/task_scheduler_observer.h>
#include <utility>

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

/// As Linux writes sets of numbers: "0-3,8,10-11".
std::vector<int> listed_numbers(std::string_view list) {
    std::vector<int> out;
    for (const char *p = list.data(), *end = p + list.size(); p < end; ++p) {
        int first = 0, last = 0;
        p = std::from_chars(p, end, first).ptr;
        last = first;
        if (p < end && *p == '-') p = std::from_chars(p + 1, end, last).ptr;
        for (int n = first; n <= last; ++n) out.push_back(n);
    }
    return out;
}

/// Threads run on a node's processors while they are in its arena.
class node_threads : public tbb::task_scheduler_observer {
  public:
    node_threads(tbb::task_arena& arena, const std::vector<int>& numbers) : task_scheduler_observer(arena) {
        CPU_ZERO(&processors_);
        for (const int n : numbers) CPU_SET(n, &processors_);
        if (!numbers.empty()) observe(true);
    }
    ~node_threads() override { observe(false); }
    void on_scheduler_entry(bool) override {
        auto& before = before_.emplace_back();
        sched_getaffinity(0, sizeof before, &before);
        sched_setaffinity(0, sizeof processors_, &processors_);
    }
    void on_scheduler_exit(bool) override {
        if (before_.empty()) return;
        sched_setaffinity(0, sizeof before_.back(), &before_.back());
        before_.pop_back();
    }

  private:
    cpu_set_t processors_;
    static thread_local std::vector<cpu_set_t> before_;
};

thread_local std::vector<cpu_set_t> node_threads::before_;

/// Where a part of many blocks begins: operands whose first product lies on a line of memory, as a tensor's does,
/// have the first of each part on one too, else vectors of all the part would cross lines (f64 3 x 3 x 3 in L2: two
/// threads 1.36 times one, so 1.65).
constexpr std::int64_t whole_lines = 64, many_blocks = 1024;
std::int64_t unit_of(std::int64_t grid, std::int64_t parts) { return grid / parts >= many_blocks ? whole_lines : 1; }

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

// Not by oneTBB's constraints: the library behind them is loaded in a way that AddressSanitizer forbids.
std::vector<numa_node> numa_nodes() {
    namespace fs = std::filesystem;
    std::vector<numa_node> out;
    cpu_set_t own;
    std::error_code none;
    const fs::path folder("/sys/devices/system/node");
    if (sched_getaffinity(0, sizeof own, &own) == 0)
        for (const auto& entry : fs::directory_iterator(folder, none)) {
            std::ifstream file(entry.path() / "cpulist");
            std::string list;
            if (!std::getline(file, list)) continue;
            auto numbers = listed_numbers(list);
            std::erase_if(numbers, [&](int n) { return n >= CPU_SETSIZE || !CPU_ISSET(n, &own); });
            if (!numbers.empty()) out.push_back({static_cast<int>(numbers.size()), std::move(numbers)});
        }
    if (out.size() < 2) return {{tbb::info::default_concurrency()}};
    std::sort(out.begin(), out.end(), [](const auto& x, const auto& y) { return x.numbers < y.numbers; });
    return out;
}

namespace {

/// Threads that wait, how many were called to do so and have not left, and when work last came.
struct readiness {
    ready_threads threads;
    std::atomic<int> called{0};
    std::atomic<std::int64_t> last_came{0};

    /// Whether the work before this came just now, in nanoseconds of a clock that goes on.
    bool is_in_a_row() {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        const std::int64_t at = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
        return static_cast<double>(at - last_came.exchange(at, std::memory_order_relaxed)) < in_a_row * 1e9;
    }
};

/// A kernel's blocks in even parts, and the first failure of a part.
struct divided_work {
    cpu_kernel kernel;
    const std::uint64_t* words;
    std::int64_t grid, parts;
    std::atomic_flag failed{};
    std::exception_ptr failure{};

    std::int64_t first_of(std::int64_t part) const {
        if (part == parts) return grid;
        const auto first = grid / parts * part + grid % parts * part / parts;
        return first - first % unit_of(grid, parts);
    }

    static void do_part(const void* work, int part) {
        auto& w = *static_cast<divided_work*>(const_cast<void*>(work));
        try {
            w.kernel(w.words, w.first_of(part), w.first_of(part + 1));
        } catch (...) {
            if (!w.failed.test_and_set()) w.failure = std::current_exception();
        }
    }
};

} // namespace

/// One arena for each node that has threads, and how many those before it have.
struct cpu_threads::arena {
    std::vector<std::unique_ptr<tbb::task_arena>> nodes;
    std::vector<std::unique_ptr<node_threads>> pinned;
    std::vector<int> threads_before{0};
    std::shared_ptr<readiness> ready = std::make_shared<readiness>(); ///< shared with those who wait

    /// Threads come that wait for work, if they have not been called yet.
    void call_ready(int count) {
        while (ready->called.fetch_add(1, std::memory_order_relaxed) < count)
            nodes.front()->enqueue([ready = ready] {
                ready->threads.wait(tbb::this_task_arena::current_thread_index(), waiting_seconds);
                ready->called.fetch_sub(1, std::memory_order_relaxed);
            });
        ready->called.fetch_sub(1, std::memory_order_relaxed);
    }

    arena(const std::vector<numa_node>& all, int count) {
        int processors = 0, before = 0, sum = 0;
        for (const auto& n : all) sum += n.processors;
        for (const auto& n : all) {
            processors += n.processors;
            const int threads = static_cast<int>(std::int64_t{count} * processors / sum) - before;
            if (threads == 0) continue;
            before += threads;
            const unsigned own = nodes.empty() ? 1 : 0; // the thread that calls works in the first
            nodes.push_back(std::make_unique<tbb::task_arena>(threads, own));
            pinned.push_back(std::make_unique<node_threads>(*nodes.back(), n.numbers));
            threads_before.push_back(before);
        }
    }

    /// In units that are not divided.
    std::int64_t first_unit(std::size_t node, std::int64_t units) const {
        const std::int64_t all = threads_before.back(), before = threads_before[node];
        return units / all * before + units % all * before / all;
    }
};

cpu_threads::cpu_threads(const std::vector<numa_node>& nodes) : count_(0) {
    for (const auto& n : nodes) count_ += n.processors;
    count_ = thread_count(count_);
    arena_ = std::make_unique<arena>(nodes, count_);
}

cpu_threads::~cpu_threads() { arena_->ready->threads.dismiss(); }

void cpu_threads::run(cpu_kernel kernel, const std::uint64_t* words, std::int64_t grid, std::int64_t blocks_a_task) {
    const auto& nodes = arena_->nodes;
    const std::int64_t unit = unit_of(grid, count_), units = (grid + unit - 1) / unit;
    const std::int64_t units_a_task = std::max<std::int64_t>((blocks_a_task + unit - 1) / unit, 1);
    const auto run_part = [&](std::size_t node) {
        const auto first = arena_->first_unit(node, units), last = arena_->first_unit(node + 1, units);
        const tbb::blocked_range<std::int64_t> range(first, last, static_cast<std::size_t>(units_a_task));
        const auto run_units = [&](const auto& some) {
            kernel(words, some.begin() * unit, std::min(some.end() * unit, grid));
        };
        // A thread that waits here must not take up another statement's blocks: its slices use this thread's memory.
        tbb::this_task_arena::isolate([&] {
            if ((last - first) / units_a_task < few_tasks)
                tbb::parallel_for(range, run_units, tbb::static_partitioner());
            else tbb::parallel_for(range, run_units);
        });
    };
    if (nodes.size() == 1) return nodes[0]->execute([&] { run_part(0); });
    std::vector<tbb::task_group> others(nodes.size());
    for (std::size_t n = 1; n < nodes.size(); ++n)
        nodes[n]->execute([&, n] { others[n].run([&, n] { run_part(n); }); });
    nodes[0]->execute([&] { run_part(0); });
    // Not isolated: this thread is in no slice here, and where no other one comes it must do the part itself.
    for (std::size_t n = 1; n < nodes.size(); ++n) nodes[n]->execute([&, n] { others[n].wait(); });
}

bool cpu_threads::run_on_ready(cpu_kernel kernel, const std::uint64_t* words, std::int64_t grid, double seconds) {
    const double most = std::min<double>({seconds / worth_a_ready_part, static_cast<double>(grid),
                                          static_cast<double>(std::min(count_, ready_threads::most_parts))});
    const int parts = static_cast<int>(most);
    auto& threads = arena_->ready->threads;
    if (parts < 2 || threads.waiting() < parts - 1) return false;
    divided_work work{kernel, words, grid, parts};
    if (!threads.run(divided_work::do_part, &work, parts)) return false;
    if (work.failure) std::rethrow_exception(work.failure);
    return true;
}

bool cpu_threads::run_if_worth(cpu_kernel kernel, const std::uint64_t* words, std::int64_t grid,
                               double seconds_of_one) {
    const double seconds = static_cast<double>(grid) * seconds_of_one;
    if (count_ == 1 || grid == 1 || seconds < worth_ready_threads) return false;
    const bool is_little = seconds < worth_a_task * few_tasks && arena_->nodes.size() == 1;
    if (!is_little) {
        arena_->ready->threads.dismiss(); // they are to take tasks
    } else {
        const bool another_comes = arena_->ready->is_in_a_row();
        if (run_on_ready(kernel, words, grid, seconds)) return true;
        if (another_comes) arena_->call_ready(count_ - 1);
    }
    if (seconds < worth_threads) return false;
    run(kernel, words, grid, static_cast<std::int64_t>(std::min(std::ceil(worth_a_task / seconds_of_one), 1e15)));
    return true;
}

void cpu_threads::touch(void* memory, std::size_t bytes) {
    if (arena_->nodes.size() < 2 || bytes == 0) return;
    const std::uint64_t words[] = {reinterpret_cast<std::uintptr_t>(memory), bytes};
    run(write_to_pages, words, static_cast<std::int64_t>((bytes + page - 1) / page), 1024);
}

} // namespace ricci::runtime
