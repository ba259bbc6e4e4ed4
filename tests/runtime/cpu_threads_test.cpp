// cpu_threads_test: blocks and memory divided among nodes. The nodes are made up: their threads run anywhere.
#include "runtime/cpu_threads.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <sched.h>
#include <utility>
#include <vector>

using namespace ricci::runtime;
using namespace ricci::test;

namespace {

struct calls {
    std::mutex mutex;
    std::vector<std::pair<std::int64_t, std::int64_t>> rows;
};

void note(const std::uint64_t* words, std::int64_t first, std::int64_t last) {
    auto& all = *reinterpret_cast<calls*>(words[0]);
    const std::lock_guard lock(all.mutex);
    all.rows.emplace_back(first, last);
}

/// The rows of blocks that were run, in order; every block once.
std::vector<std::pair<std::int64_t, std::int64_t>> rows_of(cpu_threads& threads, std::int64_t grid,
                                                           std::int64_t blocks_a_task) {
    calls all;
    const std::array words{static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&all))};
    threads.run(note, words.data(), grid, blocks_a_task);
    std::sort(all.rows.begin(), all.rows.end());
    std::int64_t next = 0;
    for (const auto& [first, last] : all.rows) {
        CHECK(first == next);
        CHECK(last > first);
        next = last;
    }
    CHECK(next == grid);
    return all.rows;
}

/// Of many blocks, at the line of memory before it or behind it.
bool begins_at(const std::vector<std::pair<std::int64_t, std::int64_t>>& rows, std::int64_t block) {
    const std::int64_t near = rows.back().second >= 8192 ? 63 : 0;
    return std::any_of(rows.begin(), rows.end(), [&](const auto& r) { return std::abs(r.first - block) <= near; });
}

} // namespace

TEST_CASE("blocks are divided among nodes in proportion to their threads") {
    const variable unset("RICCI_NUM_THREADS", "");
    cpu_threads threads({{1}, {3}, {4}});
    CHECK(threads.count() == 8);
    for (const std::int64_t grid : {1, 2, 7, 8, 1001, 80000}) {
        CAPTURE(grid);
        const auto rows = rows_of(threads, grid, 1 << 20); // a node's blocks in one task
        CHECK(rows.size() <= 3);
        CHECK(begins_at(rows, grid / 8));
        CHECK(begins_at(rows, grid / 2));
    }
    CHECK(rows_of(threads, 1001, 10).size() > 3);
    for (const auto& [first, last] : rows_of(threads, 80001, 100)) CHECK(first % 64 == 0);
}

TEST_CASE("threads run on their node's processors, and elsewhere again behind that") {
    const variable unset("RICCI_NUM_THREADS", "");
    cpu_set_t before, after;
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    std::vector<int> own;
    for (int n = 0; n < CPU_SETSIZE; ++n)
        if (CPU_ISSET(n, &before)) own.push_back(n);
    cpu_threads threads({{1, {own.front()}}, {1, {own.back()}}});
    struct places {
        std::mutex mutex;
        std::vector<std::pair<std::int64_t, int>> of_rows;
    } all;
    const auto look = [](const std::uint64_t* words, std::int64_t first, std::int64_t) {
        auto& p = *reinterpret_cast<places*>(words[0]);
        const std::lock_guard lock(p.mutex);
        p.of_rows.emplace_back(first, sched_getcpu());
    };
    const std::array words{static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&all))};
    for (int time = 0; time < 20; ++time) threads.run(look, words.data(), 100, 1);
    CHECK(all.of_rows.size() >= 40);
    for (const auto& [row, place] : all.of_rows) CHECK(place == (row < 50 ? own.front() : own.back()));
    REQUIRE(sched_getaffinity(0, sizeof after, &after) == 0);
    CHECK(CPU_EQUAL(&before, &after));
}

TEST_CASE("fewer threads than nodes") {
    const variable one("RICCI_NUM_THREADS", "1");
    cpu_threads threads({{2}, {2}});
    CHECK(threads.count() == 1);
    CHECK(rows_of(threads, 100, 1000).size() == 1);
    CHECK(cpu_threads().count() == 1);
}

TEST_CASE("memory is placed page by page, and nothing beyond it is written") {
    const variable unset("RICCI_NUM_THREADS", "");
    cpu_threads two({{1}, {1}}), one({numa_node{2}});
    constexpr std::size_t page = 4096;
    for (const std::size_t bytes : {std::size_t{1}, page - 1, page, 10 * page + 1, 3000 * page}) {
        std::vector<char> memory(bytes + page, 1);
        one.touch(memory.data(), bytes);
        CHECK(std::count(memory.begin(), memory.end(), 0) == 0);
        two.touch(memory.data(), bytes);
        for (std::size_t p = 0; p < bytes; p += page)
            if (memory[p] != 0) FAIL("page " << p / page << " of " << bytes << " bytes");
        CHECK(std::count(memory.begin() + static_cast<std::ptrdiff_t>(bytes), memory.end(), 0) == 0);
    }
    two.touch(nullptr, 0);
}

TEST_CASE("this machine's nodes") {
    const auto nodes = numa_nodes();
    REQUIRE(!nodes.empty());
    for (const auto& n : nodes) CHECK(n.processors > 0);
}
