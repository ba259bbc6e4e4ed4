// random_test: random statements on one device, against the oracle. A failure prints its seed: run it alone with
// RICCI_TEST_SEED=<seed> RICCI_TEST_N=1.
#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/random_statement.hpp"

TEST_CASE("random statements agree with the oracle") {
    const auto device = ricci::tests::device_under_test();
    const std::string reports = ricci::tests::run_random_cases(ricci::tests::count_of_run(), device);
    INFO(reports);
    CHECK(reports.empty());
}
