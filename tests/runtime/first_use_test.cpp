// first_use_test: what set_tuning does to statements, on GPUs whose kernels take the time that the test says.
#include "dsl/tuning.hpp"
#include "runtime/run.hpp"
#include "runtime/tuning_database.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/fake_gpu.hpp"
#include "tests/runtime/scratch.hpp"

#include <fmt/format.h>

using namespace ricci;
using namespace ricci::test;

namespace {

lowering::statement on(std::int32_t device, int batch = 4000, const char* text = "C(i,j,e) += A(i,k,e)*B(k,j,e)") {
    const auto s = fmt::format("C=f64[6,5,{0}] A=f64[6,7,{0}] B=f64[7,5,{0}]", batch);
    auto out = tests::bound_text(text, s);
    for (auto& a : out.accesses) a.device = device;
    return out;
}

/// The time of the tile that is to win is half of the others'.
struct watched {
    fake_gpu& gpu;
    int last_threads = 0;
    watched(std::int32_t code, const std::string& chip) : gpu(register_fake_gpu(code, chip)) {
        gpu.seconds = [](const fake_kernel& k) { return k.at("threads_per_block") == 64 ? 1e-4 : 2e-4; };
        gpu.on_launch = [this](const fake_kernel& k, std::span<const std::uint64_t>) {
            last_threads = k.at("threads_per_block");
        };
    }
};

struct restored_tuning {
    ~restored_tuning() { set_tuning(tuning::cached); }
};

} // namespace

TEST_CASE("on first use a statement is measured, once; its results are written once") {
    const scratch_cache cache;
    const restored_tuning after;
    watched w(-3, "first use");
    const auto s = on(-3);
    set_tuning(tuning::on_first_use);
    runtime::run(s);
    const auto candidates = w.gpu.compiled.load();
    CHECK(candidates > 2);
    CHECK(candidates <= 12);
    CHECK(w.last_threads == 64);
    CHECK(w.gpu.pieces == 0);
    const auto launches = w.gpu.launches;
    runtime::run(s);
    CHECK(w.gpu.launches == launches + 1);
    runtime::run(on(-3, 4001)); // another batch: nothing to measure, nothing to compile
    CHECK(w.gpu.launches == launches + 2);
    CHECK(w.gpu.compiled == candidates);
    CHECK(contains(runtime::explain(s), "64 threads"));
    CHECK(contains(runtime::explain(s), " by measurements"));

    // Not the tensors that the statement has: those at the user's addresses are launched on once each time.
    int own = 0;
    w.gpu.on_launch = [&](const fake_kernel&, std::span<const std::uint64_t> words) {
        own += words[0] == reinterpret_cast<std::uintptr_t>(s.accesses[0].data);
    };
    auto other = on(-3, 4000, "C(i,j,e) = A(i,k,e)*B(k,j,e)");
    other.accesses[0].data = s.accesses[0].data;
    runtime::run(other);
    CHECK(w.gpu.launches > launches + 20);
    CHECK(own == 1);
}

TEST_CASE("a choice takes effect for statements that ran before; off takes the model's, cached what was measured") {
    const scratch_cache cache;
    const restored_tuning after;
    watched w(-4, "choices");
    const auto s = on(-4);
    runtime::run(s);
    const auto models = w.last_threads;
    REQUIRE(models != 64);
    CHECK(w.gpu.compiled == 1);
    CHECK(contains(runtime::explain(s), "by the model"));
    set_tuning(tuning::on_first_use);
    runtime::run(s);
    CHECK(w.last_threads == 64);
    const auto compiled = w.gpu.compiled.load();
    set_tuning(tuning::off);
    runtime::run(s);
    CHECK(w.last_threads == models);
    CHECK(contains(runtime::explain(s), "by the model"));
    set_tuning(tuning::cached);
    runtime::run(s);
    CHECK(w.last_threads == 64);
    CHECK(w.gpu.compiled == compiled);
}

