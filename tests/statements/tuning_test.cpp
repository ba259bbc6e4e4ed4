// tuning_test: statements that are measured on first use, on the emulated GPU: their results are those of one run.
#include "ricci.hpp"
#include "runtime/kernel_cache.hpp"
#include "runtime/run.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/runtime/scratch.hpp"

#include <random>
#include <sstream>
#include <vector>

namespace {

using namespace ricci::indices;
using ricci::tensor;

const ricci::device emulated{ricci::tests::emulator_device};

std::vector<double> integers(std::int64_t count) {
    std::mt19937 random(7);
    std::vector<double> out;
    for (std::int64_t n = 0; n < count; ++n) out.push_back(static_cast<double>(static_cast<int>(random() % 9) - 4));
    return out;
}

struct restored_tuning {
    ~restored_tuning() { ricci::set_tuning(ricci::tuning::cached); }
};

} // namespace

TEST_CASE("+= adds once, and an update in place reads what was there") {
    const ricci::test::scratch_cache cache;
    const restored_tuning after;
    ricci::tests::register_emulator();
    ricci::set_tuning(ricci::tuning::on_first_use);
    const auto run = [](ricci::device where) {
        tensor<double, 3, 3, 6> A(where), B(where), C(where);
        A.upload(integers(A.size())), B.upload(integers(B.size())), C.fill(100);
        C(i, j, e) += 2 * A(i, k, e) * B(k, j, e);
        tensor<double, 3, 3, 4, 3> D(where);
        D.upload(integers(D.size()));
        D(i, j, m(1, 4), n(1, 3)) -= D(i, k, m, 0) * D(k, j, 0, n);
        auto out = C.download();
        for (const double x : D.download()) out.push_back(x);
        return out;
    };
    const auto before = ricci::runtime::compile_count();
    const auto results = run(emulated);
    CHECK(ricci::runtime::compile_count() > before + 4); // candidates were measured
    CHECK(results == run(ricci::cpu()));
    const auto compiled = ricci::runtime::compile_count();
    CHECK(run(emulated) == results);
    CHECK(ricci::runtime::compile_count() == compiled);
    std::ostringstream text;
    tensor<double, 3, 3, 6> A(emulated), B(emulated), C(emulated);
    ricci::explain([&] { C(i, j, e) += 2 * A(i, k, e) * B(k, j, e); }, text);
    CHECK(text.str().find("by measurements") != std::string::npos);
}

TEST_CASE("factorizations and solves are measured on memory of the tuner's own, and done once") {
    const ricci::test::scratch_cache cache;
    const restored_tuning after;
    ricci::tests::register_emulator();
    ricci::set_tuning(ricci::tuning::on_first_use);
    // Every second matrix: no table that is shipped has matrices that lie so.
    const auto run = [](ricci::device where) {
        tensor<double, 4, 4, 2, 5> A(where);
        tensor<double, 4, 5> x(where), y(where);
        A.upload(integers(A.size())), x.fill(60), y.fill(60);
        A(i, i, 1, e) += 20;
        const auto info = solve(A(i, j, 1, e), i, j, x(j, e));
        const auto [pivots, none] = lu(A(i, j, 1, e), i, j);
        lu_solve(A(i, j, 1, e), i, j, pivots(k, e), y(j, e));
        auto out = x.download();
        for (const double v : A.download()) out.push_back(v);
        for (const double v : y.download()) out.push_back(v);
        for (const int v : pivots.download()) out.push_back(v);
        for (const int v : info.download()) out.push_back(v);
        return out;
    };
    const auto before = ricci::runtime::compile_count();
    const auto results = run(emulated), expected = run(ricci::cpu());
    CHECK(ricci::runtime::compile_count() > before + 6); // candidates were measured
    REQUIRE(results.size() == expected.size());
    for (std::size_t n = 0; n < results.size(); ++n) CHECK(results[n] == Approx(expected[n]).margin(1e-12));
    const auto compiled = ricci::runtime::compile_count();
    CHECK(run(emulated) == results);
    CHECK(ricci::runtime::compile_count() == compiled);
    std::ostringstream text;
    tensor<double, 4, 4, 2, 5> A(emulated);
    ricci::explain([&] { lu(A(i, j, 1, e), i, j); }, text);
    CHECK(text.str().find("by measurements") != std::string::npos);
}
