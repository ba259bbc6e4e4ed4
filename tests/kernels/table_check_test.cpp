// table_check_test: entries out of range are refused on the CPU, and with RICCI_CHECK=1 or RICCI_DEBUG=1, one of
// which this test has, on a GPU too; pivots that are no rows with one of these everywhere.
#include <ricci/ricci.hpp>

#include "lowering/error.hpp"
#include "lowering/lower.hpp"
#include "runtime/environment.hpp"
#include "runtime/executable.hpp"
#include "runtime/run.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/chain_cases.hpp"
#include "tests/kernels/covering.hpp"
#include "tests/kernels/device_under_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

using namespace ricci;
using namespace ricci::indices;
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

TEST_CASE("so is one of a chain's tables, on either side") {
    const device where(device_under_test());
    const auto chip = eager_to_fuse(runtime::backend_of(where).machine());
    for (const char* left : {"l", "atomic(l)"}) {
        auto c = make_case({std::string("v(") + left + "(p,e)) += A(p,q)*relu(B(q,i)*x(m(i,e)))",
                            "v=f64[9] A=f64[6,11] B=f64[11,7] x=f64[12] l=i32[6,1100] m=i32[7,1100]"},
                           1);
        const auto plan = lowering::lower(c.s, chip);
        CHECK(plan.chains.size() == 1);
        const runtime::executable kernel(where, plan);
        const auto report = run_and_compare(c, where.code(), [&](const lowering::statement& s) {
            const auto refuses = [&](const char* table, std::int64_t at, std::int32_t bad, const char* message) {
                const auto found = std::find_if(s.accesses.begin(), s.accesses.end(),
                                                [&](const auto& a) { return a.name == table; });
                auto* const entry = static_cast<std::int32_t*>(found->data) + at;
                std::int32_t good = 0;
                runtime::copy(cpu(), &good, where, entry, sizeof good);
                runtime::copy(where, entry, cpu(), &bad, sizeof bad);
                CHECK_THROWS_WITH(kernel.launch(s), Catch::Contains(message));
                runtime::copy(where, entry, cpu(), &good, sizeof good);
            };
            refuses("l", 3 + 6 * 50, 9,
                    "l(p, e) at p = 3, e = 50 is 9, no value for position 1 of v, whose extent is 9");
            refuses("l", 0, -1, "l(p, e) at p = 0, e = 0 is -1, no value for position 1 of v, whose extent is 9");
            refuses("m", 7699, 12, "m(i, e) at e = 1099, i = 6 is 12, no value for position 1 of x");
            kernel.launch(s); // nothing was added before
        });
        INFO(report);
        CHECK(report.empty());
    }
}

TEST_CASE("a table that is said to be distinct is checked for it, where that is asked for") {
    if (!runtime::is_checking()) return; // on one thread of a CPU
    const device where(device_under_test());
    auto c = make_case({"v(distinct(q)(i,e(1,5)),c) = w(i,c,e)", "v=f64[12,2] w=f64[2,2,9] q=i64[2:1,6:3]"}, 1);
    const auto report = run_and_compare(c, where.code(), [&](const lowering::statement& s) {
        const auto table =
            std::find_if(s.accesses.begin(), s.accesses.end(), [](const auto& a) { return a.name == "q"; });
        auto* const entry = static_cast<std::int64_t*>(table->data) + 1 + 4 * 3; // q(1, 4)
        std::int64_t good = 0, same = 0;
        runtime::copy(cpu(), &good, where, entry, sizeof good);
        runtime::copy(cpu(), &same, where, entry - 3, sizeof same);
        runtime::copy(where, entry, cpu(), &same, sizeof same);
        CHECK_THROWS_WITH(runtime::run(s),
                          Catch::Contains(fmt::format(
                              "q(i, e(1, 5)) is {} at i = 1, e = 3 and at i = 1, e = 4, but distinct says that no "
                              "two of its entries are equal",
                              same)));
        runtime::copy(where, entry, cpu(), &good, sizeof good);
        std::int64_t unused = 0; // q(1, 5)
        runtime::copy(cpu(), &unused, where, entry + 3, sizeof unused);
        runtime::copy(where, entry + 3, cpu(), &same, sizeof same);
        runtime::run(s);
        runtime::copy(where, entry + 3, cpu(), &unused, sizeof unused);
    });
    INFO(report);
    CHECK(report.empty());
}

