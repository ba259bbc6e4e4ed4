// values_test: statements whose values or shapes once went wrong.
#include "ricci.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <sstream>

namespace {
using namespace ricci::indices;
const auto cpu = ricci::cpu();
} // namespace

TEST_CASE("a product without a coefficient leaves complex infinities infinite") {
    const ricci::test::scratch_cache cache;
    using complex = std::complex<double>;
    ricci::tensor<complex, 2, 2> A(cpu), B(cpu), C(cpu);
    ricci::tensor<complex, 2, 2, 3> D(cpu), E(cpu), F(cpu);
    const double infinity = std::numeric_limits<double>::infinity();
    A.upload({{infinity, 0}, {0, 0}, {0, 0}, {1, 0}});
    B.fill({1, 1});
    C(i, j) -= A(i, k) * B(k, j);
    CHECK(C.download()[0] == complex(-infinity, -infinity));
    D(i, j, e) = A(i, j), E(i, j, e) = B(i, j);
    F(i, j, e) = D(i, k, e) * E(k, j, e);
    CHECK(F.download()[0] == complex(infinity, infinity));
}

TEST_CASE("a product of five sums is one statement") {
    const ricci::test::scratch_cache cache;
    using matrix = ricci::tensor<double, 16, 16>;
    matrix P(cpu), Q(cpu), C(cpu), T(cpu), U(cpu);
    for (matrix* x : {&P, &Q}) x->fill(1);
    C(i, n) =
        (P(i, j) + Q(i, j)) * (P(j, k) + Q(j, k)) * (P(k, l) + Q(k, l)) * (P(l, m) + Q(l, m)) * (P(m, n) + Q(m, n));
    CHECK(C(15, 15) == std::pow(2.0, 5) * std::pow(16.0, 4));
}

TEST_CASE("a stencil of 27 points is one statement, and one kernel") {
    const ricci::test::scratch_cache cache;
    ricci::tensor<double, 9, 8, 7> D(cpu);
    ricci::tensor<double, 9, 8, 7> O(cpu), P(cpu);
    D(x, y, z) = 1;
    const auto p = ricci::padded(D);
    const auto stencil = [&] {
        O(x, y, z) = p(x - 1, y - 1, z - 1) + p(x, y - 1, z - 1) + p(x + 1, y - 1, z - 1) + p(x - 1, y, z - 1) +
                     p(x, y, z - 1) + p(x + 1, y, z - 1) + p(x - 1, y + 1, z - 1) + p(x, y + 1, z - 1) +
                     p(x + 1, y + 1, z - 1) + p(x - 1, y - 1, z) + p(x, y - 1, z) + p(x + 1, y - 1, z) +
                     p(x - 1, y, z) + p(x, y, z) + p(x + 1, y, z) + p(x - 1, y + 1, z) + p(x, y + 1, z) +
                     p(x + 1, y + 1, z) + p(x - 1, y - 1, z + 1) + p(x, y - 1, z + 1) + p(x + 1, y - 1, z + 1) +
                     p(x - 1, y, z + 1) + p(x, y, z + 1) + p(x + 1, y, z + 1) + p(x - 1, y + 1, z + 1) +
                     p(x, y + 1, z + 1) + p(x + 1, y + 1, z + 1);
    };
    stencil();
    P(x, y, z) = p(x + a(0, 3) - 1, y + b(0, 3) - 1, z + c(0, 3) - 1);
    CHECK(O.download() == P.download());
    CHECK(O(0, 0, 0) == 8);
    CHECK(O(4, 4, 4) == 27);
    std::ostringstream text;
    ricci::explain(stencil, text);
    const auto kernels = [](const std::string& in) {
        int count = 0;
        for (auto at = in.find(": kernel "); at != std::string::npos; at = in.find(": kernel ", at + 1)) ++count;
        return count;
    };
    CHECK(kernels(text.str()) == 1);
}

