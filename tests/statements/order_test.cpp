// order_test: kernels that start while those before them end see what these wrote, and write nothing that these still
// read: the same bits as when each is waited for.
#include "ricci.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/gpu.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

namespace {

using namespace ricci::indices;
using ricci::dyn, ricci::tensor;

template <class T>
void fill(T& x, unsigned seed) {
    std::vector<typename T::value_type> all(static_cast<std::size_t>(x.size()));
    for (auto& value : all) {
        seed = seed * 1664525u + 1013904223u;
        value = static_cast<typename T::value_type>(static_cast<float>(seed >> 8) * 0x1p-24f - 0.5f);
    }
    x.upload(all);
}

/// Statements that all read what the one before wrote, and what `result` gives after them: bits, as numbers.
struct chain {
    std::function<void()> start;
    std::vector<std::function<void()>> statements;
    std::function<std::vector<double>()> result;
};

template <class T>
std::vector<double> numbers(const T& x) {
    std::vector<double> out;
    for (const auto value : x.download()) out.push_back(static_cast<double>(value));
    return out;
}

void check(const chain& c) {
    const auto gpu = ricci::cuda(0);
    constexpr int rounds = 20;
    c.start();
    for (int n = 0; n < rounds; ++n)
        for (const auto& statement : c.statements) statement(), ricci::synchronize(gpu);
    const auto expected = c.result();
    const auto is_number = [](double x) { return x != 0 && std::abs(x) < 1e4; };
    CHECK(std::count_if(expected.begin(), expected.end(), is_number) > static_cast<long>(expected.size() / 2));
    for (int repetition = 0; repetition < 5; ++repetition) {
        c.start();
        for (int n = 0; n < rounds; ++n)
            for (const auto& statement : c.statements) statement();
        CHECK(c.result() == expected);
    }
}

/// B is orthogonal, so that numbers neither grow nor vanish: 1 - 2 v v^T / n, of v = 1 and -1.
template <class T>
void fill_reflections(T& B, std::int64_t n, std::int64_t count) {
    std::vector<typename T::value_type> all;
    for (std::int64_t p = 0; p < count; ++p)
        for (std::int64_t column = 0; column < n; ++column)
            for (std::int64_t row = 0; row < n; ++row) {
                const auto sign = [&](std::int64_t at) { return (at * 7 + p * 13) % 11 < 5 ? -1.0f : 1.0f; };
                const float reflected = 2 * sign(row) * sign(column) / static_cast<float>(n);
                all.push_back(static_cast<typename T::value_type>((row == column ? 1.0f : 0.0f) - reflected));
            }
    B.upload(all);
}

template <class T>
void check_batched(std::int64_t n, std::int64_t count) {
    const auto gpu = ricci::cuda(0);
    tensor<T, dyn, dyn, dyn> A(n, n, count, gpu), B(n, n, count, gpu), C(n, n, count, gpu);
    check({[&] { fill(A, 1), fill_reflections(B, n, count), fill(C, 3); },
           {[&] { C(i, j, e) = A(i, k, e) * B(k, j, e); }, [&] { A(i, j, e) = 0.5 * B(k, i, e) * C(k, j, e); },
            [&] { C(i, j, e) += 0.5 * B(i, k, e) * A(k, j, e); }, [&] { A(i, j, e) = C(i, k, e) * B(j, k, e); }},
           [&] { return numbers(C); }});
}

} // namespace

TEST_CASE("batched products in a row") {
    for (const std::int64_t n : {4, 9, 17, 32}) {
        INFO("n = " << n);
        for (const std::int64_t count : {3, 1000, 20001}) check_batched<double>(n, count);
        check_batched<ricci::half>(n, 20001);
        check_batched<float>(n, 5000);
    }
    check_batched<double>(97, 300);
    check_batched<float>(97, 300);
}

TEST_CASE("interleaved products in a row") {
    const auto gpu = ricci::cuda(0);
    for (const auto& [n, count] : {std::pair<std::int64_t, std::int64_t>{3, 30001}, {10, 30001}, {10, 30000}}) {
        INFO("n = " << n << ", " << count << " products");
        tensor<double, dyn, dyn, dyn> A(count, n, n, gpu), B(count, n, n, gpu), C(count, n, n, gpu);
        check({[&] { fill(A, 1), fill(B, 2), fill(C, 3); },
               {[&] { C(e, i, j) = 0.5 * A(e, i, k) * B(e, k, j); },
                [&] { A(e, i, j) += 0.1 * B(e, i, k) * C(e, k, j); }},
               [&] { return numbers(C); }});
    }
}

TEST_CASE("tall products, sums over them and element by element in a row") {
    const auto gpu = ricci::cuda(0);
    for (const std::int64_t width : {1, 3, 8, 24, 64}) {
        INFO("width = " << width);
        const std::int64_t height = 200001;
        tensor<double, dyn, dyn> X(height, width, gpu), Z(height, width, gpu), S(width, width, gpu);
        check({[&] { fill(X, 1), fill(Z, 2), fill(S, 3); },
               {[&] { S(i, j) = 0.00001 * X(k, i) * Z(k, j); }, [&] { Z(i, j) += X(i, k) * S(k, j); },
                [&] { X(i, j) = 0.5 * X(i, j) + 0.25 * Z(i, j); }, [&] { Z(i, j) = 0.5 * Z(i, j) - 0.25 * X(i, j); }},
               [&] { return numbers(Z); }});
    }
}

TEST_CASE("library calls in a row with kernels") {
    const auto gpu = ricci::cuda(0);
    tensor<double, dyn, dyn> P(300, 300, gpu), Q(300, 300, gpu);
    check({[&] { fill(P, 1), fill(Q, 2); },
           {[&] { P(i, j) = 0.9 * P(i, j) + 0.01 * Q(i, j); }, [&] { Q(i, j) = 0.01 * P(i, k) * P(k, j); },
            [&] { P(i, j) = P(j, i) - Q(i, j); }},
           [&] { return numbers(P); }});
}
