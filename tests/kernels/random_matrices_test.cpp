// random_matrices_test: random factorizations and solves on one device, judged by LAPACK's test ratios. A failure
// prints its seed: run it alone with RICCI_TEST_SEED=<seed> RICCI_TEST_N=1.
#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/random_matrix_problem.hpp"

TEST_CASE("random factorizations and solves are right") {
    const auto device = ricci::tests::device_under_test();
    const std::string reports = ricci::tests::run_random_problems(ricci::tests::count_of_run(), device);
    INFO(reports);
    CHECK(reports.empty());
}
