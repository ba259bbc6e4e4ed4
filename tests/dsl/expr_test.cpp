// expr_test: right sides as trees, scalars, functions, and the three assignments.
#include "ricci.hpp"

#include "tests/catch.hpp"
#include "tests/dsl/captured.hpp"

#include <cmath>

using namespace ricci::indices;
using ricci::tensor;
using ricci::lowering::assignment;

namespace {

struct vectors {
    tensor<double, 4> a{ricci::cpu()}, b{ricci::cpu()}, c{ricci::cpu()};
};

} // namespace

TEST_CASE("every operator and function becomes its node") {
    vectors v;
    auto &a = v.a, &b = v.b, &c = v.c;
    const auto tree = [](auto body) { return right_side(captured(body)); };
    CHECK(tree([&] { c(i) = a(i) + b(i); }) == "a1 a2 +");
    CHECK(tree([&] { c(i) = a(i) - b(i) * a(i); }) == "a1 a2 a3 * -");
    CHECK(tree([&] { c(i) = (a(i) - b(i)) * a(i); }) == "a1 a2 - a3 *");
    CHECK(tree([&] { c(i) = -a(i) / +b(i); }) == "a1 negate a2 /");
    CHECK(tree([&] { c(i) = 1 / b(i); }) == "s0 a1 /");
    CHECK(tree([&] { c(i) = 2 * a(i) + b(i) * 3 - 4; }) == "s0 a1 * a2 s1 * + s2 -");
    CHECK(tree([&] { c(i) = conj(relu(exp(sqrt(abs(a(i)))))); }) == "a1 abs sqrt exp relu conj");
    CHECK(tree([&] { c(i) = min(a(i), 0) + max(1, b(i)) + max(a(i), b(i)); }) == "a1 s0 min s1 a2 max + a3 a4 max +");
    CHECK(tree([&] { c(i) = ricci::relu(ricci::exp(a(i))); }) == "a1 exp relu");
    CHECK(tree([&] { c(i) = a(i); }) == "a1");
    CHECK(tree([&] { c(i) = 7; }) == "s0");
}

TEST_CASE("assignments") {
    vectors v;
    CHECK(captured([&] { v.a(i) = v.b(i); }).op == assignment::assign);
    CHECK(captured([&] { v.a(i) += v.b(i); }).op == assignment::add);
    CHECK(captured([&] { v.a(i) -= v.b(i); }).op == assignment::subtract);
    CHECK(captured([&] { v.a(i) -= 3; }).op == assignment::subtract);
}

TEST_CASE("scalars of every arithmetic type") {
    vectors v;
    tensor<std::complex<double>, 4> z(ricci::cpu());
    const auto scalar = [&](auto x) { return captured([&] { z(i) = x * v.a(i); }).scalars.at(0); };
    const auto is_real = [&](auto x, double value) {
        const auto s = scalar(x);
        return s.real == value && s.imaginary == 0 && !s.complex;
    };
    CHECK(is_real(2, 2));
    CHECK(is_real(-2L, -2));
    CHECK(is_real(3u, 3));
    CHECK(is_real('a', 97));
    CHECK(is_real(true, 1));
    CHECK(is_real(0.5f, 0.5));
    CHECK(is_real(0.1, 0.1));
    CHECK(is_real(0.5L, 0.5));
    CHECK(is_real(ricci::half(1.5f), 1.5));
    CHECK(is_real(ricci::bfloat16(-2.0f), -2));
    const auto w = scalar(std::complex<float>(1, -2));
    CHECK((w.real == 1 && w.imaginary == -2 && w.complex));
    CHECK(scalar(std::complex<double>(3, 0)).complex);
}

TEST_CASE("an expression may be named and used later") {
    vectors v;
    const auto sum = v.a(i) + v.b(i);
    const auto left = v.c(i);
    CHECK(right_side(captured([&] { left = 2 * sum + sum; })) == "s0 a1 a2 + * a3 a4 + +");
}

TEST_CASE("the functions live beside those of std") {
    using namespace std;
    vectors v;
    CHECK(right_side(captured([&] { v.c(i) = min(v.a(i), v.b(i)) + max(v.a(i), v.b(i)) + exp(abs(v.a(i))); })) ==
          "a1 a2 min a3 a4 max + a5 abs exp +");
    CHECK(min(1, 2) == 1);
}
