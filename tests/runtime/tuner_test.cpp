// tuner_test: the search among candidates, on a GPU whose kernels take the time that the test says.
#include "lowering/chain_shape.hpp"
#include "lowering/lower.hpp"
#include "lowering/tile_candidates.hpp"
#include "runtime/half.hpp"
#include "runtime/step_memory.hpp"
#include "tests/catch.hpp"
#include "tests/gathered_case.hpp"
#include "tests/runtime/fake_gpu.hpp"
#include "tests/runtime/scratch.hpp"
#include "tests/runtime/tuned_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

using namespace ricci;
using namespace ricci::runtime;
using namespace ricci::test;
using fate = candidate::outcome;

namespace {

bound_step some_product(const lowering::machine& chip,
                        const char* operands = "C=f64[6,5,3000] A=f64[6,7,3000] B=f64[7,5,3000]") {
    auto out = first_step_of(chip, "C(i,j,e) += 2*A(i,k,e)*B(k,j,e)", operands);
    REQUIRE(out.step.kernel == lowering::family::batched_small);
    return out;
}

tuning_effort some_effort() {
    auto out = everything();
    out.prune = 1.5;
    out.most = 30;
    return out;
}

/// A time that differs from kernel to kernel, least for threads 128, tile 2 x 1.
double uneven_seconds(const fake_kernel& k) {
    return 1e-4 * (1 + 0.05 * std::abs(k.at("tile_m") - 2) + 0.04 * (k.at("tile_n") - 1) +
                   0.2 * (k.at("threads_per_block") != 128) + 1e-4 * k.at("products_per_block") +
                   0.03 * k.at("skewed") + 0.03 * k.at("rows_first") + 0.5 * k.at("core"));
}

/// The model takes the tensor cores, and 64 threads.
constexpr const char* for_tensor_cores = "C=f64[8,8,3000] A=f64[8,32,3000] B=f64[32,8,3000]";

} // namespace

TEST_CASE("the fastest of all candidates is found") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("tuner");
    gpu.seconds = uneven_seconds;
    const auto p = some_product(gpu.machine());
    const auto tuned = tune_step(gpu, p.step, p.s, everything());
    CHECK(tuned.candidates.size() == lowering::tile_candidates(p.step, gpu.machine()).size());
    REQUIRE(tuned.best);
    const auto& best = tuned.candidates[*tuned.best];
    CHECK(best.tile.threads == 128);
    CHECK(best.tile.tile_m == 2);
    CHECK(best.tile.tile_n == 1);
    CHECK_FALSE(best.tile.skewed);
    CHECK_FALSE(best.tile.rows_first);
    CHECK(best.seconds == Approx(1e-4 * (1 + 1e-4 * best.tile.products)));
    CHECK(best.use.registers == 64);
    CHECK(tuned.candidates.front().tile == p.step.batched); // the model's choice
    CHECK(gpu.pieces == 0);
    CHECK_FALSE(tuned.stopped);
}

TEST_CASE("within a tolerance nothing is abandoned, and every result is checked; only some can be asked for") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("tolerant");
    gpu.seconds = [](const fake_kernel& k) { return 1e-4 * (1 + 0.4 * (k.at("tile_n") - 1)); };
    const auto p = some_product(gpu.machine());
    auto effort = everything();
    CHECK(tune_step(gpu, p.step, p.s, effort).count(fate::abandoned) > 0);
    effort.tolerance = 4;
    const auto all = tune_step(gpu, p.step, p.s, effort);
    CHECK(all.count(fate::abandoned) == 0);
    std::vector<lowering::batched_tile> some{all.candidates.back().tile, all.candidates.at(5).tile};
    effort.only = &some;
    const auto few = tune_step(gpu, p.step, p.s, effort);
    REQUIRE(few.candidates.size() == all.candidates.size());
    CHECK(few.count(fate::measured) == 3); // and the model's choice
    CHECK(few.candidates.back().result == fate::measured);
    CHECK(few.candidates.front().result == fate::measured);

    gpu.on_launch = [](const fake_kernel& k, std::span<const std::uint64_t> words) {
        if (k.at("tile_n") == 3) *reinterpret_cast<double*>(words[0]) += 1; // C's first element
    };
    effort.only = nullptr;
    const auto checked = tune_step(gpu, p.step, p.s, effort);
    for (const auto& c : checked.candidates) CHECK((c.result == fate::wrong) == (c.tile.tile_n == 3));
}

