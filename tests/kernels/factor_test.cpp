// factor_test: factorizations and solves on each device by LAPACK's test ratios: every routine, type and layout,
// sizes on both sides of where kernels change, shapes, and matrices that are graded, badly scaled, singular,
// indefinite or hold a NaN.
#include "lowering/lower.hpp"
#include "runtime/executable.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/factor_problems.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

using namespace ricci;
using namespace ricci::tests;
using lowering::routine;
using lowering::scalar_type;

namespace {

std::vector<std::int64_t> sizes() {
    if (is_emulated()) return {1, 2, 4, 5, 8, 9, 15, 17, 32, 50, 66}; // threads are fibres
    if (device_code() == 0)
        return {1, 2, 3, 5, 8, 13, 17, 31, 32, 48, 65, 100, 512}; // a kernel compiles in half a second
    std::vector<std::int64_t> all(65);
    std::iota(all.begin(), all.end(), 1);
    for (const std::int64_t n : {80, 96, 100, 127, 128, 129, 160, 192, 256, 300, 512}) all.push_back(n);
    return all;
}

} // namespace

TEST_CASE("square matrices are factored") {
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    const auto what = GENERATE(routine::cholesky, routine::lu, routine::qr);
    std::size_t turn = static_cast<std::size_t>(what);
    for (const auto n : sizes()) {
        matrix_problem p;
        p.what = what, p.m = p.n = n;
        p.type = matrix_types[turn % std::size(matrix_types)];
        p.layout = matrix_layouts[turn * 2 / 3 % std::size(matrix_layouts)];
        p.wide = turn % 5 == 0;
        ++turn;
        add_kinds(problems, p);
    }
    check_problems(problems, device);
}

TEST_CASE("every size of every type, by a kernel of its own", "[.][every]") {
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    const auto what = GENERATE(routine::cholesky, routine::lu, routine::qr);
    for (std::int64_t n = 1; n <= 64; ++n)
        for (const auto type : matrix_types)
            for (const auto kind : {matrix_kind::random, matrix_kind::graded, matrix_kind::nearly_singular}) {
                matrix_problem p;
                p.what = what, p.m = p.n = n, p.type = type, p.kind = kind, p.batch = is_emulated() ? 3 : 37;
                p.seed = static_cast<std::uint64_t>(n);
                if (is_wanted(kind, p)) problems.push_back(p);
            }
    check_problems(problems, device);
}

TEST_CASE("every size of every type, by kernels with sizes as arguments") { // one or four a routine and type
    const ricci::device where(device_under_test());
    const auto chip = runtime::backend_of(where).machine();
    const auto what = GENERATE(routine::cholesky, routine::lu, routine::qr, routine::lu_solve);
    std::vector<std::int64_t> all;
    for (std::int64_t n = 1; n <= 65; ++n) all.push_back(n);
    for (const std::int64_t n : {100, 129, 200, 512})
        if (!is_emulated() || n == 100) all.push_back(n);
    const std::size_t step = is_emulated() ? std::size(matrix_types) : 1; // emulated, each size of one type
    std::vector<matrix_problem> problems;
    std::size_t turn = 0, first = 0;
    for (const auto type : matrix_types) {
        if (is_left_out()) continue;
        for (auto at = first++ % step; at < all.size(); at += step) {
            matrix_problem p;
            p.what = what, p.type = type, p.m = p.n = all[at], p.seed = ++turn;
            p.batch = p.n > (is_emulated() ? 16 : 65) ? 1 : 1 + p.n % 3;
            do p.kind = matrix_kinds[turn++ % std::size(matrix_kinds)];
            while (!is_wanted(p.kind, p));
            if (what == routine::lu_solve) // four kernels a type
                p.r = 1 + 2 * (p.n % 2), p.adjoint = p.n / 2 % 2 == 0, p.apart = (p.n + p.n / 2) % 2 == 0;
            problems.push_back(p);
        }
    }
    check_problems(problems, where.code(), [&](const lowering::statement& s) {
        runtime::executable(where, lowering::lower(s, chip, {}, true)).launch(s);
    });
}

