// matrix_judge_test: the judge of factorizations and solves finds what is wrong: results of right kernels are
// spoiled.
#include "runtime/run.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/matrix_problem.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

using namespace ricci;
using namespace ricci::tests;
using lowering::matrix_role;
using lowering::routine;

namespace {

constexpr std::int64_t n = 6;
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// Of two matrices in f64, dense.
matrix_problem problem(routine what, matrix_kind kind) {
    matrix_problem p;
    p.what = what, p.kind = kind, p.m = p.n = n, p.batch = 2;
    return p;
}

template <class T>
T* operand(const lowering::statement& s, matrix_role role) {
    return reinterpret_cast<T*>(s.accesses[static_cast<std::size_t>(s.call.of(role))].data);
}

/// What is said of a problem whose results are spoiled.
template <class Spoil>
std::string said_of(const matrix_problem& p, const Spoil& spoil) {
    return run_matrix_problem(p, 0,
                              [&](const lowering::statement& s) {
                                  runtime::run(s);
                                  spoil(s);
                              })
        .mistake;
}

} // namespace

TEST_CASE("a number that is off by 1e-10 is found, in each routine's result") {
    const auto off_by = [](double factor) {
        return [factor](const lowering::statement& s) {
            const auto role = lowering::factors_in_place(s.call.what) ? matrix_role::matrix : matrix_role::solution;
            operand<double>(s, role)[0] *= factor;
        };
    };
    for (const auto what : {routine::cholesky, routine::lu, routine::qr, routine::solve, routine::inverse,
                            routine::least_squares, routine::cholesky_solve, routine::lu_solve, routine::qr_solve,
                            routine::triangular_solve, routine::apply_q}) {
        const auto p = problem(what, matrix_kind::random);
        INFO(to_string(p));
        CHECK(said_of(p, off_by(1)).empty());
        CHECK_THAT(said_of(p, off_by(1 + 1e-10)), Catch::Contains("ratio "));
        CHECK_THAT(said_of(p, off_by(no_number)), Catch::Contains("ratio inf"));
    }
    CHECK_THAT(said_of(problem(routine::log_determinant, matrix_kind::random),
                       [](const auto& s) { operand<double>(s, matrix_role::log_abs)[1] += 1e-9; }),
               Catch::Contains("log |det| of matrix 1 is off"));
}

TEST_CASE("an info that LAPACK does not give is found, also where solutions are NaN then") {
    for (const auto what : {routine::cholesky, routine::lu, routine::qr, routine::solve, routine::inverse,
                            routine::log_determinant, routine::least_squares})
        for (const auto kind : {matrix_kind::random, matrix_kind::singular, matrix_kind::zero}) {
            const auto p = problem(what, kind);
            INFO(to_string(p));
            CHECK_THAT(said_of(p,
                               [&](const auto& s) {
                                   operand<std::int32_t>(s, matrix_role::info)[1] = 2;
                                   if (what == routine::solve)
                                       std::fill_n(operand<double>(s, matrix_role::solution), 2 * n, no_number);
                               }),
                       Catch::Contains("info of matrix 1 is 2, not "));
        }
    CHECK_THAT(said_of(problem(routine::cholesky, matrix_kind::nearly_singular),
                       [](const auto& s) { operand<std::int32_t>(s, matrix_role::info)[0] = n; }),
               Catch::Contains("info of matrix 0 is 6, not 0"));
}

TEST_CASE("numbers where a matrix had NaN, and solutions with singular ones, are found") {
    const auto all = [](matrix_role role, std::int64_t count) {
        return [=](const lowering::statement& s) { std::fill_n(operand<double>(s, role), count, 1.0); };
    };
    for (const auto what : {routine::lu, routine::qr})
        CHECK_THAT(said_of(problem(what, matrix_kind::with_nan), all(matrix_role::matrix, 2 * n * n)),
                   Catch::Contains("the factors of NaN matrix 0 are numbers"));
    for (const auto what : {routine::solve, routine::inverse, routine::least_squares})
        CHECK_THAT(said_of(problem(what, matrix_kind::with_nan),
                           all(matrix_role::solution, what == routine::inverse ? 2 * n * n : 2 * n)),
                   Catch::Contains("with NaN matrix 0 is "));
    CHECK_THAT(said_of(problem(routine::solve, matrix_kind::singular), all(matrix_role::solution, 2 * n)),
               Catch::Contains("a solution with singular matrix 0 is a number"));
    const auto sized = [](double log) {
        return [=](const lowering::statement& s) { *operand<double>(s, matrix_role::log_abs) = log; };
    };
    CHECK_THAT(said_of(problem(routine::log_determinant, matrix_kind::singular), sized(-30)),
               Catch::Contains("the determinant of singular matrix 0 is not 0"));
    auto p = problem(routine::log_determinant, matrix_kind::indefinite);
    p.positive = true;
    CHECK_THAT(said_of(p, sized(-30)), Catch::Contains("the determinant of matrix 0 is a number, where"));
    CHECK_THAT(said_of(p, [](const auto& s) { *operand<double>(s, matrix_role::sign) = 0; }),
               Catch::Contains("the determinant of matrix 0 is a number, where"));
}

TEST_CASE("a pivot that is not the largest, or no row, is found") {
    const auto p = problem(routine::lu, matrix_kind::random);
    CHECK_THAT(said_of(p, [](const auto& s) { operand<std::int32_t>(s, matrix_role::vector)[2] = n; }),
               Catch::Contains("pivot 2 of matrix 0 is 6"));
    // the factors of the matrix with its rows in their order are factors, but by other pivots
    const auto in_order = [](const lowering::statement& s) {
        auto* const a = operand<double>(s, matrix_role::matrix);
        auto* const pivots = operand<std::int32_t>(s, matrix_role::vector);
        double whole[n][n] = {};
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                for (int k = 0; k <= std::min(i, j); ++k) whole[i][j] += (k == i ? 1 : a[i + n * k]) * a[k + n * j];
        for (auto k = n; k-- > 0;) std::swap(whole[k], whole[pivots[k]]);
        for (int k = 0; k < n; ++k) {
            pivots[k] = k;
            for (int i = k + 1; i < n; ++i) {
                whole[i][k] /= whole[k][k];
                for (int j = k + 1; j < n; ++j) whole[i][j] -= whole[i][k] * whole[k][j];
            }
        }
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) a[i + n * j] = whole[i][j];
    };
    CHECK_THAT(said_of(p, in_order), Catch::Contains("of matrix 0 is smaller than what is in row"));
}

TEST_CASE("bytes beside the results are found") {
    auto p = problem(routine::lu, matrix_kind::random);
    p.layout = matrix_layout::padded;
    CHECK_THAT(said_of(p, [](const auto& s) { operand<char>(s, matrix_role::matrix)[-1] ^= 1; }),
               Catch::Contains("that are not to be written were"));
    CHECK_THAT(said_of(problem(routine::cholesky, matrix_kind::random),
                       [](const auto& s) { operand<double>(s, matrix_role::matrix)[n] += 1; }), // above the diagonal
               Catch::Contains("that are not to be written were"));
}
