// tuning_run_test: `ricci tune` from its list to the database, on GPUs whose kernels take the time that the test
// says.
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/fake_gpu.hpp"
#include "tests/runtime/scratch.hpp"
#include "tests/tools/folder.hpp"
#include "tools/kernel_cover.hpp"
#include "tools/tuning_run.hpp"

#include <ricci/lowering/lower.hpp>
#include <ricci/runtime/tuning_database.hpp>
#include <ricci/runtime/tuning_json.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include <unistd.h>

using namespace ricci;
using namespace ricci::tools;
using namespace ricci::test;

namespace {

/// Sends the standard output to a file while it lives.
class redirected {
  public:
    explicit redirected(const std::string& file) : before_((std::fflush(stdout), dup(STDOUT_FILENO))) {
        REQUIRE(freopen(file.c_str(), "w", stdout) != nullptr);
    }
    ~redirected() {
        std::fflush(stdout);
        dup2(before_, STDOUT_FILENO);
        close(before_);
    }
    redirected(const redirected&) = delete;
    redirected& operator=(const redirected&) = delete;

  private:
    int before_;
};

template <class F>
std::string printed_by(const F& f) {
    const tests::folder folder;
    {
        const redirected output((folder / "out").string());
        f();
    }
    return tests::read_bytes(folder / "out");
}

std::vector<tuning_job> jobs_for(fake_gpu& gpu, std::int32_t code, const std::string& sizes) {
    sweep s;
    s.sizes = sizes, s.bytes = "20MB";
    return work_of(expand(s), gpu.machine(), device(code)).jobs;
}

runtime::tuning_effort some_effort() {
    runtime::tuning_effort out;
    out.most = 20;
    out.threads = 2;
    out.memory_bytes = 1;
    return out;
}

/// Differs from kernel to kernel, and not as the model has it.
double seconds_of(const fake_kernel& k) {
    return 1e-4 * (1 + 1e-3 * k.at("products_per_block") + 0.05 * k.at("tile_m") + 0.1 * k.at("rows_first") +
                   0.2 * k.at("skewed") + 1e-4 * k.at("threads_per_block"));
}

} // namespace

TEST_CASE("a sweep is measured, told and kept; lowering takes it") {
    const scratch_cache cache;
    auto& gpu = register_fake_gpu(-3, "sweep");
    gpu.seconds = seconds_of;
    const tests::folder folder;
    const auto jobs = jobs_for(gpu, -3, "3,5");
    REQUIRE(jobs.size() == 2);
    int code = -1;
    const auto text = printed_by([&] {
        code = run_tuning(jobs, device(-3), some_effort(), {std::nullopt, folder / "timings"});
    });
    CHECK(code == 0);
    INFO(text);
    CHECK(contains(text, "C(i, j, e) += A(i, k, e)*B(k, j, e) in f64: m=3 n=3 k=3 batch=92593\n"));
    CHECK(contains(text, " candidates; "));
    CHECK(contains(text, "; 20 left: "));
    CHECK(occurrences(text, "\n  best ") == 2);
    const auto table = runtime::tuning_database_of(gpu.machine()).measured();
    REQUIRE(table->entries().size() == 2);
    for (const auto& job : jobs) {
        const auto* found = table->find(job.key);
        REQUIRE(found != nullptr);
        const auto again = lowering::lower(job.statement, gpu.machine(), {table.get(), nullptr}).steps.at(0);
        CHECK(again.origin == lowering::tile_origin::measured);
        CHECK(again.batched == found->tile);
    }
    std::map<int, std::pair<double, nlohmann::json>> fastest; // by size
    std::istringstream lines(tests::read_bytes(folder / "timings"));
    int rows = -1; // the first line is the chip's
    for (std::string line; std::getline(lines, line); ++rows) {
        const auto row = nlohmann::json::parse(line);
        if (rows < 0) {
            CHECK(row.at("chip") == "sweep");
            continue;
        }
        CHECK((row.at("outcome") == "measured" || row.at("outcome") == "abandoned"));
        CHECK(row.at("us").get<double>() > 0);
        CHECK(row.at("predicted_us").get<double>() > 0);
        CHECK(row.at("registers") == 64);
        CHECK(row.at("tile").at("threads").get<int>() > 0);
        CHECK(row.at("m").get<int>() == row.at("k").get<int>());
        auto& best = fastest.try_emplace(row.at("m"), row.at("us"), row.at("tile")).first->second;
        if (row.at("us").get<double>() < best.first) best = {row.at("us"), row.at("tile")};
    }
    for (const auto& job : jobs)
        CHECK(nlohmann::json::parse(runtime::to_json(table->find(job.key)->tile)) ==
              fastest.at(static_cast<int>(job.key.sizes[0])).second);
    CHECK(rows == 40);
}