// by lanes that read pairs of rows, and single ones; of matrices moved apart, or not; in each order of a warp's lanes,
// and by two warps
TEST_CASE("QR in registers") {
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    std::size_t turn = 0;
    for (const std::int64_t n : {10, 16, 17, 20, 21, 24, 26, 29, 30, 32, 45, 56, 61}) {
        matrix_problem p;
        p.what = routine::qr, p.m = p.n = n, p.type = scalar_type::f64;
        p.wide = turn++ % 3 == 0;
        add_kinds(problems, p);
    }
    check_problems(problems, device);
}

TEST_CASE("every type and layout is factored") {
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    const auto what = GENERATE(routine::cholesky, routine::lu, routine::qr);
    std::size_t turn = 0;
    for (const auto type : matrix_types)
        for (const auto layout : matrix_layouts) {
            matrix_problem p;
            p.what = what, p.type = type, p.layout = layout, p.batch = 19;
            p.m = p.n = std::array<std::int64_t, 3>{6, 11, 20}[turn++ % 3];
            if (!is_left_out()) problems.push_back(p);
        }
    check_problems(problems, device);
}

TEST_CASE("matrices that are aligned to a part of a number are factored and solved") {
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    const auto what = GENERATE(routine::cholesky, routine::lu, routine::qr, routine::solve, routine::least_squares);
    std::size_t turn = static_cast<std::size_t>(what);
    for (const std::int64_t n : {2, 3, 6, 10, 20, 33, 70})
        for (const auto type : matrix_types) {
            if (device == 0 && n != 6 && n != 33) continue; // whose vectors may begin anywhere
            ++turn;                                         // half of them, of neighboring sizes other types
            if (device <= 0 && (turn + turn / std::size(matrix_types)) % 2 == 0) continue;
            matrix_problem p;
            p.what = what, p.type = type, p.m = p.n = n, p.r = 2, p.batch = n > 16 ? 5 : 19;
            p.layout = p.sides = matrix_layout::displaced;
            p.seed = static_cast<std::uint64_t>(n);
            if (!is_left_out()) problems.push_back(p);
        }
    check_problems(problems, device);
}

TEST_CASE("rectangular matrices are factored") {
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    const auto what = GENERATE(routine::lu, routine::qr);
    constexpr std::int64_t shapes[][2] = {{1, 4},   {4, 1},   {3, 7},   {9, 5},  {20, 6},
                                          {12, 31}, {40, 17}, {70, 20}, {20, 70}};
    std::size_t turn = 0;
    for (const auto& [m, n] : shapes) {
        matrix_problem p;
        p.what = what, p.m = m, p.n = n, p.type = matrix_types[turn % std::size(matrix_types)];
        p.layout = matrix_layouts[turn++ % std::size(matrix_layouts)];
        add_kinds(problems, p);
    }
    check_problems(problems, device);
}

TEST_CASE("systems are solved at once") {
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    constexpr std::int64_t shapes[][2] = {{1, 1},  {3, 1},  {4, 5},  {8, 1}, {13, 3},
                                          {20, 1}, {32, 2}, {40, 1}, {70, 3}};
    std::size_t turn = 0;
    for (const auto& [n, r] : shapes)
        for (const bool positive : {false, true}) {
            matrix_problem p;
            p.what = routine::solve, p.m = p.n = n, p.r = r, p.positive = positive;
            p.type = matrix_types[(turn + turn / 2) % std::size(matrix_types)]; // of both methods all
            p.layout = matrix_layouts[turn / 2 % std::size(matrix_layouts)],
            p.sides = matrix_layouts[turn % std::size(matrix_layouts)];
            p.apart = turn % 3 != 0, p.conjugated = is_complex(p.type) && turn % 3 == 1, p.unpivoted = false;
            ++turn;
            add_kinds(problems, p);
        }
    check_problems(problems, device);
}

TEST_CASE("inverses and determinants") {
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    const auto what = GENERATE(routine::inverse, routine::log_determinant);
    std::size_t turn = 0;
    for (const std::int64_t n : {1, 3, 8, 17, 33, 33, 66, 66, 66}) {
        matrix_problem p;
        p.what = what, p.m = p.n = n, p.type = matrix_types[turn % std::size(matrix_types)];
        p.layout = matrix_layouts[turn % std::size(matrix_layouts)],
        p.sides = matrix_layouts[(turn + 1) % std::size(matrix_layouts)];
        p.apart = turn % 2 == 0, p.unpivoted = turn % 3 == 1, p.positive = turn % 3 == 2;
        ++turn;
        add_kinds(problems, p);
    }
    check_problems(problems, device);
}