TEST_CASE("of candidates as fast as one another the fastest for one product alone is kept") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("alone");
    const auto alone = [](const auto& k) { return 1e-6 * (1 + 0.3 * k.at("tile_m") + 0.1 * k.at("tile_n")); };
    gpu.seconds = [&](const fake_kernel& k) {
        if (gpu.grid == 1) return alone(k);
        return k.at("core") == 0 ? 1e-4 - 1e-8 * k.at("tile_m") : 1.1e-4;
    };
    const auto p = some_product(gpu.machine(), for_tensor_cores);
    REQUIRE(p.step.batched.core == lowering::batched_core::mma);
    const auto tuned = tune_step(gpu, p.step, p.s, everything());
    REQUIRE(tuned.best);
    const auto& best = tuned.candidates[*tuned.best];
    CHECK(best.tile.core == lowering::batched_core::fma);
    CHECK(best.tile.tile_m == 1);
    CHECK(best.tile.tile_n == 1);
    CHECK(std::any_of(tuned.candidates.begin(), tuned.candidates.end(),
                      [&](const candidate& c) { return c.result == fate::measured && c.seconds < best.seconds; }));
}

TEST_CASE("a candidate that cannot be measured alone is not preferred, and a stop ends the measuring") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("not alone");
    const auto p = some_product(gpu.machine());
    gpu.seconds = [&](const fake_kernel&) { return gpu.grid == 1 ? 1e-6 : 1e-4; };
    gpu.on_launch = [&](const fake_kernel& k, auto) {
        if (gpu.grid == 1 && k.at("tile_m") != p.step.batched.tile_m)
            throw error("no launch of one product", blame::environment);
    };
    const auto tuned = tune_step(gpu, p.step, p.s, everything());
    REQUIRE(tuned.best);
    CHECK(tuned.candidates[*tuned.best].tile.tile_m == p.step.batched.tile_m);

    auto effort = everything();
    int alone = 0;
    gpu.on_launch = [&](const fake_kernel&, auto) { alone += gpu.grid == 1; };
    effort.stop = [&] { return alone > 0; };
    CHECK(tune_step(gpu, p.step, p.s, effort).stopped);
    const int launches_of_one = 50 * effort.samples;
    CHECK(alone == launches_of_one);
}

TEST_CASE("the model's choice is kept where nothing is clearly faster") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("kept");
    const auto p = some_product(gpu.machine());
    gpu.seconds = [&](const fake_kernel& k) {
        const bool chosen = k.at("core") == static_cast<int>(p.step.batched.core) &&
                            k.at("tile_m") == p.step.batched.tile_m && k.at("tile_n") == p.step.batched.tile_n;
        return gpu.grid == 1 ? (chosen ? 1.01e-6 : 1e-6) : (chosen ? 1.01e-4 : 1e-4);
    };
    const auto tuned = tune_step(gpu, p.step, p.s, everything());
    REQUIRE(tuned.best);
    CHECK(tuned.candidates[*tuned.best].tile == p.step.batched);
}

TEST_CASE("what the model expects to be slow is not compiled, and of those alike only some are") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("pruning");
    const auto p = some_product(gpu.machine());
    auto effort = some_effort();
    const auto tuned = tune_step(gpu, p.step, p.s, effort);
    const auto all = tuned.candidates.size(), pruned = tuned.count(fate::pruned), alike = tuned.count(fate::alike);
    CHECK(all - pruned - alike == 30);
    CHECK(gpu.compiled == 30);
    double least = INFINITY;
    for (const auto& c : tuned.candidates) least = std::min(least, c.predicted);
    for (const auto& c : tuned.candidates) CHECK((c.result == fate::pruned) == (c.predicted > 1.5 * least));

    effort.most = 1;
    const auto one = tune_step(gpu, p.step, p.s, effort);
    REQUIRE(one.best);
    CHECK(one.candidates[*one.best].tile == p.step.batched);
}