TEST_CASE("with a tolerance fewer kernels are kept") {
    const scratch_cache cache;
    auto& gpu = register_fake_gpu(-4, "tolerance");
    // At odd sizes 128 threads are 2% faster than 64, and 256 never.
    gpu.seconds = [](const fake_kernel& k) {
        return 1e-4 * ((k.at("rows_of_block") % 2 == 1) == (k.at("threads_per_block") == 128) ? 1 : 1.02) *
               (k.at("tile_m") == 1 && k.at("tile_n") == 1 && k.at("threads_per_block") < 256 ? 1 : 2) *
               (1 + 1e-5 * k.at("products_per_block") + k.at("rows_first") + k.at("core"));
    };
    const auto jobs = jobs_for(gpu, -4, "3..6");
    auto effort = some_effort();
    effort.most = 10000;
    const auto threads = [&] {
        std::vector<int> out;
        for (const auto& job : jobs)
            out.push_back(runtime::tuning_database_of(gpu.machine()).measured()->find(job.key)->tile.threads);
        return out;
    };
    printed_by([&] { run_tuning(jobs, device(-4), effort, {}); });
    CHECK(threads() == std::vector{128, 64, 128, 64});
    const auto text = printed_by([&] { run_tuning(jobs, device(-4), effort, {0.05, {}}); });
    INFO(text);
    CHECK(contains(text, "tolerance  kernels  worst loss  mean loss\n"));
    CHECK(contains(text, "\n1 kernel for a tolerance of 5%, worst loss 2.0%, mean 1.0%:\n  fma 1x1, "));
    const auto kept = threads();
    CHECK(std::count(kept.begin(), kept.end(), kept.front()) == 4);
}

TEST_CASE("with a tolerance what is good at one size is measured at every size") {
    const scratch_cache cache;
    auto& gpu = register_fake_gpu(-10, "second round");
    gpu.seconds = [](const fake_kernel& k) { return k.at("tile_m") == 1 ? 1.4e-4 : 1e-4; };
    const auto jobs = jobs_for(gpu, -10, "3..12");
    auto effort = some_effort();
    effort.most = 1; // the model's choice, of which there are several
    std::set<std::string> patterns;
    for (const auto& job : jobs) patterns.insert(pattern_of(job.step(), job.step().batched, lowering::target::cuda));
    REQUIRE(patterns.size() > 2);
    const tests::folder folder;
    const auto text = printed_by([&] { run_tuning(jobs, device(-10), effort, {0.5, folder / "timings"}); });
    INFO(text);
    CHECK(contains(text, fmt::format("\nmeasured at every size: {} kernels within 50% of the best at one or more\n",
                                     patterns.size())));
    CHECK(contains(text, "\n1 kernel for a tolerance of 50%, worst loss "));
    std::istringstream lines(tests::read_bytes(folder / "timings"));
    std::size_t rows = 0;
    for (std::string line; std::getline(lines, line); ++rows)
        if (rows > 0) CHECK(nlohmann::json::parse(line).at("outcome") == "measured"); // 1.4 times the best too
    CHECK(rows > 3 * jobs.size());
}

TEST_CASE("Ctrl-C in the second round: the fewest of what was measured are kept, and that fewer might do is said") {
    const scratch_cache cache;
    auto& gpu = register_fake_gpu(-11, "stopped again");
    bool is_second = false, is_stopped = false;
    gpu.seconds = [&](const fake_kernel& k) {
        if (is_second && k.at("rows_of_block") == 4 && !std::exchange(is_stopped, true)) std::raise(SIGINT);
        is_second = is_second || k.at("rows_of_block") == 12;
        return 1e-4;
    };
    const auto jobs = jobs_for(gpu, -11, "3..12");
    auto effort = some_effort();
    effort.most = 1;
    const tests::folder folder;
    const auto child = in_child([&] {
        const redirected output((folder / "out").string());
        return run_tuning(jobs, device(-11), effort, {0.05, {}}) == 130;
    });
    CHECK(child.status == 0);
    CHECK(contains(child.errors, "ricci: stopped: 10 of 10 tuned; what was measured is kept\n"));
    const auto text = tests::read_bytes(folder / "out");
    INFO(text);
    CHECK(contains(text, "; fewer might do: not all were measured at every size:\n"));
    CHECK(runtime::tuning_database(gpu.machine()).measured()->entries().size() == 10);
}

