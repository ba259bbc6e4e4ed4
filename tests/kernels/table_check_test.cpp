// table_check_test: entries out of range are refused on the CPU, and with RICCI_CHECK=1 or RICCI_DEBUG=1, one of
// which this test has, on a GPU too.
#include "lowering/error.hpp"
#include "lowering/lower.hpp"
#include "runtime/environment.hpp"
#include "runtime/executable.hpp"
#include "runtime/run.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/chain_cases.hpp"
#include "tests/kernels/covering.hpp"
#include "tests/kernels/device_under_test.hpp"

#include <fmt/format.h>

#include <algorithm>

using namespace ricci;
using namespace ricci::tests;

TEST_CASE("an entry out of range is refused before anything is written") {
    const device where(device_under_test());
    for (const char* type : {"i32", "i64"}) {
        auto c = make_case({"C(i,j,distinct(q)(e)) += A(i,k,p(1,e+1))*B(k,j,e)",
                            std::string("C=f64[3,4,9] A=f64[3,5,4] B=f64[5,4,6] p=") + type + "[2:7,7:-1] q=i32[6]"},
                           1);
        const auto report = run_and_compare(c, where.code(), [&](const lowering::statement& s) {
            const auto table =
                std::find_if(s.accesses.begin(), s.accesses.end(), [](const auto& a) { return a.name == "p"; });
            const auto size = static_cast<std::size_t>(lowering::size_of(table->type));
            // p(1, 3)
            auto* const entry = static_cast<std::byte*>(table->data) + (7 - 3) * static_cast<std::ptrdiff_t>(size);
            std::int64_t good = 0;
            const std::int64_t bad = 4;
            runtime::copy(cpu(), &good, where, entry, size);
            runtime::copy(where, entry, cpu(), &bad, size);
            CHECK_THROWS_WITH(
                runtime::run(s),
                Catch::Contains("p(1, e + 1) at e = 2 is 4, no value for position 3 of A, whose extent is 4"));
            runtime::copy(where, entry, cpu(), &good, size);
            runtime::run(s);
        });
        INFO(report);
        CHECK(report.empty());
    }
}

TEST_CASE("so is one of a chain's tables, on either side") {
    const device where(device_under_test());
    const auto chip = eager_to_fuse(runtime::backend_of(where).machine());
    for (const char* left : {"l", "atomic(l)"}) {
        auto c = make_case({std::string("v(") + left + "(p,e)) += A(p,q)*relu(B(q,i)*x(m(i,e)))",
                            "v=f64[9] A=f64[6,11] B=f64[11,7] x=f64[12] l=i32[6,1100] m=i32[7,1100]"},
                           1);
        const auto plan = lowering::lower(c.s, chip);
        CHECK(plan.chains.size() == 1);
        const runtime::executable kernel(where, plan);
        const auto report = run_and_compare(c, where.code(), [&](const lowering::statement& s) {
            const auto refuses = [&](const char* table, std::int64_t at, std::int32_t bad, const char* message) {
                const auto found = std::find_if(s.accesses.begin(), s.accesses.end(),
                                                [&](const auto& a) { return a.name == table; });
                auto* const entry = static_cast<std::int32_t*>(found->data) + at;
                std::int32_t good = 0;
                runtime::copy(cpu(), &good, where, entry, sizeof good);
                runtime::copy(where, entry, cpu(), &bad, sizeof bad);
                CHECK_THROWS_WITH(kernel.launch(s), Catch::Contains(message));
                runtime::copy(where, entry, cpu(), &good, sizeof good);
            };
            refuses("l", 3 + 6 * 50, 9,
                    "l(p, e) at p = 3, e = 50 is 9, no value for position 1 of v, whose extent is 9");
            refuses("l", 0, -1, "l(p, e) at p = 0, e = 0 is -1, no value for position 1 of v, whose extent is 9");
            refuses("m", 7699, 12, "m(i, e) at e = 1099, i = 6 is 12, no value for position 1 of x");
            kernel.launch(s); // nothing was added before
        });
        INFO(report);
        CHECK(report.empty());
    }
}

TEST_CASE("a table that is said to be distinct is checked for it, where that is asked for") {
    if (!runtime::is_checking()) return; // on one thread of a CPU
    const device where(device_under_test());
    auto c = make_case({"v(distinct(q)(i,e(1,5)),c) = w(i,c,e)", "v=f64[12,2] w=f64[2,2,9] q=i64[2:1,6:3]"}, 1);
    const auto report = run_and_compare(c, where.code(), [&](const lowering::statement& s) {
        const auto table =
            std::find_if(s.accesses.begin(), s.accesses.end(), [](const auto& a) { return a.name == "q"; });
        auto* const entry = static_cast<std::int64_t*>(table->data) + 1 + 4 * 3; // q(1, 4)
        std::int64_t good = 0, same = 0;
        runtime::copy(cpu(), &good, where, entry, sizeof good);
        runtime::copy(cpu(), &same, where, entry - 3, sizeof same);
        runtime::copy(where, entry, cpu(), &same, sizeof same);
        CHECK_THROWS_WITH(runtime::run(s),
                          Catch::Contains(fmt::format(
                              "q(i, e(1, 5)) is {} at i = 1, e = 3 and at i = 1, e = 4, but distinct says that no "
                              "two of its entries are equal",
                              same)));
        runtime::copy(where, entry, cpu(), &good, sizeof good);
        std::int64_t unused = 0; // q(1, 5)
        runtime::copy(cpu(), &unused, where, entry + 3, sizeof unused);
        runtime::copy(where, entry + 3, cpu(), &same, sizeof same);
        runtime::run(s);
        runtime::copy(where, entry + 3, cpu(), &unused, sizeof unused);
    });
    INFO(report);
    CHECK(report.empty());
}