TEST_CASE("kernels that spill, fail or compute something else are not chosen") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("rejecting");
    gpu.seconds = uneven_seconds;
    gpu.spills = [](const fake_kernel& k) { return k.at("tile_m") == 2; };
    gpu.fails = [](const fake_kernel& k) { return k.at("core") == 0 && k.at("tile_m") == 1 && k.at("tile_n") == 1; };
    gpu.on_launch = [](const fake_kernel& k, std::span<const std::uint64_t> words) {
        if (k.at("tile_m") == 3 && k.at("tile_n") == 1)
            *reinterpret_cast<double*>(words[0]) += 1; // C's first element
    };
    const auto p = some_product(gpu.machine(), for_tensor_cores);
    REQUIRE(p.step.batched.core == lowering::batched_core::mma);
    const auto tuned = tune_step(gpu, p.step, p.s, everything());
    CHECK(tuned.count(fate::spills) > 0);
    CHECK(tuned.count(fate::wrong) > 0);
    CHECK(tuned.count(fate::failed) > 0);
    REQUIRE(tuned.best);
    const auto& best = tuned.candidates[*tuned.best].tile;
    CHECK(best.tile_m != 2);
    CHECK(best.tile_n == 2); // 3 x 1 would be faster
    for (const auto& c : tuned.candidates)
        CHECK((c.result == fate::failed) == contains(c.problem, "does not compile"));
}

TEST_CASE("the model's choice is measured though it spills, and kept where nothing is faster") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("spilling choice");
    const auto p = some_product(gpu.machine(), for_tensor_cores);
    const int choice = p.step.batched.tile_m;
    const auto is_choice = [choice](const fake_kernel& k) { return k.at("tile_m") == choice; };
    gpu.spills = is_choice; // and those like it
    for (const double least : {1e-3, 3e-3}) {
        gpu.seconds = [&](const fake_kernel& k) { return is_choice(k) ? 2e-3 : least; };
        const auto tuned = tune_step(gpu, p.step, p.s, everything());
        CHECK(tuned.count(fate::spills) > 0);
        REQUIRE(tuned.best);
        const auto& best = tuned.candidates[*tuned.best].tile;
        CHECK((best == p.step.batched) == (least > 2e-3));
    }
}

TEST_CASE("a hopeless candidate gets one sample only") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("abandoning");
    int slow_launches = 0, slow_kernels = 0;
    const auto is_slow = [](const fake_kernel& k) { return k.at("threads_per_block") == 256; };
    gpu.seconds = [&](const fake_kernel& k) {
        slow_launches += is_slow(k);
        return is_slow(k) ? 1e-2 : 1e-4;
    };
    const auto p = some_product(gpu.machine(), for_tensor_cores);
    REQUIRE(p.step.batched.threads != 256);
    const auto tuned = tune_step(gpu, p.step, p.s, everything());
    for (const auto& c : tuned.candidates) {
        if (c.result != fate::abandoned && c.result != fate::measured) continue;
        CHECK((c.result == fate::abandoned) == (c.tile.threads == 256));
        slow_kernels += c.tile.threads == 256;
    }
    REQUIRE(slow_kernels > 0);
    CHECK(slow_launches ==
          slow_kernels * (1 + 10)); // to warm up, then a sample of 1 ms as the model's choice needs it
}

TEST_CASE("a single outlier does not decide: medians do") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("outliers");
    int count = 0;
    gpu.seconds = [&](const fake_kernel& k) {
        return (k.at("tile_m") == 2 ? 0.9e-3 : 1e-3) * (++count % 11 == 0 ? 1.2 : 1.0);
    };
    const auto p = some_product(gpu.machine());
    const auto tuned = tune_step(gpu, p.step, p.s, some_effort());
    REQUIRE(tuned.best);
    CHECK(tuned.candidates[*tuned.best].tile.tile_m == 2);
}

TEST_CASE("it leaves off where it is asked to, and says so") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("stopping");
    const auto p = some_product(gpu.machine());
    auto effort = some_effort();
    effort.stop = [&] { return gpu.launches > 100; };
    double last = 0;
    effort.progress = [&](double part) {
        CHECK(part >= last);
        last = part;
    };
    const auto tuned = tune_step(gpu, p.step, p.s, effort);
    CHECK(tuned.stopped);
    CHECK_FALSE(tuned.best);
    CHECK(last > 0);
    CHECK(last < 1);
    CHECK(gpu.pieces == 0);
}

TEST_CASE("no memory, or no kernel of the model's choice: an error, and nothing stays allocated") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("failing");
    const auto p = some_product(gpu.machine());
    gpu.most_bytes = 1000;
    CHECK(contains(message_of([&] { tune_step(gpu, p.step, p.s, some_effort()); }), "out of memory"));
    CHECK(gpu.pieces == 0);
    gpu.fails = [](const fake_kernel&) { return true; };
    const scratch_cache another;
    auto& other = new_fake_gpu("failing too");
    other.fails = gpu.fails;
    CHECK(contains(message_of([&] { tune_step(other, p.step, p.s, some_effort()); }), "does not compile"));
}

