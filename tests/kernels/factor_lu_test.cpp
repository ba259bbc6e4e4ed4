// factor_lu_test: LU on each device where its kernels differ from others': lanes of a warp with the tensor cores, a
// stream of matrices, and which of equally large numbers is the pivot.
#include <ricci/ricci.hpp>

#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/factor_problems.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numeric>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

using namespace ricci;
using namespace ricci::tests;
using lowering::routine;
using lowering::scalar_type;

TEST_CASE("LU by lanes of a warp and the tensor cores") { // 8, 16 and 32 lanes a matrix, one row each and more
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    constexpr matrix_layout of_neighbors[] = {matrix_layout::dense, matrix_layout::row_major, matrix_layout::padded,
                                              matrix_layout::reversed};
    std::size_t turn = 0;
    const auto add = [&](scalar_type type, std::int64_t m, std::int64_t n) {
        matrix_problem p;
        p.what = routine::lu, p.m = m, p.n = n, p.type = type;
        p.layout = of_neighbors[turn++ % std::size(of_neighbors)];
        p.wide = turn % 3 == 0;
        add_kinds(problems, p);
    };
    for (const std::int64_t n : {16, 21, 24, 27, 32, 33, 37, 48, 57, 64}) add(scalar_type::f64, n, n);
    for (const auto type : {scalar_type::f32, scalar_type::c64, scalar_type::c128})
        for (const std::int64_t n : {16, 23, 32, 41, 64}) add(type, n, n);
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{40, 25}, {19, 31}, {64, 9}, {9, 64}})
        add(scalar_type::f64, m, n), add(scalar_type::c64, m, n);
    for (const auto what : {routine::solve, routine::log_determinant, routine::inverse})
        for (const auto type : {scalar_type::f64, scalar_type::c128, scalar_type::c64}) {
            matrix_problem p;
            p.what = what, p.m = p.n = 15 + static_cast<std::int64_t>(turn++ % 4), p.r = 3, p.type = type;
            p.conjugated = p.apart = what != routine::inverse && type != scalar_type::f64;
            add_kinds(problems, p);
        }
    check_problems(problems, device);
}

TEST_CASE("LU moves dense matrices to their places, right-hand sides behind them or not") {
    const auto device = device_under_test();
    using enum scalar_type;
    std::vector<matrix_problem> problems;
    const auto add = [&](scalar_type type, std::int64_t m, std::int64_t n, std::int64_t r,
                         matrix_layout layout = matrix_layout::dense) {
        matrix_problem p;
        p.what = r > 0 ? routine::solve : routine::lu, p.m = m, p.n = n, p.r = r, p.type = type;
        p.layout = p.sides = layout;
        p.apart = n % 2 == 0; // solutions from what is given
        add_kinds(problems, p);
    };
    // columns of every remainder by the units in which they move, and last panels of every width
    for (const std::int64_t n : {22, 23, 25, 26, 29, 30, 33, 42, 47, 60}) add(f64, n, n, 0);
    for (const std::int64_t n : {23, 25, 26, 28, 31, 46}) add(f32, n, n, 0);
    for (const std::int64_t n : {13, 18, 25, 39}) add(c64, n, n, 0);
    for (const std::int64_t n : {11, 14, 35}) add(c128, n, n, 0);
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{25, 31}, {31, 25}, {30, 41}, {9, 33}, {61, 10}})
        add(f64, m, n, 0), add(f32, m, n, 0);
    for (const std::int64_t n : {15, 17, 25, 26, 47}) add(f64, n, n, n % 3 + 1);
    for (const std::int64_t n : {23, 25, 26, 27, 29, 30}) add(f32, n, n, n % 4 + 1);
    for (const std::int64_t n : {13, 14, 27}) add(c64, n, n, 2), add(c128, n, n, 9);
    for (const std::int64_t n : {22, 25, 26}) // which begin anywhere
        add(f64, n, n, 0, matrix_layout::displaced), add(f32, n + 1, n + 1, 1, matrix_layout::displaced);
    check_problems(problems, device);
}

