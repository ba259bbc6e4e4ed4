// record_test: programs, locals, explain, and what cannot be done while statements are collected.
#include "ricci.hpp"

#include "tests/catch.hpp"
#include "tests/dsl/captured.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <sstream>
#include <vector>

using namespace ricci::indices;
using ricci::cpu, ricci::tensor;

TEST_CASE("a program runs when it is called, with the values of then") {
    tensor<double, 3> a(cpu()), b(cpu());
    double factor = 2;
    auto p = ricci::record([&] {
        b(i) = factor * a(i) + 1;
        a(i) += b(i);
    });
    CHECK(b.download() == std::vector<double>{0, 0, 0});
    p();
    CHECK(a.download() == std::vector<double>{1, 1, 1});
    factor = 3;
    p();
    CHECK(b.download() == std::vector<double>{4, 4, 4});
    CHECK(a.download() == std::vector<double>{5, 5, 5});
}

TEST_CASE("what is set to a number and added to stays in order with what pointers lead to") {
    constexpr std::int64_t elements = 1100, nodes = 700;
    tensor<double, ricci::dyn> y(nodes, cpu()), x(nodes, cpu());
    tensor<double, 4, 4> M(cpu());
    tensor<double, 4, ricci::dyn> u(elements, cpu());
    tensor<std::int32_t, 4, ricci::dyn> table(elements, cpu());
    std::vector<std::int32_t> numbers;
    for (std::int64_t n = 0; n < 4 * elements; ++n) numbers.push_back(static_cast<std::int32_t>(n % nodes));
    table.upload(numbers);
    M.fill(1), u.fill(1);
    std::vector<double*> pointers;
    for (std::int64_t n = 0; n < nodes; ++n) pointers.push_back(y.data() + n);
    ricci::pointer_view<double, 1> at(pointers.data(), {nodes}, cpu());
    constexpr int before = 0, between = 1;
    for (const int place : {before, between})
        for (const bool writes : {false, true}) {
            y.fill(7), x.fill(100);
            ricci::record([&] {
                ricci::local<double, 4, ricci::dyn> t(elements, cpu()), w(elements, cpu());
                const auto by_pointers = [&] {
                    if (writes)
                        at(n) = x(n);
                    else
                        x(n) = at(n);
                };
                if (place == before) by_pointers();
                y(n) = 0;
                if (place == between) by_pointers();
                t(a, e) = M(a, k) * u(k, e);
                w(b, e) = M(b, a) * t(a, e);
                y(table(b, e)) += w(b, e);
            })();
            const double added = 16 * std::count(numbers.begin(), numbers.end(), 5);
            CHECK(y.download()[5] == added + (writes && place == between ? 100 : 0));
            CHECK(x.download()[5] == (writes ? 100 : place == before ? 7 : 0));
        }
}

TEST_CASE("no statement runs where a later one's table has a bad entry") {
    tensor<double, 6> y(cpu()), z(cpu());
    tensor<double, 3> w(cpu());
    tensor<std::int32_t, 3> table(cpu());
    y.fill(7), w.fill(1);
    auto p = ricci::record([&] {
        y(n) = 0;
        z(table(i)) += w(i);
        y(i(0, 3)) += z(table(i));
    });
    for (const std::int32_t bad : {6, -1}) {
        table.upload(std::vector<std::int32_t>{0, bad, 2});
        CHECK_THROWS_WITH(p(), Catch::Contains(fmt::format("at i = 1 is {}", bad)));
        CHECK(y.download() == std::vector<double>(6, 7));
        CHECK(z.download() == std::vector<double>(6, 0));
    }
    table.upload(std::vector<std::int32_t>{0, 5, 0});
    p();
    CHECK(z.download() == std::vector<double>{2, 0, 0, 0, 0, 1});
    CHECK(y.download() == std::vector<double>{2, 1, 2, 0, 0, 0});
}

TEST_CASE("the number of statements may change") {
    tensor<double, 3> a(cpu());
    int count = 3;
    auto p = ricci::record([&] {
        for (int n = 0; n < count; ++n) a(i) += 1;
    });
    p();
    count = 1;
    p();
    CHECK(a.download()[0] == 4);
}

TEST_CASE("a program within a program") {
    tensor<double, 3> a(cpu());
    auto inner = ricci::record([&] { a(i) += 1; });
    auto outer = ricci::record([&] {
        a(i) = 5;
        inner();
    });
    CHECK(a.download()[0] == 0);
    outer();
    CHECK(a.download()[0] == 6);
}

TEST_CASE("a local carries a number and no memory") {
    tensor<double, 3> a(cpu());
    const auto statements = captured_all([&] {
        ricci::local<double, ricci::dyn, 3> t(5, cpu()), u(4, cpu());
        t(j, i) = a(i);
        a(i) = t(j, i) * u(j(0, 4), i);
    });
    const auto& written = statements.at(0).accesses[0];
    CHECK(written.data == nullptr);
    CHECK(written.local >= 0);
    CHECK(statements[0].positions[0].extent == 5);
    CHECK(statements[0].positions[1].stride == 5);
    CHECK(statements.at(1).accesses[1].local == written.local);
    CHECK(statements[1].accesses[2].local != written.local);
}