TEST_CASE("least squares") {
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    constexpr std::int64_t shapes[][3] = {{1, 1, 1}, {5, 3, 1}, {9, 9, 2}, {20, 6, 1}, {33, 16, 3}, {70, 30, 1}};
    std::size_t turn = 0;
    for (const auto what : {routine::least_squares, routine::qr_solve})
        for (const auto& [m, n, r] : shapes) {
            matrix_problem p;
            p.what = what, p.m = m, p.n = n, p.r = r, p.batch = 7,
            p.type = matrix_types[turn % std::size(matrix_types)];
            p.layout = matrix_layouts[turn % std::size(matrix_layouts)],
            p.sides = matrix_layouts[turn / 2 % std::size(matrix_layouts)];
            p.conjugated = turn % 4 == 3;
            ++turn;
            add_kinds(problems, p);
        }
    check_problems(problems, device);
}

TEST_CASE("smallest solutions") {
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    // on a GPU by a lane, some lanes, two warps, a block, from 330 unknowns on in panels; the last by three lanes, or
    // by more lanes than have columns
    constexpr std::int64_t shapes[][3] = {{1, 2, 1},   {1, 4, 3},   {2, 3, 1},    {3, 5, 1},   {5, 9, 2},
                                          {6, 20, 1},  {9, 32, 5},  {16, 33, 3},  {20, 24, 1}, {31, 64, 1},
                                          {17, 40, 9}, {30, 70, 1}, {70, 75, 11}, {9, 330, 1}, {40, 340, 9},
                                          {9, 11, 3},  {9, 18, 1}};
    std::size_t turn = 0;
    for (const auto& [m, n, r] : shapes)
        for (int more = 0; more < 2; ++more) {
            matrix_problem p;
            p.what = routine::least_squares, p.m = m, p.n = n, p.r = r,
            p.type = matrix_types[turn % std::size(matrix_types)];
            p.layout = matrix_layouts[turn * 2 / 3 % std::size(matrix_layouts)],
            p.sides = matrix_layouts[turn % std::size(matrix_layouts)];
            p.conjugated = turn % 4 == 3, p.wide = turn % 5 == 1;
            turn += 3;
            add_kinds(problems, p);
        }
    check_problems(problems, device);
}

TEST_CASE("systems are solved with factors") {
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    constexpr std::int64_t shapes[][2] = {{1, 1}, {4, 1}, {7, 2}, {16, 1}, {17, 5}, {32, 1}, {50, 1}, {66, 9}};
    std::size_t turn = 0;
    for (const auto what : {routine::cholesky_solve, routine::lu_solve, routine::triangular_solve})
        for (const auto& [n, r] : shapes) {
            matrix_problem p;
            p.what = what, p.m = p.n = n, p.r = r, p.batch = n > 40 ? 3 : 21,
            p.type = matrix_types[turn % std::size(matrix_types)];
            p.layout = matrix_layouts[turn % std::size(matrix_layouts)],
            p.sides = matrix_layouts[turn / 3 % std::size(matrix_layouts)];
            p.apart = turn % 2 == 0, p.conjugated = turn % 5 == 2, p.wide = turn % 3 == 1;
            p.upper = turn % 2 == 1, p.unit = turn % 7 == 3;
            ++turn;
            problems.push_back(p);
        }
    check_problems(problems, device);
}

TEST_CASE("systems of the adjoint are solved with LU's factors") {
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    constexpr std::int64_t shapes[][2] = {{1, 1}, {2, 3}, {3, 1}, {4, 2}, {9, 1}, {17, 5}, {32, 1}, {50, 3}, {70, 9}};
    std::size_t turn = 0;
    for (int round = 0; round < 3; ++round)
        for (const auto& [n, r] : shapes) {
            matrix_problem p;
            p.what = routine::lu_solve, p.adjoint = true, p.m = p.n = n, p.r = r, p.batch = n > 40 ? 3 : 21;
            p.type = matrix_types[turn % std::size(matrix_types)];
            p.layout = matrix_layouts[turn % std::size(matrix_layouts)],
            p.sides = matrix_layouts[turn / 2 % std::size(matrix_layouts)];
            p.apart = turn % 2 == 0, p.conjugated = turn % 3 == 1, p.wide = turn % 4 == 1;
            p.unpivoted = turn % 7 == 2, p.given_by_columns = turn % 8 == 4;
            if (turn % 6 == 3) p.kind = matrix_kind::singular;
            ++turn;
            problems.push_back(p);
        }
    check_problems(problems, device);
}

