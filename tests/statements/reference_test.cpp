// reference_test: the interpreter that serves where there is no compiler, against compiled kernels.
#include "lowering/lower.hpp"
#include "ricci.hpp"
#include "runtime/backend.hpp"
#include "runtime/reference.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

#include <complex>
#include <random>
#include <vector>

namespace {

using namespace ricci::indices;

/// Runs the captured statement by the interpreter alone.
template <class F> void interpret(F f) {
    const ricci::runtime::collecting scope([](const ricci::lowering::statement& s) {
        auto chip = ricci::runtime::backend_of(ricci::cpu()).machine();
        chip.has_compiler = chip.has_blas = false;
        const auto p = ricci::lowering::lower(s, chip);
        std::vector<std::vector<std::byte>> temporaries;
        for (const auto& t : p.temporaries)
            temporaries.emplace_back(static_cast<std::size_t>(t.elements * ricci::lowering::size_of(t.type)));
        for (const auto& st : p.steps)
            ricci::runtime::run_reference(st, s.scalars, [&](std::int32_t source) -> void* {
                return source >= 0 ? s.accesses[static_cast<std::size_t>(source)].data
                                   : temporaries[static_cast<std::size_t>(-1 - source)].data();
            });
    });
    f();
}

template <class T> std::vector<T> random_values(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> out(count);
    for (auto& x : out) x = static_cast<T>(static_cast<float>(random() % 9) - 4.0f);
    return out;
}

template <class T> void compare() {
    ricci::tensor<T, 5, 4, 6> A(ricci::cpu());
    ricci::tensor<T, 4, 3, 6> B(ricci::cpu());
    ricci::tensor<T, 5, 3, 6> C(ricci::cpu()), D(ricci::cpu());
    A.upload(random_values<T>(A.size(), 1));
    B.upload(random_values<T>(B.size(), 2));
    const auto start = random_values<T>(C.size(), 3);
    const auto try_both = [&](auto statement) {
        C.upload(start), D.upload(start);
        statement(C);
        interpret([&] { statement(D); });
        const auto c = C.download(), d = D.download();
        for (std::size_t n = 0; n < c.size(); ++n) REQUIRE(c[n] == d[n]); // small integers: every order is exact
    };
    try_both([&](auto& X) { X(i, j, e) += A(i, k, e) * B(k, j, e); });
    try_both([&](auto& X) { X(i(1, 4), 2, e) -= 2 * conj(A(i, k, e)) * B(k, 1, 5) - 1; });
    try_both([&](auto& X) { X(i, j, e(0, 5)) = X(i, j, e + 1); });
    ricci::tensor<int, 4, 3> l(ricci::cpu());
    l.upload({0, 3, 3, 1, 4, 4, 4, 0, 3, 3, 3, 2});
    try_both([&](auto& X) { X(l(i, j), 1, e) += A(2, i, e) * B(i, j, e); });
    try_both([&](auto& X) { X(i, j, e) = ricci::padded(A)(i - 1, 2 * j - 1, e) / B(0, 0, 0); });
}

} // namespace

TEST_CASE("the interpreter agrees with the kernels") {
    const ricci::test::scratch_cache cache;
    compare<float>();
    compare<double>();
    compare<std::complex<float>>();
    compare<std::complex<double>>();
    compare<ricci::half>();
    compare<ricci::bfloat16>();
}