TEST_CASE("a local holds values within its program, and is refused outside") {
    tensor<double, 3> a(cpu());
    a.fill(2);
    auto p = ricci::record([&] {
        ricci::local<double, 3> t(cpu());
        t(i) = a(i) * a(i);
        a(i) = t(i) + 1;
    });
    p();
    CHECK(a.download() == std::vector<double>{5, 5, 5});
    ricci::local<double, 3> outside(cpu());
    CHECK_THROWS_AS(outside(i) = 1, ricci::error);
    CHECK_THROWS_AS(a(i) = outside(i), ricci::error);
    CHECK_THROWS_AS(double(outside(0)), ricci::error);
    CHECK(a.download() == std::vector<double>{5, 5, 5});
}

TEST_CASE("a local may be padded") {
    tensor<double, 3> a(cpu()), b(cpu());
    a.upload({1, 2, 3});
    auto p = ricci::record([&] {
        ricci::local<double, 3> t(cpu());
        t(i) = a(i);
        b(i) = ricci::padded(t)(i + 1);
    });
    p();
    CHECK(b.download() == std::vector<double>{2, 3, 0});
}

TEST_CASE("a tensor made inside lives until the statements have run") {
    tensor<double, ricci::dyn> a(10000, cpu());
    a.fill(2);
    auto p = ricci::record([&] {
        tensor<double, ricci::dyn> t(10000, cpu());
        t(i) = a(i) * a(i);
        auto inner = ricci::record([&] { a(i) += t(i); });
        inner();
        tensor<double, ricci::dyn> u(10000, cpu());
        u(i) = 3;
        t = std::move(u); // what t had is read by the statements before
        a(i) += t(i);
    });
    p();
    CHECK(a(9999) == 9);
    p();
    CHECK(a(9999) == 93);
}

TEST_CASE("fill is part of a program") {
    tensor<double, 3> a(cpu());
    auto p = ricci::record([&] {
        a.fill(2);
        a(i) += 1;
    });
    CHECK(a(0) == 0);
    p();
    CHECK(a.download() == std::vector<double>{3, 3, 3});
}

TEST_CASE("mistakes in a recorded statement surface at once") {
    tensor<double, 3> a(cpu());
    CHECK_THROWS_AS(ricci::record([&] { a(i(0, 2)) = a(i(0, 3)); }), ricci::error);
}

TEST_CASE("values cannot be read while statements are collected") {
    tensor<double, 3> a(cpu());
    double x = 0;
    CHECK_THROWS_AS(ricci::record([&] { x = a(1); }), ricci::error);
    CHECK_THROWS_AS(ricci::record([&] { x = a(i) * a(i); }), ricci::error);
    CHECK_THROWS_AS(ricci::record([&] { (void)a.download(); }), ricci::error);
    CHECK_THROWS_AS(ricci::record([&] { (void)a.copy(); }), ricci::error);
    CHECK_THROWS_WITH(ricci::record([&] { a.upload(std::vector<double>(3)); }),
                      Catch::Contains("elements are written"));
    x = a(1); // and afterwards they can
    CHECK(x == 0);
}

TEST_CASE("explain writes about each statement and runs none") {
    tensor<double, 3> a(cpu());
    std::ostringstream out;
    ricci::explain(
        [&] {
            a(i) = 1;
            a(i) += a(i);
        },
        out);
    CHECK(out.str().find("+=") != std::string::npos);
    CHECK(a.download()[0] == 0);
}

TEST_CASE("tuning is remembered") {
    const auto before = ricci::current_tuning();
    ricci::set_tuning(ricci::tuning::off);
    CHECK(ricci::current_tuning() == ricci::tuning::off);
    ricci::set_tuning(before);
}

TEST_CASE("expected seconds grow with the work, and nothing runs") {
    const auto seconds = [](std::int64_t n) {
        tensor<double, ricci::dyn, ricci::dyn> a(n, n, cpu()), c(n, n, cpu());
        a.fill(1);
        const double once = ricci::expected_seconds([&] { c(i, j) = a(i, k) * a(k, j); });
        CHECK(c(0, 0) == 0);
        // of a program those of all its statements
        const double twice = ricci::expected_seconds(ricci::record([&] {
            c(i, j) = a(i, k) * a(k, j);
            c(i, j) += a(i, k) * a(k, j);
        }));
        CHECK(twice > 1.5 * once);
        CHECK(twice < 3 * once);
        return once;
    };
    CHECK(seconds(300) > 4 * seconds(150));
    tensor<double, 3> x(cpu());
    CHECK_THROWS_AS(ricci::expected_seconds([&] { x(i(0, 4)) = 1; }), ricci::error);
}
