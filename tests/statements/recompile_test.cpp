// recompile_test: what may change without a kernel being compiled again, and what happens when inner extents keep
// changing.
#include "ricci.hpp"
#include "runtime/kernel_cache.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

#include <functional>
#include <sstream>
#include <utility>

namespace {

using namespace ricci::indices;
using ricci::runtime::compile_count;

/// Kernels compiled by `f`.
template <class F> std::int64_t compiled_by(F f) {
    const auto before = compile_count();
    f();
    return compile_count() - before;
}

ricci::tensor<double, ricci::dyn, ricci::dyn, ricci::dyn> stack(std::int64_t m, std::int64_t n, std::int64_t count) {
    return ricci::tensor<double, ricci::dyn, ricci::dyn, ricci::dyn>(m, n, count, ricci::cpu());
}

void multiply(std::int64_t m, std::int64_t n, std::int64_t l, std::int64_t count) {
    auto A = stack(m, l, count), B = stack(l, n, count), C = stack(m, n, count);
    A.fill(1);
    B.fill(2);
    C(i, j, e) = A(i, k, e) * B(k, j, e);
    REQUIRE(C(m - 1, n - 1, count - 1) == 2.0 * static_cast<double>(l));
}

} // namespace

TEST_CASE("batch extents, offsets of ranges, scalars and pointers change without a compile") {
    const ricci::test::scratch_cache cache;
    CHECK(compiled_by([] { multiply(5, 6, 7, 10); }) > 0);
    CHECK(compiled_by([] {
              for (const std::int64_t count : {1, 2, 11, 64, 1000}) multiply(5, 6, 7, count);
          }) == 0);

    auto A = stack(30, 8, 9), B = stack(30, 8, 9);
    A.fill(1);
    const auto part = [&](std::int64_t from, double factor) {
        B(i(from, from + 6), j, e) += factor * A(i, k, 2) * A(i, k, 3) * A(i, j, e);
    };
    part(0, 1.0);
    CHECK(compiled_by([&] {
              for (std::int64_t from = 1; from < 24; ++from) part(from, 0.5 * static_cast<double>(from));
          }) == 0);
}

TEST_CASE("interleaved batches: strides that hold the batch's extent are arguments") {
    const ricci::test::scratch_cache cache;
    const auto run = [](std::int64_t count) {
        ricci::tensor<float, ricci::dyn, 3, 3> A(count, ricci::cpu()), B(count, ricci::cpu()), C(count, ricci::cpu());
        A.fill(1), B.fill(1);
        C(e, i, j) = A(e, i, k) * B(e, k, j);
        REQUIRE(C(count - 1, 2, 2) == 3.0f);
    };
    run(100);
    CHECK(compiled_by([&] { run(101), run(7), run(5000); }) == 0);
}