TEST_CASE("a complex root of the largest and of the smallest numbers") {
    const ricci::test::scratch_cache cache;
    const auto check = [](auto zero) {
        using real = decltype(zero);
        using complex = std::complex<real>;
        constexpr real most = std::numeric_limits<real>::max(), least = std::numeric_limits<real>::denorm_min();
        std::vector<complex> values;
        for (const real re : {most, -most, least, -least, real(0), real(3), real(-4)})
            for (const real im : {most, -most, least, -7 * least, real(0), real(5)}) values.emplace_back(re, im);
        ricci::tensor<complex, ricci::dyn> z(static_cast<std::int64_t>(values.size()), cpu), root(z.size(), cpu);
        z.upload(values);
        root(i) = sqrt(z(i));
        const auto roots = root.download();
        for (std::size_t n = 0; n < values.size(); ++n) {
            const auto exact = std::sqrt(std::complex<long double>(values[n]));
            CAPTURE(values[n], roots[n], exact);
            CHECK(std::abs(std::complex<long double>(roots[n]) - exact) <=
                  4 * std::numeric_limits<real>::epsilon() * std::abs(exact));
        }
    };
    check(0.0f);
    check(0.0);
}

TEST_CASE("a long sum of floats does not stop growing") {
    const ricci::test::scratch_cache cache;
    const float one[1] = {1};
    constexpr std::int64_t length = std::int64_t{1} << 26; // a single running sum of ones ends at 2^24
    const ricci::view<const float, 1> x(one, {length}, {0}, cpu);
    const ricci::view<const float, 2> A(one, {2, length}, {0, 0}, cpu);
    ricci::tensor<float, 2> y(cpu);
    const float sum = x(i), dot = x(i) * x(i), mixed = abs(x(i)) + 0;
    CHECK(sum == static_cast<float>(length));
    CHECK(dot == static_cast<float>(length));
    CHECK(mixed == static_cast<float>(length));
    y(i) = A(i, k);
    CHECK(y(1) == static_cast<float>(length));
    y(i) = A(i, k) * x(k);
    CHECK(y(1) == static_cast<float>(length));
}

TEST_CASE("a sum of everything in parts is the same at any length, however x lies, and adds to what is there") {
    const ricci::test::scratch_cache cache;
    for (const std::int64_t length : {16384, 32767, 32768, 32769, 200003, 1'000'000, 1'048'577}) {
        CAPTURE(length);
        ricci::tensor<double, ricci::dyn> x(length, cpu);
        ricci::tensor<double> s(cpu);
        std::vector<double> numbers(static_cast<std::size_t>(length));
        double positive = 0, last_half = 0; // of whole numbers: exact in any order
        for (std::size_t n = 0; n < numbers.size(); ++n) {
            numbers[n] = static_cast<double>(static_cast<std::int64_t>(n * 7919 % 1001) - 500);
            positive += std::max(numbers[n], 0.0);
            if (n % 2 == 1) last_half += numbers[n];
        }
        x.upload(numbers);
        s() = relu(x(i));
        CHECK(static_cast<double>(s()) == positive);
        s() -= relu(x(i));
        s() += relu(x(i)) + abs(x(i)) - abs(x(i));
        CHECK(static_cast<double>(s()) == positive);
        const auto half = length / 2;
        const ricci::view<const double, 1> odd(x.data() + 1, {half}, {2}, cpu);
        const ricci::view<const double, 1> back(x.data() + 2 * half - 1, {half}, {-2}, cpu);
        s() = abs(odd(i)) + odd(i) - abs(odd(i));
        CHECK(static_cast<double>(s()) == last_half);
        s() = max(back(i), back(i));
        CHECK(static_cast<double>(s()) == last_half);
    }
}

TEST_CASE("complex functions at the edges of their range") {
    const ricci::test::scratch_cache cache;
    using complex = std::complex<double>;
    ricci::tensor<complex, 4> z(cpu), w(cpu);
    z.upload({{-4, 0.0}, {-4, -0.0}, {0, -0.0}, {9, -0.0}});
    w(i) = sqrt(z(i));
    CHECK(w.download() == std::vector<complex>{{0, 2}, {0, -2}, {0, 0}, {3, 0}});
    CHECK(std::signbit(w.download()[3].imag()));
    z.upload({{710, 1.5}, {-800, 1}, {709, 1}, {0, 3}}); // e^710 is no double, its product with cos 1.5 is one
    w(i) = exp(z(i));
    for (int n = 0; n < 4; ++n) {
        const auto exact = std::exp(std::complex<long double>(z.download()[n]));
        const auto ours = w.download()[n];
        CAPTURE(n, ours);
        CHECK(std::abs(ours.real() - static_cast<double>(exact.real())) <=
              1e-14 * std::abs(static_cast<double>(exact.real())));
        CHECK((ours.imag() == static_cast<double>(exact.imag()) ||
               std::abs(ours.imag() - static_cast<double>(exact.imag())) <=
                   1e-14 * std::abs(static_cast<double>(exact.imag()))));
    }
}

