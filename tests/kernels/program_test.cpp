// program_test: random programs on one device, fused where they can be, against the oracle statement by statement. A
// failure prints its seed: run it alone with RICCI_TEST_SEED=<seed> RICCI_TEST_N=1.
#include "runtime/executable.hpp"
#include "runtime/program_cache.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/program_cases.hpp"
#include "tests/kernels/program_run.hpp"
#include "tests/seeds.hpp"

#include <string_view>

using namespace ricci;
using namespace ricci::tests;

TEST_CASE("programs whose statements must keep out of each other's way agree with the oracle") {
    const auto code = device_under_test();
    std::uint64_t seed = 0;
    for (const auto& c : programs_by_hand()) {
        const auto p = as_program(c);
        const auto outcome = run_program(p, ++seed, code, program_data::integers);
        INFO(outcome.report << "program " << seed << ":\n" << p.text());
        CHECK(outcome.report.empty());
        CHECK(outcome.kernels == c.kernels_on(code));
    }
}

TEST_CASE("what is set to 0 before all of it is added to is not written and read first") {
    const device where(device_under_test());
    constexpr std::size_t rows = 5, elements = 40, values = 30;
    auto operands = parse_operands("v=f64[30] w=f64[5,40] l=i32[5,40]");
    std::vector<double> v(values, 7), w, sums(values, 0);
    std::vector<std::int32_t> l;
    for (std::size_t n = 0; n < rows * elements; ++n) {
        w.push_back(static_cast<double>(n % 11));
        l.push_back(static_cast<std::int32_t>(n * 7 % 23)); // some elements get nothing
        sums[static_cast<std::size_t>(l.back())] += w.back();
    }
    const void* const from[] = {v.data(), w.data(), l.data()};
    const std::size_t bytes[] = {v.size() * 8, w.size() * 8, l.size() * 4};
    for (std::size_t o = 0; o < 3; ++o) {
        operands[o].device = where.code(), operands[o].data = runtime::allocate(where, bytes[o], false);
        runtime::copy(where, operands[o].data, cpu(), from[o], bytes[o]);
    }
    for (const char* set : {"v(n) = 0", "v(n) = 2"}) {
        std::vector<lowering::statement> statements;
        for (const char* text : {set, "v(l(b,e)) += w(b,e)"})
            statements.push_back(bind_text(parse_text(text).at(0), operands));
        runtime::placed_program placed;
        REQUIRE(placed.take(statements));
        auto plan = runtime::plan_of(placed, nullptr);
        REQUIRE(plan.steps.size() == 2);
        REQUIRE(plan.steps[1].fill == 0);
        plan.steps[0].op = lowering::assignment::add; // so that what v held shows, if this step runs
        const runtime::executable program(where, plan);
        runtime::copy(where, operands[0].data, cpu(), v.data(), bytes[0]);
        program.launch(placed.joined, placed.statements);
        std::vector<double> found(values), expected;
        runtime::copy(cpu(), found.data(), where, operands[0].data, bytes[0]);
        for (const auto x : sums) expected.push_back(set == std::string_view("v(n) = 0") ? x : 7 + 2 + x);
        CHECK(found == expected);
    }
    for (const auto& o : operands) runtime::release(where, o.data);
}

TEST_CASE("zeros and a product of many operands that adds through a table are one program without locals") {
    const program_case c{{"v(n) = 0", "v(l(a,b,e)) += B(q,a)*B(r,b)*D(q,r,e)*B(q,i)*B(r,j)*u(l(i,j,e))"},
                         "v=f64[3000] B=f64[4,3] D=f64[4,4,400] u=f64[3000] l=i32[3,3,400]",
                         "",
                         2,
                         2};
    const auto outcome = run_program(as_program(c), 1, device_under_test(), program_data::integers);
    INFO(outcome.report);
    CHECK(outcome.report.empty());
    CHECK(outcome.kernels == 2);
}

TEST_CASE("random programs agree with the oracle, fused or not") {
    const auto code = device_under_test();
    const auto first = number_from_environment("RICCI_TEST_SEED", 1);
    const auto count = count_of_run();
    int fused = 0;
    for (auto seed = first; seed < first + count; ++seed) {
        const auto fill = seed % 2 == 0 ? program_data::integers : program_data::unit;
        const auto p = make_random_program(seed);
        INFO("seed " << seed << '\n' << p.text());
        const auto outcome = run_program(p, seed, code, fill);
        INFO(outcome.report);
        CHECK(outcome.report.empty());
        fused += outcome.kernels > 0;
    }
    INFO(fused << " of " << count << " fused");
    if (count >= 20) CHECK(fused > static_cast<int>(count) / 4); // else the test would say little of chains
}