TEST_CASE("Q is applied and formed") {
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    constexpr std::int64_t shapes[][3] = {{1, 1, 1}, {6, 4, 6},  {4, 6, 2},   {17, 17, 3}, {32, 8, 8}, {66, 20, 5},
                                          {1, 3, 1}, {2, 30, 2}, {13, 20, 5}, {33, 40, 4}, {70, 90, 9}};
    std::size_t turn = 0;
    for (const auto what : {routine::apply_q, routine::form_q})
        for (const auto& [m, n, r] : shapes) {
            matrix_problem p;
            p.what = what, p.m = m, p.n = n, p.r = r, p.batch = 5,
            p.type = matrix_types[turn % std::size(matrix_types)];
            p.layout = matrix_layouts[turn % std::size(matrix_layouts)],
            p.sides = matrix_layouts[turn / 2 % std::size(matrix_layouts)];
            p.apart = turn % 2 == 0 || what == routine::form_q, p.adjoint = turn % 3 == 1,
            p.conjugated = turn % 4 == 2;
            ++turn;
            problems.push_back(p);
        }
    check_problems(problems, device);
}

TEST_CASE("a batch of no matrices, and one of many") {
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    for (const auto what : {routine::cholesky, routine::lu, routine::qr})
        for (const std::int64_t batch : {0, is_emulated() ? 300 : 3000}) {
            matrix_problem p;
            p.what = what, p.m = p.n = 3, p.batch = batch;
            problems.push_back(p);
        }
    check_problems(problems, device);
}

TEST_CASE("matrices without elements") {
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    const auto what =
        GENERATE(routine::cholesky, routine::lu, routine::qr, routine::solve, routine::least_squares,
                 routine::inverse, routine::log_determinant, routine::triangular_solve, routine::cholesky_solve,
                 routine::lu_solve, routine::qr_solve, routine::apply_q, routine::form_q);
    constexpr std::int64_t shapes[][2] = {{0, 0}, {3, 0}, {0, 3}};
    for (const auto& [m, n] : shapes) {
        const bool takes_tall =
            what == routine::lu || what == routine::qr || what == routine::least_squares || what >= routine::qr_solve;
        if (m > n && !takes_tall) continue;
        if (m < n && (!takes_tall || what == routine::qr_solve)) continue;
        matrix_problem p;
        p.what = what, p.m = m, p.n = n, p.batch = 5, p.r = what == routine::form_q ? m : 2;
        p.type = matrix_types[static_cast<std::size_t>(what) % std::size(matrix_types)];
        problems.push_back(p);
    }
    check_problems(problems, device);
}

TEST_CASE(
    "sizes that keep changing take kernels with sizes as arguments") { // beyond 16 of them: runtime/lower_for.cpp
    const auto device = device_under_test();
    std::vector<matrix_problem> problems;
    const auto what = GENERATE(routine::lu, routine::qr_solve, routine::least_squares);
    if (count_of_run() > 1 && what != routine::lu) return;
    for (std::int64_t n = 1; n <= 19; ++n) {
        matrix_problem p;
        p.what = what, p.m = p.n = n, p.type = scalar_type::f32, p.batch = 4, p.wide = true;
        if (what == routine::least_squares) p.n += 3, p.r = 2;
        p.seed = static_cast<std::uint64_t>(n);
        problems.push_back(p);
    }
    check_problems(problems, device);
}

TEST_CASE("matrices beyond a thread's scratch") { // 16 MB: kernels/factor_block_cpu.hpp
    if (device_code() != 0) return;
    matrix_problem p;
    p.what = routine::solve, p.m = p.n = 1500, p.batch = 1, p.positive = true; // judged in n^2
    check_problems({p}, 0);
    p.what = routine::least_squares, p.m = 8, p.n = 280000, p.positive = false;
    check_problems({p}, 0);
}
