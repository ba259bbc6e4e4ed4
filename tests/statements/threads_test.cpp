// threads_test: eight host threads run equal and different statements at once. Clean under ThreadSanitizer (preset
// tsan).
#include "ricci.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace {

using namespace ricci::indices;

/// A product whose inner extent differs from thread to thread when `n` does.
bool run_statements(std::int64_t n, int rounds) {
    using stack = ricci::tensor<double, ricci::dyn, ricci::dyn, ricci::dyn>;
    stack A(n, n, 9, ricci::cpu()), B(n, n, 9, ricci::cpu()), C(n, n, 9, ricci::cpu());
    A.fill(1);
    B.fill(1);
    for (int round = 1; round <= rounds; ++round) {
        C(i, j, e) = 0.5 * A(i, k, e) * B(k, j, e);
        C(i, j, e) += C(j, i, e);
        const double sum = C(i, j, e);
        if (sum != static_cast<double>(n * n * n * 9)) return false;
    }
    return true;
}

int right_among_eight(std::int64_t first, std::int64_t step) {
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (std::int64_t t = 0; t < 8; ++t)
        threads.emplace_back([&, t] { right += run_statements(first + t * step, 20); });
    for (auto& t : threads) t.join();
    return right;
}

} // namespace

TEST_CASE("eight threads with the same statements") {
    const ricci::test::scratch_cache cache;
    CHECK(right_among_eight(5, 0) == 8);
}

TEST_CASE("eight threads with different statements") {
    const ricci::test::scratch_cache cache;
    CHECK(right_among_eight(2, 1) == 8);
}

TEST_CASE("large statements spread over the workers, from eight threads") {
    const ricci::test::scratch_cache cache;
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
            ricci::tensor<float, ricci::dyn> x(2'000'000, ricci::cpu()), y(2'000'000, ricci::cpu());
            x.fill(3);
            y(i) = x(i) * x(i) + 1.0f;
            right += y(0) == 10.0f && y(1'999'999) == 10.0f;
        });
    for (auto& t : threads) t.join();
    CHECK(right == 8);
}
