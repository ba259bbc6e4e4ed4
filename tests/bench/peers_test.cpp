// peers_test: the peers on a CPU give right results where they take part, say so where they do not, and share the
// work among threads.
#include "bench/in_parallel.hpp"
#include "bench/operand_sets.hpp"
#include "bench/peak.hpp"
#include "bench/peers/peer.hpp"
#include "lowering/error.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <map>

using namespace ricci;
using namespace ricci::bench;
using enum lowering::scalar_type;

namespace {

/// Null where it is not there, which is said.
std::unique_ptr<peer> peer_if_there(const std::string& name, device_tools& tools) {
    try {
        return make_peer(name, cpu(), tools);
    } catch (const error& e) {
        CHECK(e.blame() == blame::environment);
        WARN(name << ": " << e.what());
        return nullptr;
    }
}

/// Runs every way that `who` has to compute `p`, on operands that are not aligned; returns how many there are.
std::size_t check_all(peer& who, const product& p, device_tools& tools) {
    const work w = work_of(p);
    device_memory memory;
    const operand_sets sets(w, cpu(), 1, true, memory);
    const auto& at = sets.addresses().front();
    const auto fill = [&](std::size_t o) {
        if (w.operands[o].contents) {
            const auto contents = w.operands[o].contents(at);
            runtime::copy(cpu(), at[o], cpu(), contents.data(), contents.size());
        } else {
            tools.fill(w.operands[o].type, at[o], w.operands[o].elements, numbers_of(w.operands[o], o, 0));
        }
    };
    for (std::size_t o = 0; o < w.operands.size(); ++o) fill(o);
    const operand_set set{at[0], at[1], at[2], nullptr, nullptr};
    const auto all = who.contenders(p, {&set, 1});
    for (const contender& c : all) {
        CAPTURE(c.peer, c.variant, text_of(p), p.m, p.n, p.k, lowering::name_of(p.a.type));
        fill(2);
        c.run(0);
        const findings found = tools.check(p, set, numbers_of(w.operands[2], 2, 0));
        CHECK(found.wrong == 0);
        CHECK(found.looked_at == p.m * p.n * p.batch);
    }
    return all.size();
}

product batch_of(const shape& s, lowering::scalar_type type, const operations& ops, bool accumulate,
                 const batch_layout& layout = {}) {
    return make_batched(s, {type, type}, ops, layout, accumulate, 9);
}

} // namespace

TEST_CASE("libraries compute what they are asked for, in every transposition") {
    const auto tools = make_device_tools(cpu());
    for (const char* name : {"blas", "libxsmm"}) {
        const auto who = peer_if_there(name, *tools);
        if (!who) continue;
        CHECK_FALSE((std::string(name) == "libxsmm" && who->version().empty()));
        std::map<std::string, std::size_t> ways;
        for (const auto type : {f64, f32, c64, c128, f16})
            for (const bool accumulate : {false, true})
                for (const char* ops : {"NN", "NT", "TN", "TT"})
                    for (const shape& s : {shape{5, 3, 7}, shape{8, 8, 8}, shape{1, 4, 2}, shape{33, 1, 16}})
                        for (const batch_layout& layout :
                             {batch_layout{}, batch_layout{layout::shared, 1}, batch_layout{layout::gathered, 0}})
                            ways[fmt::format("{} {}", lowering::name_of(type), ops)] +=
                                check_all(*who, batch_of(s, type, {ops[0], ops[1]}, accumulate, layout), *tools);
        CHECK((ways["f64 NN"] > 0 && ways["f32 NT"] > 0 && ways["f16 NN"] == 0));
        CHECK((ways["c64 NN"] > 0) == (std::string(name) == "blas"));
        if (std::string(name) == "blas") CHECK(ways["f64 TT"] > 0);
        const auto fields = make_batched({4, 4, 4}, {f64, f64}, {'N', 'N'}, {layout::interleaved, 0}, true, 9);
        CHECK(check_all(*who, fields, *tools) == 0);
    }
}

TEST_CASE("Eigen and plain loops, compiled for a product, compute it") {
    const auto tools = make_device_tools(cpu());
    const product all[] = {
        batch_of({5, 3, 7}, f64, {'N', 'N'}, true),
        batch_of({4, 6, 9}, f32, {'T', 'N'}, false, {layout::contiguous, 2}),
        batch_of({1, 5, 3}, c128, {'C', 'T'}, true, {layout::contiguous, 1}),
        batch_of({7, 1, 12}, c64, {'N', 'C'}, false, {layout::gathered, 0}),
    };
    for (const char* name : {"eigen", "ijk", "ikj"}) {
        const auto who = peer_if_there(name, *tools);
        if (!who) continue;
        CHECK_FALSE(who->version().empty());
        for (const product& p : all) CHECK(check_all(*who, p, *tools) == (std::string(name) == "eigen" ? 2 : 1));
        for (const product& p : {batch_of({4, 4, 4}, f16, {'N', 'N'}, true),
                                 batch_of({4, 4, 4}, f64, {'N', 'N'}, true, {layout::interleaved, 0}),
                                 batch_of({129, 4, 4}, f64, {'N', 'N'}, true)})
            CHECK(check_all(*who, p, *tools) == 0);
    }
}

TEST_CASE("a peer on another kind of device is refused") {
    const auto tools = make_device_tools(cpu());
    for (const char* name : {"blas", "libxsmm", "eigen", "ijk", "ikj"})
        CHECK_THROWS_WITH(make_peer(name, device(1), *tools), std::string(name) + " is a peer on the CPU");
    CHECK_THROWS_WITH(make_peer("cublas", cpu(), *tools), "cublas is a peer on a GPU");
}

TEST_CASE("parts cover everything once, and small batches stay on one thread") {
    std::vector<std::atomic<int>> seen(1000);
    in_parallel(1000, 7, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t n = first; n < last; ++n) ++seen[static_cast<std::size_t>(n)];
    });
    CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& n) { return n == 1; }));
    int calls = 0;
    in_parallel(1000, 1000, [&](std::int64_t first, std::int64_t last) {
        ++calls;
        CHECK((first == 0 && last == 1000));
    });
    CHECK(calls == 1);
    const auto seconds = [](std::int64_t batch) {
        return seconds_of_one(make_batched({8, 8, 8}, {f64, f64}, {'N', 'N'}, {}, true, batch));
    };
    CHECK(seconds(1000) > 1e-9);
    CHECK(seconds(1000) < 1e-5);
    CHECK(std::abs(seconds(1000) - seconds(10'000'000)) < 1e-3 * seconds(1000));
    calls = 0;
    in_parallel_if_worth(2, seconds(2), [&](std::int64_t first, std::int64_t last) {
        ++calls;
        CHECK((first == 0 && last == 2));
    });
    CHECK(calls == 1);
}

TEST_CASE("the peak is measured in f64 and f32, and taken by the type of the sums") {
    try {
        const peak measured = measure_peak();
        CHECK(measured.f64 > 1e8);
        CHECK(measured.f32 > 1e8);
        CHECK(measured.of(c128) == measured.f64);
        CHECK(measured.of(f16) == measured.f32);
    } catch (const error& e) {
        WARN("no peak: " << e.what());
    }
}