TEST_CASE("a batch that an operand lacks, and the elements of a mesh, change without a compile") {
    const ricci::test::scratch_cache cache;
    const auto cpu = ricci::cpu();
    using ricci::dyn, ricci::tensor;
    const std::pair<const char*, std::function<double(std::int64_t)>> statements[] = {
        {"shared on the right",
         [&](std::int64_t count) -> double {
             tensor<double, 3, 5, dyn> A(count, cpu);
             tensor<double, 5, 4> B(cpu);
             tensor<double, 3, 4, dyn> C(count, cpu);
             A.fill(1), B.fill(1);
             C(i, j, e) = A(i, k, e) * B(k, j);
             return C(2, 3, count - 1) - 5;
         }},
        {"shared on the left, its columns and the batch one axis",
         [&](std::int64_t count) -> double {
             tensor<double, 3, 5> A(cpu);
             tensor<double, 5, 4, dyn> B(count, cpu);
             tensor<double, 3, 4, dyn> C(count, cpu);
             A.fill(1), B.fill(1);
             C(i, j, e) = A(i, k) * B(k, j, e);
             return C(2, 3, count - 1) - 5;
         }},
        {"shared, the batch fastest",
         [&](std::int64_t count) -> double {
             tensor<double, dyn, 3, 5> A(count, cpu);
             tensor<double, 5, 4> B(cpu);
             tensor<double, dyn, 4, 3> C(count, cpu);
             A.fill(1), B.fill(1);
             C(e, j, i) = A(e, i, k) * B(k, j);
             return C(count - 1, 3, 2) - 5;
         }},
        {"mass matrices",
         [&](std::int64_t count) -> double {
             tensor<double, 9, 4> B(cpu);
             tensor<double, 9, dyn> W(count, cpu);
             tensor<double, 4, 4, dyn> M(count, cpu);
             B.fill(1), W.fill(1);
             M(i, j, e) = B(q, i) * W(q, e) * B(q, j);
             return M(3, 2, count - 1) - 9;
         }},
        {"an operator, sum-factorised",
         [&](std::int64_t count) -> double {
             tensor<double, 4, 3> B(cpu);
             tensor<double, 4, 4, dyn> D(count, cpu);
             tensor<double, 3, 3, dyn> u(count, cpu), v(count, cpu);
             B.fill(1), D.fill(1), u.fill(1);
             v(a, b, e) = B(q, a) * B(r, b) * D(q, r, e) * B(q, i) * B(r, j) * u(i, j, e);
             return v(2, 1, count - 1) - 16 * 9;
         }},
        {"a layer, its images fastest",
         [&](std::int64_t count) -> double {
             tensor<float, dyn, 3, 7, 8> D(count, cpu);
             tensor<float, 4, 3, 3, 3> F(cpu);
             tensor<float, dyn, 4, 5, 6> O(count, cpu);
             D.fill(1), F.fill(1);
             O(b, k, y, x) = relu(D(b, c, y + r, x + s) * F(k, c, r, s));
             return static_cast<double>(O(count - 1, 3, 4, 5)) - 27;
         }},
    };
    for (const auto& [name, run] : statements) {
        INFO(name);
        CHECK(run(100) == 0);
        CHECK(compiled_by([&, &run = run] {
                  for (const std::int64_t count : {2, 3, 63, 64, 65, 1023, 1024, 20000}) CHECK(run(count) == 0);
              }) == 0);
    }
}

TEST_CASE("the long axis of tall-skinny products, and every axis of the output of other statements, are arguments") {
    const ricci::test::scratch_cache cache;
    const auto run = [](std::int64_t length) {
        ricci::tensor<double, ricci::dyn, 4> A(length, ricci::cpu()), C(length, ricci::cpu());
        ricci::tensor<double, 4, 4> S(ricci::cpu());
        A.fill(1);
        S(i, j) = A(k, i) * A(k, j);
        C(k, j) = A(k, i) * S(i, j);
        C(k, j) += exp(A(k, j));
        REQUIRE(S(3, 3) == static_cast<double>(length));
    };
    run(5000);
    CHECK(compiled_by([&] { run(5001), run(100'000); }) == 0);
}

TEST_CASE("inner extents that keep changing fall to a kernel with extents as arguments") {
    const ricci::test::scratch_cache cache;
    for (std::int64_t n = 2; n < 40; ++n) multiply(n, 3, 2, 5);
    CHECK(compiled_by([] {
              for (std::int64_t n = 40; n < 60; ++n) multiply(n, 3, 2, 5);
          }) == 0);
    auto A = stack(61, 2, 5), B = stack(2, 3, 5), C = stack(61, 3, 5);
    std::ostringstream text;
    ricci::explain([&] { C(i, j, e) = A(i, k, e) * B(k, j, e); }, text);
    CHECK_THAT(text.str(), Catch::Contains("extents as arguments since its sizes keep changing"));
    multiply(61, 3, 2, 5);
    CHECK(compiled_by([] { multiply(61, 3, 2, 5); }) == 1); // sizes that come again get a kernel of their own
    CHECK(compiled_by([] { multiply(61, 3, 2, 7); }) == 0);
}
