// chain_test: several steps as one kernel, on one device, against the oracle; and what is no chain.
#include "lowering/lower.hpp"
#include "lowering/print.hpp"
#include "runtime/executable.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/chain_cases.hpp"
#include "tests/kernels/device_under_test.hpp"

#include <algorithm>

using namespace ricci;
using namespace ricci::tests;

namespace {

bool is_one_chain(const lowering::plan& p) {
    return p.chains.size() == 1 &&
           std::all_of(p.steps.begin(), p.steps.end(), [](const auto& st) { return st.chain == 0; });
}

/// Runs a case as the plan of an eager chip has it. Returns whether the kernel has constants.
bool check_chain(const covering_case& c, std::uint64_t seed, const lowering::machine& chip) {
    const device where(device_under_test());
    auto made = make_case(c, seed);
    const auto plan = lowering::lower(made.s, chip);
    INFO(made.text << lowering::to_string(plan, made.s));
    CHECK(is_one_chain(plan));
    const runtime::executable kernel(where, plan);
    const auto report = run_and_compare(made, where.code(), [&](const lowering::statement& s) { kernel.launch(s); });
    INFO(report);
    CHECK(report.empty());
    return plan.chains.at(0).constants > 0;
}

/// On a GPU with constants, if it can have some, and without, as a kernel of a few launches' time.
bool check_chain(const covering_case& c, std::uint64_t seed) {
    const device where(device_under_test());
    auto chip = eager_to_fuse(runtime::backend_of(where).machine());
    if (where.is_cpu()) return check_chain(c, seed, chip);
    chip.launch_seconds = 1;
    CHECK_FALSE(check_chain(c, seed, chip));
    chip.launch_seconds = 1e-9;
    return check_chain(c, seed, chip);
}

} // namespace

TEST_CASE("steps that hand each other temporaries are one kernel, and agree with the oracle") {
    std::uint64_t seed = 100;
    int with_constants = 0;
    for (const auto& c : chain_cases) with_constants += check_chain(c, ++seed) ? 1 : 0;
    CHECK((with_constants > 0) == !device(device_under_test()).is_cpu());
}

TEST_CASE("what is added in order has the same bits on every run, and where one thread adds it at once") {
    const device where(device_under_test());
    const auto chip = eager_to_fuse(runtime::backend_of(where).machine());
    std::uint64_t seed = 300;
    for (const auto& [c, at_once] : ordered_chain_cases) {
        auto made = make_case(c, ++seed);
        auto plan = lowering::lower(made.s, chip);
        INFO(made.text << lowering::to_string(plan, made.s));
        REQUIRE(plan.chains.size() == 1);
        CHECK(plan.chains[0].additions.empty() == !(at_once && where.is_cpu()));
        const runtime::executable kernel(where, plan);
        plan.chains[0].additions.clear();
        const runtime::executable in_two_passes(where, plan);
        const auto whole = made.memory.front().whole();
        const std::vector<std::byte> before(whole.begin(), whole.end());
        const auto bits = [&](const runtime::executable& how) {
            std::copy(before.begin(), before.end(), whole.begin());
            const auto report =
                run_and_compare(made, where.code(), [&](const lowering::statement& s) { how.launch(s); });
            INFO(report);
            CHECK(report.empty());
            return std::vector<std::byte>(whole.begin(), whole.end());
        };
        const auto first = bits(kernel);
        CHECK(bits(kernel) == first);
        CHECK(bits(in_two_passes) == first);
    }
}

TEST_CASE("what is added through tables is a part of the chain, where any order will do") {
    std::uint64_t seed = 200;
    const bool has_atomics = !device(device_under_test()).is_cpu();
    for (const auto& c : scattered_chain_cases)
        if (has_atomics || std::string_view(c.statement).find("atomic") == std::string_view::npos)
            check_chain(c, ++seed);
}