TEST_CASE("memory of a step's own: overlapping operands, addresses, sets and refilling") {
    auto& gpu = new_fake_gpu("memory");
    // In place, and B backwards: its first element in memory is not its element (0, 0).
    const auto operands = tests::parse_operands("A=f16[6:1,6:6,9:36,3:324] B=f16[6:-1,6:6]");
    const auto s = bind_text(parse_text("A(i,j,m(1,9),n(1,3)) -= A(i,k,m,0)*B(k,j)").at(0), operands);
    const auto step = lowering::lower(s, gpu.machine()).steps.at(0);
    {
        step_memory memory(gpu, step, s, 100000);
        const auto bytes = 2u * (6 * 6 * 9 * 3 - 36 + 36); // from block (1, 0) to block (8, 2), and B
        CHECK(memory.sets() == static_cast<int>((100000 + bytes - 1) / bytes));
        CHECK(memory.bytes() == memory.sets() * bytes);
        CHECK(gpu.pieces == 2 * memory.sets());
        for (const auto& o : step.operands) {
            const auto source = static_cast<std::size_t>(o.source);
            CHECK(reinterpret_cast<std::uintptr_t>(memory.address(1, o.source)) % 256 ==
                  reinterpret_cast<std::uintptr_t>(s.accesses[source].data) % 256);
        }
        auto* const a = static_cast<half*>(memory.address(1, 0)) + 36;
        const float first = a[0];
        CHECK(std::abs(first) <= 1);
        CHECK(first != 0);
        const auto before = memory.outputs(1);
        CHECK(before.at(0).bytes.size() == bytes - 72);
        a[0] = 1000;
        CHECK(memory.outputs(1) != before);
        CHECK(memory.outputs(0) == before);
        memory.refill_outputs(1);
        CHECK(memory.outputs(1) == before);
    }
    CHECK(gpu.pieces == 0);
}

