// covering_test: every statement of the covering list on one device, against the oracle, what a BLAS takes also by the
// own kernels; and its factorizations and solves, by LAPACK's test ratios.
#include "lowering/lower.hpp"
#include "runtime/backend.hpp"
#include "runtime/executable.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/covering.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/seeds.hpp"

#include <algorithm>

using namespace ricci;
using namespace ricci::tests;

TEST_CASE("every family, type and layout agrees with the oracle") {
    const device where(device_under_test());
    const auto chip = runtime::backend_of(where).machine();
    auto without_blas = chip;
    without_blas.has_blas = false;
    const auto uses_blas = [](const lowering::plan& p) {
        return std::any_of(p.steps.begin(), p.steps.end(),
                           [](const auto& st) { return st.kernel == lowering::family::library; });
    };
    std::uint64_t seed = 0;
    part_of_run part;
    for (const auto& c : covering_list()) {
        ++seed;
        if (!part.takes_next()) continue;
        auto made = make_case(c, seed);
        const auto report = run_and_compare(made, where.code());
        INFO(report);
        CHECK(report.empty());
        if (!uses_blas(lowering::lower(made.s, chip))) continue;
        auto again = make_case(c, seed);
        const auto own = run_and_compare(again, where.code(), [&](const lowering::statement& s) {
            runtime::executable(where, lowering::lower(s, without_blas)).launch(s);
        });
        INFO(own);
        CHECK(own.empty());
    }
}

TEST_CASE("every factorization and solve, of all types and layouts, is right") {
    const auto code = device_under_test();
    part_of_run part;
    for (const auto& p : covering_problems()) {
        if (!part.takes_next()) continue;
        const auto out = run_matrix_problem(p, code);
        CHECK(out.mistake == "");
    }
}