TEST_CASE("while a stream is captured nothing is measured; afterwards it is") {
    const scratch_cache cache;
    const restored_tuning after;
    watched w(-5, "capturing");
    const auto s = on(-5);
    set_tuning(tuning::on_first_use);
    w.gpu.is_capturing = true;
    runtime::run(s);
    runtime::run(s);
    CHECK(w.gpu.launches == 2);
    CHECK(w.last_threads != 64);
    w.gpu.is_capturing = false;
    runtime::run(s);
    CHECK(w.last_threads == 64);
    const auto launches = w.gpu.launches;
    w.gpu.is_capturing = true;
    runtime::run(s);
    CHECK(w.last_threads == 64);
    CHECK(w.gpu.launches == launches + 1);
}

TEST_CASE("without memory for the measurement the model chooses") {
    const scratch_cache cache;
    const restored_tuning after;
    watched w(-6, "no memory");
    w.gpu.most_bytes = 1000;
    set_tuning(tuning::on_first_use);
    runtime::run(on(-6));
    CHECK(w.gpu.launches == 1);
    CHECK(w.last_threads != 64);
    CHECK(runtime::tuning_database_of(w.gpu.machine()).measured()->entries().empty());
}

TEST_CASE("an entry that is no candidate is ignored, and measured anew on first use") {
    const scratch_cache cache;
    const restored_tuning after;
    watched w(-7, "illegal");
    const auto s = on(-7);
    auto& database = runtime::tuning_database_of(w.gpu.machine());
    set_tuning(tuning::on_first_use);
    runtime::run(s);
    REQUIRE(database.measured()->entries().size() == 1);
    auto table = *database.measured();
    auto entry = *table.entries().begin();
    entry.second.tile.threads = 33;
    table.put(entry.first, entry.second);
    database.keep(table);
    set_tuning(tuning::cached);
    runtime::run(s);
    CHECK(w.last_threads != 33);
    CHECK(contains(runtime::explain(s), "by the model"));
    set_tuning(tuning::on_first_use);
    runtime::run(s);
    CHECK(w.last_threads == 64);
    CHECK(contains(runtime::explain(s), "by measurements"));
}

TEST_CASE("a program's chain is measured on first use too, once; not while a stream is captured") {
    const scratch_cache cache;
    const restored_tuning after;
    auto& gpu = register_fake_gpu(-9, "first use of a chain");
    gpu.seconds = [](const fake_kernel& k) { return k.at("threads_per_block") == 256 ? 1e-4 : 2e-4; };
    int last_threads = 0;
    gpu.on_launch = [&](const fake_kernel& k, std::span<const std::uint64_t>) {
        last_threads = k.at("threads_per_block");
    };
    const char* const operands = "v=f64[5,5,20000] B=f64[6,5] u=f64[5,5,20000] w=f64[6,6,20000]";
    const auto local = runtime::new_local();
    std::vector<lowering::statement> program;
    for (const char* const text : {"w(q,r,e) = B(q,i)*B(r,j)*u(i,j,e)", "v(a,b,e) = B(q,a)*B(r,b)*w(q,r,e)"}) {
        auto& s = program.emplace_back(tests::bound_text(text, operands));
        for (auto& a : s.accesses) {
            a.device = -9;
            if (a.name == "w") a.local = local, a.data = nullptr;
        }
    }
    runtime::run_program(program);
    REQUIRE(gpu.compiled == 1);
    REQUIRE(last_threads != 256);
    set_tuning(tuning::on_first_use);
    gpu.is_capturing = true;
    runtime::run_program(program);
    CHECK(gpu.compiled == 1);
    gpu.is_capturing = false;
    runtime::run_program(program);
    CHECK(last_threads == 256);
    const auto candidates = gpu.compiled.load(), launches = gpu.launches;
    CHECK(candidates > 2);
    CHECK(candidates <= 12);
    runtime::run_program(program);
    CHECK(gpu.compiled == candidates);
    CHECK(gpu.launches == launches + 1);
    CHECK(contains(runtime::explain(program), "256 threads"));
    CHECK(contains(runtime::explain(program), "by measurements"));
}