TEST_CASE("memory of a step's own: tables have valid entries, all different where there are enough") {
    auto& gpu = new_fake_gpu("tables");
    const auto s = tests::bound_text("C(i,j,distinct(p)(e)) = A(i,k,q(e))*B(k,j,e)",
                                     "C=f64[6,5,40] A=f64[6,7,9] B=f64[7,5,30] p=i32[30] q=i64[30]");
    const auto step = lowering::lower(s, gpu.machine()).steps.at(0);
    REQUIRE(step.kernel == lowering::family::batched_small);
    const step_memory memory(gpu, step, s, 100000);
    const auto* const p = static_cast<const std::int32_t*>(memory.address(1, 1));
    const auto* const q = static_cast<const std::int64_t*>(memory.address(1, 3));
    const std::set<std::int32_t> left(p, p + 30);
    const std::set<std::int64_t> right(q, q + 30);
    CHECK(left.size() == 30);
    CHECK((*left.begin() >= 0 && *left.rbegin() < 40));
    CHECK(right == std::set<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
    static_cast<double*>(memory.address(1, 0))[6 * 5 * 40 - 1] = 1; // where the last entry may reach
}

TEST_CASE("memory of a step's own: addresses are of matrices in it") {
    auto& gpu = new_fake_gpu("addresses");
    tests::random_case c;
    c.s = tests::bound_text("C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=f64[6,5,30] A=f64[6,7,30] B=f64[7,5,30]");
    tests::gather_by_address(c, 1, 2);
    const auto step = lowering::lower(c.s, gpu.machine()).steps.at(0);
    REQUIRE(step.kernel == lowering::family::batched_small);
    const step_memory memory(gpu, step, c.s, 1);
    CHECK(memory.address(0, 1) == nullptr);
    const auto* const table = static_cast<double* const*>(memory.address(0, 3));
    const std::set<double*> all(table, table + 30);
    CHECK(all.size() == 30);
    for (double* matrix : all) matrix[0] = matrix[6 * 7 - 1] = 1;
}

TEST_CASE("the best block of a chain is found, and taken whatever the batch") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("chains");
    const auto mass = [&](int elements, const lowering::priors& known = {}) {
        const auto operands = fmt::format("v=f64[5,5,{0}] B=f64[6,5] S=f64[6,6,{0}] u=f64[5,5,{0}]", elements);
        auto s = tests::bound_text("v(a,b,e) = B(q,a)*B(r,b)*S(q,r,e)*B(q,i)*B(r,j)*u(i,j,e)", operands);
        auto p = lowering::lower(s, gpu.machine(), known);
        REQUIRE(p.chains.size() == 1);
        return std::pair(std::move(s), std::move(p));
    };
    const auto [s, p] = mass(20000);
    const auto model = lowering::tile_of(p.chains[0]);
    CHECK(p.steps[0].origin == lowering::tile_origin::model);
    // One with most threads, that the model does not take, is to win.
    auto tiles = lowering::chain_tiles(p.chains[0], gpu.machine());
    REQUIRE(tiles.size() > 10);
    std::erase(tiles, model);
    const auto winner = *std::ranges::max_element(tiles, {}, &lowering::batched_tile::threads);
    const auto is = [](const fake_kernel& k, const lowering::batched_tile& t) {
        return k.at("elements_of_block") == t.products && k.at("threads_per_block") == t.threads &&
               k.at("blocks_of_processor") == t.stages;
    };
    gpu.seconds = [&](const fake_kernel& k) { return is(k, winner) ? 1e-4 : is(k, model) ? 2e-4 : 1.5e-4; };
    const auto tuned = tune_kernel(gpu, p, 0, s, everything());
    CHECK(tuned.candidates.size() == tiles.size() + 1);
    CHECK(tuned.candidates.front().tile == model);
    REQUIRE(tuned.best);
    CHECK(tuned.candidates[*tuned.best].tile == winner);
    CHECK(gpu.pieces == 0);

    lowering::tuning_table measured;
    measured.put(tuned.key, {winner, 1e-4});
    for (const int elements : {20000, 777}) {
        const auto again = mass(elements, {&measured, nullptr}).second;
        CHECK(lowering::tile_of(again.chains[0]) == winner);
        CHECK(again.steps[0].origin == lowering::tile_origin::measured);
        const auto shipped = mass(elements, {nullptr, &measured}).second;
        CHECK(shipped.steps[0].origin == lowering::tile_origin::shipped);
    }
    auto impossible = winner;
    impossible.threads = 96 + 1;
    measured.put(tuned.key, {impossible, 1e-4});
    CHECK(lowering::tile_of(mass(20000, {&measured, nullptr}).second.chains[0]) == model);
}

TEST_CASE("a block of a chain that spills or computes something else is not chosen") {
    const scratch_cache cache;
    auto& gpu = new_fake_gpu("bad blocks");
    const auto s = tests::bound_text("v(a,b,e) += B(q,a)*B(r,b)*S(q,r,e)*B(q,i)*B(r,j)*u(i,j,e)",
                                     "v=f64[3,3,20000] B=f64[4,3] S=f64[4,4,20000] u=f64[3,3,20000]");
    const auto p = lowering::lower(s, gpu.machine());
    REQUIRE(p.chains.size() == 1);
    const auto& memories = p.chains[0].memories;
    const auto output = static_cast<std::size_t>(&lowering::output_of(p.chains[0]) - memories.data());
    CHECK(memories[output].source == p.steps.back().operands[0].source);
    const int most =
        lowering::tile_of(p.chains[0]).threads == 128 ? 160 : 128; // not the model's, which all are compared with
    gpu.spills = [&](const fake_kernel& k) { return k.at("threads_per_block") > most; };
    gpu.seconds = [&](const fake_kernel& k) { return 1e-6 * (300 - k.at("threads_per_block")); };
    const auto tuned = tune_kernel(gpu, p, 0, s, everything());
    REQUIRE(tuned.best);
    CHECK(tuned.candidates[*tuned.best].tile.threads == most);
    CHECK(tuned.count(fate::spills) > 0);

    // v's first element, of the fastest.
    gpu.on_launch = [&](const fake_kernel& k, std::span<const std::uint64_t> words) {
        if (k.at("threads_per_block") == most) *reinterpret_cast<double*>(words[output]) += 1;
    };
    const auto again = tune_kernel(gpu, p, 0, s, everything());
    REQUIRE(again.best);
    CHECK(again.count(fate::wrong) > 0);
    CHECK(again.candidates[*again.best].tile.threads == most - 32);
}
