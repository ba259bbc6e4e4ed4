// precompile_test: after ricci::precompile, statements run without a compile; before, none has run.
#include "ricci.hpp"
#include "runtime/kernel_cache.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

#include <cstdint>
#include <vector>

namespace {

using namespace ricci::indices;
using ricci::dyn, ricci::tensor;
using ricci::runtime::compile_count;

const auto cpu = ricci::cpu();

/// Kernels compiled by `f`.
template <class F> std::int64_t compiled_by(F f) {
    const auto before = compile_count();
    f();
    return compile_count() - before;
}

} // namespace

TEST_CASE("precompiled statements run without a compile, also with other batches, numbers and pointers") {
    const ricci::test::scratch_cache cache;
    const auto body = [](tensor<double, 4, 5, dyn>& A, tensor<double, 4, 4, dyn>& C, tensor<double, 5, dyn>& S,
                         double factor) {
        A.fill(factor);
        C(i, j, e) = A(i, k, e) * A(j, k, e);
        C(i, j, e) += factor * C(j, i, e);
        S(j, e) = A(i, j, e) + 1;
    };
    tensor<double, 4, 5, dyn> A(20, cpu);
    tensor<double, 4, 4, dyn> C(20, cpu);
    tensor<double, 5, dyn> S(20, cpu);
    CHECK(compiled_by([&] { ricci::precompile([&] { body(A, C, S, 1.5); }); }) >= 4);
    CHECK(A.download() == std::vector<double>(400, 0.0)); // nothing ran
    tensor<double, 4, 5, dyn> more(70, cpu);
    tensor<double, 4, 4, dyn> products(70, cpu);
    tensor<double, 5, dyn> sums(70, cpu);
    CHECK(compiled_by([&] { body(A, C, S, 1.5), body(more, products, sums, 2); }) == 0);
    CHECK(products.download() == std::vector<double>(16 * 70, 20.0 + 2 * 20.0));
    CHECK(sums.download() == std::vector<double>(5 * 70, 4 * 2 + 1.0));
}

TEST_CASE("a recorded program is precompiled with its locals and the tensors that it creates") {
    const ricci::test::scratch_cache cache;
    tensor<double, 3, 3> A(cpu), B(cpu);
    A.upload({1, 0, 0, 0, 2, 0, 0, 0, 3});
    auto program = ricci::record([&] {
        ricci::local<double, 3, 3> square(cpu);
        tensor<double, 3, 3> cube(cpu);
        square(i, j) = A(i, k) * A(k, j);
        cube(i, j) = square(i, k) * A(k, j);
        B(i, j) = cube(i, j) + square(j, i);
    });
    CHECK(compiled_by([&] { ricci::precompile(program); }) > 0);
    CHECK(B.download() == std::vector<double>(9, 0.0));
    CHECK(compiled_by(program) == 0);
    CHECK(B.download() == std::vector<double>{2, 0, 0, 0, 12, 0, 0, 0, 36});
}

TEST_CASE("every one of many inner sizes has a kernel of its own") {
    const ricci::test::scratch_cache cache;
    std::vector<tensor<float, dyn, dyn, dyn>> stacks;
    for (std::int64_t n = 2; n < 24; ++n) stacks.emplace_back(n, n, 3, cpu);
    const auto square_all = [&] {
        for (auto& A : stacks) A(i, j, e) = A(i, k, e) * A(k, j, e);
    };
    CHECK(compiled_by([&] { ricci::precompile(square_all); }) > 16);
    CHECK(compiled_by(square_all) == 0);
}

TEST_CASE("a mistake is told as when the statements run, and none has run") {
    tensor<double, dyn> x(3, cpu), y(4, cpu);
    CHECK_THROWS_WITH(ricci::precompile([&] {
                          x(i) = 1;
                          x(i) = y(i);
                      }),
                      Catch::Contains("extent"));
    CHECK(x.download() == std::vector<double>(3, 0.0));
    double sum = 0;
    CHECK_THROWS_WITH(ricci::precompile([&] { sum = x(i); }), Catch::Contains("read them outside"));
    CHECK_NOTHROW(ricci::precompile([] {}));
}
