// covering_test: every statement of the covering list on one device, against the oracle; what a BLAS takes also by
// the own kernels.
#include "lowering/lower.hpp"
#include "runtime/backend.hpp"
#include "runtime/executable.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/covering.hpp"
#include "tests/kernels/device_under_test.hpp"

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
    for (const auto& c : covering_list()) {
        auto made = make_case(c, ++seed);
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