TEST_CASE("Ctrl-C: what was found is kept, and the exit code says so") {
    const scratch_cache cache;
    auto& gpu = register_fake_gpu(-5, "stopped");
    const tests::folder folder;
    const auto jobs = jobs_for(gpu, -5, "3..9");
    gpu.seconds = [&](const fake_kernel& k) {
        if (k.at("rows_of_block") == 5 && gpu.launches % 100 == 0) std::raise(SIGINT);
        return seconds_of(k);
    };
    int code = 0;
    auto effort = some_effort();
    const auto child = in_child([&] {
        code = run_tuning(jobs, device(-5), effort, {std::nullopt, folder / "timings"});
        return code == 130 && runtime::tuning_database_of(gpu.machine()).measured()->entries().size() == 2;
    });
    CHECK(child.status == 0);
    CHECK(contains(child.errors, "ricci: stopped: 2 of 7 tuned; what was measured is kept\n"));
    CHECK(runtime::tuning_database(gpu.machine()).measured()->entries().size() == 2); // from the disk
    CHECK(occurrences(tests::read_bytes(folder / "timings"), "\n") == 1 + 2 * 20);
}

TEST_CASE("candidates that fail are told of, once, and the rest goes on") {
    const scratch_cache cache;
    auto& gpu = register_fake_gpu(-6, "failing");
    gpu.fails = [](const fake_kernel& k) { return k.at("tile_m") == 3; };
    gpu.spills = [](const fake_kernel& k) { return k.at("tile_n") == 3; };
    const auto jobs = jobs_for(gpu, -6, "6");
    REQUIRE(jobs.at(0).step().batched.tile_m != 3);
    auto effort = some_effort();
    effort.most = 10000;
    const auto text = printed_by([&] { CHECK(run_tuning(jobs, device(-6), effort, {}) == 0); });
    INFO(text);
    CHECK(contains(text, " failed"));
    CHECK(contains(text, " refused for spilled registers"));
    CHECK(occurrences(text, "does not compile") == 1);
    CHECK_FALSE(contains(text, "and here is why"));
}

TEST_CASE("a step that cannot be measured is named, and the others are tuned; three in turn end the run") {
    const scratch_cache cache;
    auto& gpu = register_fake_gpu(-9, "failing steps");
    std::vector<int> failing{4};
    gpu.fails = [&](const fake_kernel& k) {
        return std::find(failing.begin(), failing.end(), k.at("rows_of_block")) != failing.end();
    };
    const auto jobs = jobs_for(gpu, -9, "3..9");
    const tests::folder folder;
    const auto child = in_child([&] {
        return run_tuning(jobs, device(-9), some_effort(), {std::nullopt, folder / "timings"}) == 2;
    });
    CHECK(child.status == 0);
    CHECK(contains(child.errors, "ricci: 6 of 7 tuned, 1 failed; what was measured is kept\n"));
    CHECK(occurrences(tests::read_bytes(folder / "timings"), "\n") == 1 + 6 * 20);
    failing = {13, 14, 15};
    int code = 0;
    const auto others = jobs_for(gpu, -9, "12..17");
    const auto text = printed_by([&] { code = run_tuning(others, device(-9), some_effort(), {}); });
    CHECK(code == 2);
    CHECK(occurrences(text, "\n  best ") == 1);
    CHECK(occurrences(text, "\n  not tuned: ") == 3);
}

TEST_CASE("timings that cannot be written are an error; the winners are kept") {
    const scratch_cache cache;
    auto& gpu = register_fake_gpu(-7, "unwritable");
    const auto jobs = jobs_for(gpu, -7, "6");
    CHECK_THROWS_AS(printed_by([&] {
                        run_tuning(jobs, device(-7), some_effort(), {std::nullopt, "/nowhere/at/all"});
                    }),
                    error);
    CHECK(runtime::tuning_database_of(gpu.machine()).measured()->entries().size() == 1);
}
