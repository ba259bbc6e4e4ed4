// ready_threads_test: parts of work are done once each, by whoever is there.
#include "runtime/ready_threads.hpp"
#include "runtime/cpu_threads.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace ricci::runtime;
using namespace ricci::test;

namespace {

struct counts {
    std::array<std::atomic<int>, ready_threads::most_parts> of_part{};
    std::array<std::atomic<int>, ready_threads::most_parts> by_others{};
    std::thread::id caller = std::this_thread::get_id();
};

void count(const void* work, int part) {
    auto& c = *static_cast<counts*>(const_cast<void*>(work));
    ++c.of_part[static_cast<std::size_t>(part)];
    if (std::this_thread::get_id() != c.caller) ++c.by_others[static_cast<std::size_t>(part)];
}

} // namespace

TEST_CASE("where nobody waits the caller does all parts") {
    ready_threads threads;
    CHECK(threads.waiting() == 0);
    counts c;
    for (const int parts : {1, 2, 5, ready_threads::most_parts}) {
        for (auto& n : c.of_part) n = 0;
        REQUIRE(threads.run(count, &c, parts));
        for (int p = 0; p < ready_threads::most_parts; ++p)
            CHECK(c.of_part[static_cast<std::size_t>(p)] == (p < parts ? 1 : 0));
    }
}

TEST_CASE("threads that wait take parts, each once a round, and leave when they are dismissed") {
    ready_threads threads;
    std::vector<std::thread> others;
    for (int n = 1; n < 4; ++n) others.emplace_back([&threads, n] { threads.wait(n, 60.0); });
    while (threads.waiting() < 3) std::this_thread::yield();
    counts c;
    constexpr int rounds = 20000;
    for (int r = 0; r < rounds; ++r)
        if (!threads.run(count, &c, r % 5 + 1)) FAIL("nobody else has work");
    for (int p = 0; p < 5; ++p) {
        CHECK(c.of_part[static_cast<std::size_t>(p)] == rounds / 5 * (5 - p));
        if (p == 0) CHECK(c.by_others[0] == 0);
    }
    // however busy the machine is, they come in the end
    counts held;
    const auto until_another_came = [](const void* work, int part) {
        count(work, part);
        const auto& h = *static_cast<const counts*>(work);
        while (part == 0 && h.by_others[1] == 0) std::this_thread::yield();
    };
    REQUIRE(threads.run(until_another_came, &held, 2));
    CHECK(held.by_others[1] == 1);
    CHECK(held.of_part[1] == 1);
    threads.dismiss();
    for (auto& t : others) t.join();
    CHECK(threads.waiting() == 0);
}

TEST_CASE("threads that wait leave when no work comes") {
    ready_threads threads;
    std::thread other([&] { threads.wait(1, 1e-3); });
    other.join();
    CHECK(threads.waiting() == 0);
}

TEST_CASE("one caller at a time") {
    ready_threads threads;
    struct both {
        ready_threads& threads;
        std::atomic<int> refused{0};
    } b{threads};
    const auto again = [](const void* work, int) {
        auto& all = *static_cast<both*>(const_cast<void*>(work));
        counts c;
        if (!all.threads.run(count, &c, 2)) ++all.refused;
        CHECK(c.of_part[0] == 0);
    };
    CHECK(threads.run(again, &b, 1));
    CHECK(b.refused == 1);
    CHECK(threads.run(again, &b, 1)); // free again
}

TEST_CASE("little work in a row has every block once, and its failure reaches the caller") {
    const variable unset("RICCI_NUM_THREADS", "");
    cpu_threads threads({numa_node{2}});
    struct blocks {
        std::array<std::atomic<int>, 3000> done{};
        bool fails = false;
    } b;
    const auto kernel = [](const std::uint64_t* words, std::int64_t first, std::int64_t last) {
        auto& all = *reinterpret_cast<blocks*>(words[0]);
        for (auto n = first; n < last; ++n) ++all.done[static_cast<std::size_t>(n)];
        if (all.fails && last == 3000) throw std::runtime_error("the last block");
    };
    const std::array words{static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&b))};
    int times = 0;
    for (int time = 0; time < 3000; ++time) // 20 us, says the caller
        if (threads.run_if_worth(kernel, words.data(), 3000, 20e-6 / 3000)) ++times;
    for (const auto& n : b.done)
        if (n != times) FAIL("a block was done " << n << " times of " << times);
    b.fails = true;
    const auto run_all = [&] { // longer than threads are woken for
        while (!threads.run_if_worth(kernel, words.data(), 3000, 100e-6 / 3000)) {}
    };
    for (int time = 0; time < 20; ++time) CHECK_THROWS_AS(run_all(), std::runtime_error);
    CHECK_FALSE(threads.run_if_worth(kernel, words.data(), 3000, 1e-6 / 3000));
    CHECK_FALSE(threads.run_if_worth(kernel, words.data(), 1, 1.0));
}