namespace {

/// Factors of matrices, their pivots, right-hand sides and what becomes of them.
template <class Pivot>
struct factored {
    std::int64_t n;
    static constexpr std::int64_t matrices = 5;
    tensor<double, dyn, dyn, dyn> A;
    tensor<Pivot, dyn, dyn> pivots;
    tensor<double, dyn, dyn> b, x, y;
    tensor<int, dyn> info;

    factored(std::int64_t rows, device where)
        : n(rows), A(n, n, matrices, where), pivots(n, matrices, where), b(n, matrices, where), x(n, matrices, where),
          y(n, matrices, where), info(matrices, where) {
        refill();
        b(i, e) = 1;
        lu(A(i, j, e), i, j, pivots(k, e), info(e));
    }
    /// As they were before they were factored: the last row is exchanged with the first one.
    void refill() {
        A(i, j, e) = 0;
        A(i, i, e) = 2;
        A(n - 1, 0, e) = 3;
    }
    void set_pivot(std::int64_t k, std::int64_t matrix, std::int64_t value) {
        auto all = pivots.download();
        all[static_cast<std::size_t>(k + n * matrix)] = static_cast<Pivot>(value);
        pivots.upload(all);
    }
    /// Does `body` for pivots that are no rows, where they are checked, then for good ones, after which x is the
    /// solution.
    template <class Body>
    void check(Body body) {
        const auto last = pivots.download().at(static_cast<std::size_t>(n * matrices - 1));
        x(i, e) = 7;
        const auto bad_ones = runtime::is_checking() ? std::vector<std::int64_t>{n, n + 100, -1}
                                                     : std::vector<std::int64_t>{}; // on one thread of a CPU
        for (const auto bad : bad_ones) {
            set_pivot(n - 1, matrices - 1, bad);
            CHECK_THROWS_WITH(
                body(), Catch::Contains(fmt::format("at e = 4, k = {} is {}, no row of A(i, j, e): lu_solve has "
                                                    "its pivots from 0 to {}, where LAPACK counts from 1",
                                                    n - 1, bad, n - 1)) &&
                            Catch::Contains("in ") && Catch::Contains("lu_solve(A(i, j, e), i, j, "));
            for (const auto value : x.download()) CHECK(value == 7);
        }
        set_pivot(n - 1, matrices - 1, last);
        body();
        check_solution();
    }
    void check_solution() const {
        const auto solution = x.download();
        for (std::size_t m = 0; m < solution.size(); ++m) { // 2 x(0) = 1, 3 x(0) + 2 x(n-1) = 1
            const bool is_last = m % static_cast<std::size_t>(n) == static_cast<std::size_t>(n) - 1;
            CHECK(solution[m] == Approx(is_last ? -0.25 : 0.5));
        }
    }
};

} // namespace

TEMPLATE_TEST_CASE("pivots that are no rows are refused before anything is written", "", std::int32_t, std::int64_t) {
    const device where(device_under_test());
    for (const std::int64_t n : {2, 4, 40}) {
        factored<TestType> of(n, where);
        of.check([&] { lu_solve(of.A(i, j, e), i, j, of.pivots(k, e), of.x(j, e), of.b(i, e), of.info(e)); });
    }
}

