// random_test: random statements on one device, against the oracle. A failure prints its seed: run it alone with
// RICCI_TEST_SEED=<seed> RICCI_TEST_N=1.
#include "runtime/backend.hpp"
#include "tests/catch.hpp"
#include "tests/random_statement.hpp"
#if RICCI_TEST_DEVICE < 0
#include "tests/emulator/emulator.hpp"
#endif

#include <cstdio>
#include <cstdlib>

TEST_CASE("random statements agree with the oracle") {
#if RICCI_TEST_DEVICE < 0
    ricci::tests::register_emulator();
#elif RICCI_TEST_DEVICE > 0
    if (ricci::runtime::cuda_device_count() == 0) {
        std::puts("skipped: no usable GPU");
        std::exit(4); // ctest's SKIP_RETURN_CODE
    }
#endif
    const std::string reports = ricci::tests::run_random_cases(RICCI_TEST_COUNT, RICCI_TEST_DEVICE);
    INFO(reports);
    CHECK(reports.empty());
}
