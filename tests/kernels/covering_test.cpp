// covering_test: every statement of the covering list on one device, against the oracle.
#include "tests/catch.hpp"
#include "tests/kernels/covering.hpp"
#include "tests/kernels/device_under_test.hpp"

TEST_CASE("every family, type and layout agrees with the oracle") {
    const auto device = ricci::tests::device_under_test();
    std::uint64_t seed = 0;
    for (const auto& c : ricci::tests::covering_list()) {
        auto made = ricci::tests::make_case(c, ++seed);
        const auto report = ricci::tests::run_and_compare(made, device);
        INFO(report);
        CHECK(report.empty());
    }
}