TEST_CASE("of pivots those are looked at that are read, by the rows of the matrix") {
    const device where(device_under_test());
    tensor<double, 5, 5> A(where);
    tensor<double, 3> x(where);
    tensor<std::int64_t, 8> pivots(where);
    A(i, i) = 2;
    x(i) = 4;
    const auto run = [&] { lu_solve(A(i(1, 4), j(1, 4)), i, j, pivots(2 * k(0, 3) + 1), x(j - 1)); };
    pivots.upload({9, 2, 9, 1, 9, 2, 9, 9});
    run(); // exchanges equal numbers
    CHECK(x.download() == std::vector<double>{2, 2, 2});
    if (!runtime::is_checking()) return; // on one thread of a CPU
    pivots.upload({0, 0, 0, 3, 0, 2, 0, 0});
    CHECK_THROWS_WITH(run(), Catch::Contains("at k = 1 is 3, no row of A(i(1, 4), j(1, 4)): lu_solve has its pivots "
                                             "from 0 to 2"));
}

TEST_CASE("pivots of a program are looked at before it runs, but for those that it writes itself") {
    const device where(device_under_test());
    for (const std::int64_t n : {4, 40}) {
        factored<std::int32_t> of(n, where);
        auto in_memory = record([&] {
            of.y(i, e) = 2 * of.b(i, e);
            lu_solve(of.A(i, j, e), i, j, of.pivots(k, e), of.x(j, e), of.b(i, e), of.info(e));
        });
        of.check(in_memory);
        auto in_chip = record([&] {
            local<double, dyn, dyn> right(n, of.matrices, where);
            right(i, e) = of.b(i, e);
            lu_solve(of.A(i, j, e), i, j, of.pivots(k, e), right(j, e), of.info(e));
            of.x(i, e) = right(i, e);
        });
        of.check(in_chip);

        const std::vector<std::int32_t> no_rows(static_cast<std::size_t>(n * of.matrices), 1000);
        auto of_its_own = record([&] {
            lu(of.A(i, j, e), i, j, of.pivots(k, e), of.info(e));
            lu_solve(of.A(i, j, e), i, j, of.pivots(k, e), of.x(j, e), of.b(i, e));
        });
        auto of_its_own_in_chip = record([&] {
            local<double, dyn, dyn> right(n, of.matrices, where);
            local<std::int32_t, dyn, dyn> pivots(n, of.matrices, where);
            right(i, e) = of.b(i, e);
            lu(of.A(i, j, e), i, j, pivots(k, e), of.info(e));
            lu_solve(of.A(i, j, e), i, j, pivots(k, e), right(j, e));
            of.x(i, e) = right(i, e);
        });
        const auto is_right = [&](auto& program) {
            of.refill();
            of.x(i, e) = 7;
            of.pivots.upload(no_rows);
            program();
            of.check_solution();
        };
        is_right(of_its_own), is_right(of_its_own_in_chip);
    }
}

TEST_CASE("what is added through pivots of the same program is added through those that it writes") {
    const device where(device_under_test());
    tensor<double, 3, 3> A(where);
    tensor<double, 3> x(where), y(where);
    tensor<std::int32_t, 3> pivots(where);
    tensor<std::int32_t> info(where);
    x.upload({1, 2, 4});
    auto in_memory = record([&] {
        lu(A(i, j), i, j, pivots(k), info());
        y(pivots(k)) += x(k);
    });
    auto in_a_local = record([&] {
        local<std::int32_t, 3> of_program(where);
        lu(A(i, j), i, j, of_program(k), info());
        y(of_program(k)) += x(k);
    });
    const auto add = [&](auto& program, bool reversed) {
        A(i, j) = 0;
        if (reversed)
            A(2 - i, i) = 2;
        else
            A(i, i) = 2;
        y(k) = 0;
        program();
        return y.download();
    };
    for (const bool reversed : {true, false, true}) { // pivots 2, 1, 2, and 0, 1, 2
        const auto expected = reversed ? std::vector<double>{0, 2, 5} : std::vector<double>{1, 2, 4};
        pivots.upload({77, 78, 79}); // overwritten before they are read
        CHECK(add(in_memory, reversed) == expected);
        CHECK(add(in_a_local, reversed) == expected);
    }
}