TEST_CASE("LU of f64 as a stream of matrices") { // a block factors several, whose rows come as others leave
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    std::size_t turn = 0;
    for (const std::int64_t n : {65, 72, 101, 128, 160}) {
        matrix_problem p;
        p.what = routine::lu, p.m = p.n = n, p.type = scalar_type::f64;
        p.layout = matrix_layouts[turn++ % std::size(matrix_layouts)];
        p.wide = turn % 3 == 0;
        add_kinds(problems, p);
    }
    for (auto& p : problems)
        if (p.kind == matrix_kind::random) p.batch = is_emulated() ? 14 : 900;
    check_problems(problems, device);
}

/// For compute-sanitizer's racecheck, under which a size takes some seconds (-c "72 rows"): some matrices to each
/// block of a GPU.
TEST_CASE("races of LU as a stream", "[.]") {
    const auto device = device_under_test();
    for (const std::int64_t n : {65, 72, 101, 128}) DYNAMIC_SECTION(n << " rows") {
            std::vector<matrix_problem> problems;
            for (const auto kind : {matrix_kind::random, matrix_kind::zero, matrix_kind::with_nan}) {
                matrix_problem p;
                p.what = routine::lu, p.m = p.n = n, p.type = scalar_type::f64, p.kind = kind;
                p.batch = is_emulated() ? 14 : 500;
                problems.push_back(p);
            }
            check_problems(problems, device);
        }
}

TEMPLATE_TEST_CASE("of equally large numbers the first is the pivot, at every step", "", double, float,
                   std::complex<double>, std::complex<float>) {
    // Hadamard's matrices of order 2^p, their rows in any order: elements stay sums of powers of two, exactly, and in
    // each step about half of them are equally large. Of other sizes some of their rows' leading parts.
    using namespace ricci::indices;
    using number = TestType;
    const device where(device_under_test());
    std::mt19937 random(1);
    constexpr std::int64_t batch = 7;
    for (const std::int64_t n : {4, 8, 12, 16, 20, 32, 64, 128}) {
        if (is_left_out() || (is_emulated() && n > 64 && !std::is_same_v<number, double>)) continue;
        std::vector<number> a(static_cast<std::size_t>(n * n * batch));
        std::vector<std::int32_t> pivots;
        const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t e) -> number& {
            return a[static_cast<std::size_t>(i + n * (j + n * e))];
        };
        std::vector<std::int64_t> row(std::bit_ceil(static_cast<std::size_t>(n)));
        for (std::int64_t e = 0; e < batch; ++e) {
            std::iota(row.begin(), row.end(), 0);
            std::shuffle(row.begin(), row.end(), random);
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < n; ++j) {
                    const auto both = static_cast<std::uint64_t>(row[static_cast<std::size_t>(i)] & j);
                    at(i, j, e) = std::popcount(both) % 2 == 0 ? number(1) : number(-1);
                }
        }
        tensor<number, dyn, dyn, dyn> A(n, n, batch, where);
        tensor<std::int32_t, dyn, dyn> found(n, batch, where);
        tensor<std::int32_t, dyn> info(batch, where);
        A.upload(a);
        lu(A(i, j, e), i, j, found(k, e), info(e));
        for (std::int64_t e = 0; e < batch; ++e)
            for (std::int64_t k = 0; k < n; ++k) {
                std::int64_t best = k;
                for (std::int64_t i = k + 1; i < n; ++i)
                    if (std::abs(at(i, k, e)) > std::abs(at(best, k, e))) best = i;
                pivots.push_back(static_cast<std::int32_t>(best));
                for (std::int64_t j = 0; j < n; ++j) std::swap(at(k, j, e), at(best, j, e));
                if (at(k, k, e) == number(0)) continue;
                for (std::int64_t i = k + 1; i < n; ++i) {
                    at(i, k, e) /= at(k, k, e);
                    for (std::int64_t j = k + 1; j < n; ++j) at(i, j, e) -= at(i, k, e) * at(k, j, e);
                }
            }
        INFO("n = " << n);
        CHECK(found.download() == pivots);
        CHECK(A.download() == a);
    }
}
