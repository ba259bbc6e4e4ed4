// cuda_constants: what launches of a kernel with constants find in them, on a real GPU: on streams of several
// threads, and in graphs that run at the same time.
#include "tests/catch.hpp"
#include "tests/runtime/gpu.hpp"
#include "tests/runtime/scratch.hpp"

#include <array>
#include <memory>
#include <thread>
#include <vector>

using namespace ricci;
using namespace ricci::runtime;
using test::buffer;
using test::gpu;

namespace {

constexpr int rounds = 40;

/// Reads its constants only after some time.
kernel_handle late_reader() {
    static const kernel_handle k = test::kernel(R"(struct arguments { long long* x; };
extern "C" { __constant__ long long ricci_constants[3]; }
extern "C" __global__ void late_reader(arguments a) {
    const long long begin = clock64();
    while (clock64() - begin < 100000) {}
    if (ricci_constants[1] != 10 * ricci_constants[0]) a.x[0] = -1;
    else if (a.x[0] >= 0) a.x[0] += ricci_constants[0];
}
)",
                                                "late_reader");
    return k;
}

struct numbered {
    explicit numbered(long long number) : from(std::vector<long long>{number, 10 * number}), x(1) {}
    void launch() const {
        const std::array<std::uint64_t, 1> words{x.word()};
        const std::array<constant_piece, 2> pieces{constant_piece{from.word(), 0, 8},
                                                   constant_piece{from.word() + 8, 8, 8}};
        gpu().launch_with_constants(late_reader(), {1, 1}, words, pieces);
    }
    buffer<long long> from, x;
};

} // namespace

TEST_CASE("launches of several threads, each on a stream of its own, find each its own constants") {
    late_reader();
    std::array<long long, 4> sums{};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < sums.size(); ++t)
        threads.emplace_back([&sums, t] {
            const test::stream s;
            gpu().set_stream(s);
            const numbered mine(static_cast<long long>(t) + 1);
            for (int r = 0; r < rounds; ++r) mine.launch();
            sums[t] = mine.x.download()[0];
        });
    for (auto& t : threads) t.join();
    for (std::size_t t = 0; t < sums.size(); ++t) CHECK(sums[t] == rounds * (static_cast<long long>(t) + 1));
}

TEST_CASE("graphs that run at the same time have constants of their own, and leave them to the next graph") {
    late_reader();
    const test::stream one, other;
    for (int again = 0; again < 3; ++again) {
        const numbered a(1 + again), b(100 + again);
        const auto captured = [](const test::stream& s, const numbered& n) {
            gpu().set_stream(s);
            s.begin_capture();
            for (int launch = 0; launch < 3; ++launch) n.launch();
            return std::make_unique<test::graph>(s.end_capture());
        };
        const auto first = captured(one, a), second = captured(other, b);
        for (int r = 0; r < rounds; ++r) first->launch(one), second->launch(other);
        gpu().set_stream(one), gpu().synchronize();
        CHECK(a.x.download()[0] == 3 * rounds * (1 + again));
        gpu().set_stream(other), gpu().synchronize();
        CHECK(b.x.download()[0] == 3 * rounds * (100 + again));
    }
}