TEST_CASE("a padded read beside the left side takes no temporary") {
    const ricci::test::scratch_cache cache;
    ricci::tensor<double, 16> memory(cpu);
    memory.fill(1);
    ricci::view<double, 1> D(memory.data(), {8}, {1}, cpu), O(memory.data() + 8, {8}, {1}, cpu);
    ricci::tensor<double, 3> F(cpu);
    F.fill(1);
    const auto statement = [&] { O(y) = ricci::padded(D)(y + r - 1) * F(r); };
    std::ostringstream text;
    ricci::explain(statement, text);
    CHECK_THAT(text.str(), !Catch::Contains("temporary") && !Catch::Contains("copied"));
    statement();
    CHECK(memory.download() == std::vector<double>{1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3, 3, 2});
}

TEST_CASE("a layer's product inside a function is formed once") {
    std::ostringstream text;
    ricci::tensor<double, 64, 64> A(cpu), B(cpu), D(cpu), C(cpu);
    ricci::explain([&] { C(i, j) = relu(A(i, l) * B(l, k)) * D(k, j); }, text);
    CHECK_THAT(text.str(), !Catch::Contains("form direct"));
}

TEST_CASE("a product beside the left side itself is a product with a kernel of its own") {
    const ricci::test::scratch_cache cache;
    ricci::tensor<double, 8, 8, 3> A(cpu), B(cpu), C(cpu), D(cpu);
    ricci::tensor<ricci::half, 8, 8, 3> H(cpu);
    A.fill(2), B.fill(3), C.fill(5), D.fill(1);
    std::ostringstream text;
    ricci::explain([&] { C(i, j, e) = 0.5 * A(i, k, e) * B(k, j, e) + 2 * C(i, j, e); }, text);
    CHECK_THAT(text.str(), !Catch::Contains("form direct") && Catch::Contains("batched_small"));
    C(i, j, e) = 0.5 * A(i, k, e) * B(k, j, e) + 2 * C(i, j, e);
    CHECK(C.download() == std::vector<double>(192, 34));
    C(i, j, e) -= C(i, j, e) * D(i, j, e) - A(i, k, e) * B(k, j, e) * 2;
    CHECK(C.download() == std::vector<double>(192, 96));
    C(i, j, e) = relu(A(i, k, e) * B(k, j, e) - C(i, j, e)) + 3 * C(i, j, e);
    CHECK(C.download() == std::vector<double>(192, 288));
    // Rounded once: 2049 is no half, 2049 + 1 is.
    H.fill(ricci::half(683.0f));
    D.fill(0.125);
    H(i, j, e) = D(i, k, e) * D(k, j, e) * 8 + 3 * H(i, j, e);
    CHECK(float(H(7, 7, 2)) == 2050);
}

TEST_CASE("an index that stands twice in a position is taken together") {
    const ricci::test::scratch_cache cache;
    ricci::tensor<double, 8> A(cpu);
    ricci::tensor<double, 4> B(cpu);
    A.upload({0, 1, 2, 3, 4, 5, 6, 7});
    B(i) = A(3 * i - 2 * i + 1);
    CHECK(B.download() == std::vector<double>{1, 2, 3, 4});
    A(3 * i - i) = B(i);
    CHECK(A.download() == std::vector<double>{1, 1, 2, 3, 3, 5, 4, 7});
}

TEST_CASE("a view that is not aligned to its elements is refused") {
    ricci::tensor<double, 8> x(cpu);
    ricci::view<double, 1> y(reinterpret_cast<double*>(reinterpret_cast<char*>(x.data()) + 4), {4}, {1}, cpu);
    CHECK_THROWS_WITH(y(i) = 1.0, Catch::Contains("not aligned to its elements' 8 bytes"));
}

TEST_CASE("a tensor that was moved from is not copied") {
    ricci::tensor<double, 4> a(cpu);
    const auto b = std::move(a);
    CHECK_THROWS_WITH(a.copy(), Catch::Contains("moved from")); // NOLINT(bugprone-use-after-move): what it is about
}
