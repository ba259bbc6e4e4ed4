// table_check_test: entries out of range are refused on the CPU, and with RICCI_CHECK=1 or RICCI_DEBUG=1, one of which
// this test has, on a GPU too.
#include "lowering/error.hpp"
#include "runtime/run.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/covering.hpp"
#include "tests/kernels/device_under_test.hpp"

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
