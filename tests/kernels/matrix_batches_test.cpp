// matrix_batches_test: once there are kernels for one matrix, for few and for many, other counts compile none,
// wherever the batch's index stands: steps that hold the count are arguments. And results are right.
#include "runtime/kernel_cache.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/matrix_problem.hpp"
#include "tests/runtime/scratch.hpp"

#include <cstdint>

using namespace ricci::tests;
using ricci::lowering::routine;
using ricci::lowering::scalar_type;

namespace {

void run(const matrix_problem& p) {
    INFO(to_string(p));
    const auto outcome = run_matrix_problem(p, device_under_test());
    CHECK(outcome.mistake == "");
    CHECK(outcome.ratio < 30);
}

void check(matrix_problem p) {
    const ricci::test::scratch_cache cache;
    for (const std::int64_t count : {1, 2, 300}) {
        p.batch = count;
        run(p);
    }
    const auto before = ricci::runtime::compile_count();
    for (const std::int64_t count : {3, 17, 64, 201}) {
        p.batch = count;
        run(p);
        INFO(to_string(p));
        CHECK(ricci::runtime::compile_count() == before);
    }
}

} // namespace

TEST_CASE("another count of matrices compiles nothing") {
    using enum matrix_layout;
    std::size_t turn = 0;
    constexpr scalar_type types[] = {scalar_type::f64, scalar_type::c64, scalar_type::f32, scalar_type::c128};
    for (const auto layout : {dense, interleaved, between, row_major})
        for (const auto what : {routine::cholesky, routine::lu, routine::qr, routine::solve,
                                routine::triangular_solve, routine::qr_solve, routine::inverse}) {
            matrix_problem p;
            p.what = what, p.type = types[turn % 4], p.layout = p.sides = layout;
            p.m = p.n = turn++ % 3 == 0 ? 21 : 5;
            p.r = what == routine::inverse ? p.n : 2;
            if (what == routine::qr) p.m += 2;
            check(p);
        }
}
