// oracle_test: the oracle against results worked out by hand, and proof that the comparison can fail.
#include "runtime/half.hpp"
#include "tests/catch.hpp"
#include "tests/host_memory.hpp"
#include "tests/statement_maker.hpp"

#include <cmath>
#include <complex>
#include <limits>

using namespace ricci::tests;
using namespace ricci::lowering;
using op = operation;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double not_a_number = std::nan("");

place p(std::int64_t extent, std::int64_t stride, std::int32_t label, std::int64_t offset = 0) {
    return {extent, stride, {{label, 1}}, offset};
}

template <class C>
std::span<std::byte> bytes(C& c) {
    return std::as_writable_bytes(std::span(c));
}

/// The values expected, in the order of the left's indices.
std::vector<double> values(const statement& s) {
    std::vector<double> v;
    for (const auto& e : evaluate(s).elements) v.push_back(static_cast<double>(e.re));
    return v;
}

/// C(i) = tree(x(i, k), y(i, k)), both 2x2.
struct two_matrices : statement_maker {
    std::vector<double> x{1, 2, 4, 4}, y{-1, 1, -2, 5}, c{7, 7};
    std::int32_t i = index("i"), k = index("k");
    std::int32_t left = operand(c.data(), scalar_type::f64, {p(2, 1, i)});
    std::int32_t a = read(x.data(), scalar_type::f64, {p(2, 1, i), p(2, 2, k)});
    std::int32_t b = read(y.data(), scalar_type::f64, {p(2, 1, i), p(2, 2, k)});
};

} // namespace

TEST_CASE("oracle: a product is summed over both operands; integers and broadcasts are exact") {
    two_matrices t;
    t.s.add(op::multiply, t.a, t.b); // 1*-1 + 4*-2, 2*1 + 4*5
    CHECK(values(t.s) == std::vector<double>{-9, 22});
    t.s.op = assignment::subtract;
    CHECK(values(t.s) == std::vector<double>{16, -15});
    t.s.op = assignment::add;
    CHECK(values(t.s) == std::vector<double>{-2, 29});
    const auto r = evaluate(t.s);
    CHECK(r.products == 4);
    CHECK(r.elements[0].bound == 0); // integers
    t.x[0] = 1.1;
    CHECK((evaluate(t.s).elements[0].bound > 0 && evaluate(t.s).elements[0].bound < 1e-13));

    two_matrices u;
    u.number(3);
    for (const auto& e : evaluate(u.s).elements) CHECK((e.re == 3 && e.bound == 0));
}

TEST_CASE("oracle: sums are taken inside a function of several accesses, outside one of a single access") {
    const auto result = [](auto tree) {
        two_matrices t;
        tree(t);
        return values(t.s);
    };
    // row sums: x 5, 6; y -3, 6
    CHECK(result([](auto& t) { t.s.add(op::abs, t.s.add(op::subtract, t.a, t.b)); }) == std::vector<double>{8, 0});
    CHECK(result([](auto& t) { t.s.add(op::relu, t.s.add(op::add, t.b, t.number(1))); }) ==
          std::vector<double>{0, 8});
    CHECK(result([](auto& t) { t.s.add(op::relu, t.s.add(op::multiply, t.a, t.b)); }) == std::vector<double>{0, 22});
    CHECK(result([](auto& t) { t.s.add(op::multiply, t.s.add(op::relu, t.b), t.a); }) == std::vector<double>{0, 22});
    CHECK(result([](auto& t) { t.s.add(op::min, t.a, t.b); }) == std::vector<double>{-3, 6});
    CHECK(result([](auto& t) { t.s.add(op::divide, t.b, t.a); }) == std::vector<double>{-1.5, 1.75});
    CHECK(result([](auto& t) { t.s.add(op::subtract, t.a, t.s.add(op::negate, t.b)); }) ==
          std::vector<double>{2, 12});
    // x(i,k)*(y(i,k) + 2): the product is distributed, and each term summed by itself
    CHECK(result([](auto& t) { t.s.add(op::multiply, t.a, t.s.add(op::add, t.b, t.number(2))); }) ==
          std::vector<double>{1, 34});
    // 2 + y(i,k): the constant is a term without k
    CHECK(result([](auto& t) { t.s.add(op::add, t.number(2), t.b); }) == std::vector<double>{-1, 8});
}

TEST_CASE("oracle: diagonals, traces, ranges, affine and padded positions") {
    std::vector<double> a{1, 2, 3, 4, 5, 6, 7, 8, 9}, c(5, 0);
    {
        statement_maker t;
        const auto i = t.index("i");
        t.operand(c.data(), scalar_type::f64, {});
        t.read(a.data(), scalar_type::f64, {p(3, 1, i), p(3, 3, i)});
        CHECK(values(t.s) == std::vector<double>{15});
    }
    {
        statement_maker t; // C(i+1) = A(2, i), i in [1, 3)
        const auto i = t.index("i", 1, 3);
        t.operand(c.data(), scalar_type::f64, {p(5, 1, i, 1)});
        t.read(a.data(), scalar_type::f64, {{3, 1, {}, 2}, p(3, 3, i)});
        CHECK(values(t.s) == std::vector<double>{6, 9});
        CHECK(evaluate(t.s).elements[0].address == &c[2]);
    }
    {
        statement_maker t; // C(y) = padded(A)(y + r - 1)*F(r): y's range comes from the left
        const std::vector<double> f{1, 10, 100};
        const auto y = t.index("y"), r = t.index("r");
        t.operand(c.data(), scalar_type::f64, {p(3, 1, y)});
        const auto x = t.read(a.data(), scalar_type::f64, {{3, 1, {{y, 1}, {r, 1}}, -1}}, true);
        t.s.add(op::multiply, x, t.read(f.data(), scalar_type::f64, {p(3, 1, r)}));
        CHECK(values(t.s) == std::vector<double>{210, 321, 32});
    }
    {
        statement_maker t; // padded(C)(2*i - 1) = A(i): i = 0 is dropped
        const auto i = t.index("i", 0, 3);
        t.operand(c.data(), scalar_type::f64, {{4, 1, {{i, 2}}, -1}}, true);
        t.read(a.data(), scalar_type::f64, {p(3, 1, i)});
        const auto r = evaluate(t.s);
        REQUIRE(r.elements.size() == 2);
        CHECK((r.elements[0].address == &c[1] && r.elements[1].address == &c[3] && r.elements[1].re == 3));
    }
    {
        statement_maker t; // an empty sum is zero
        const auto i = t.index("i"), k = t.index("k");
        t.operand(c.data(), scalar_type::f64, {p(2, 1, i)});
        t.read(a.data(), scalar_type::f64, {p(2, 1, i), p(0, 2, k)});
        CHECK(values(t.s) == std::vector<double>{0, 0});
    }
    {
        statement_maker t; // collides on the left
        const auto i = t.index("i"), j = t.index("j");
        t.operand(c.data(), scalar_type::f64, {p(2, 1, i), p(2, 1, j)});
        t.number(1);
        CHECK_THROWS_AS(evaluate(t.s), std::logic_error);
    }
}

TEST_CASE("oracle: complex products, conjugates and functions") {
    using z = std::complex<float>;
    std::vector<z> a{{1, 2}, {3, -1}}, b{{2, 1}, {0, 1}}, c(1);
    statement_maker t;
    const auto k = t.index("k");
    t.operand(c.data(), scalar_type::c64, {});
    const auto x = t.read(a.data(), scalar_type::c64, {p(2, 1, k)});
    const auto y = t.read(b.data(), scalar_type::c64, {p(2, 1, k)});
    t.s.add(op::multiply, t.s.add(op::conjugate, x), y); // (1-2i)(2+i) + (3+i)i = 4-3i + -1+3i
    const auto e = evaluate(t.s).elements.at(0);
    CHECK((e.re == 3 && e.im == 0 && e.bound == 0)); // integers

    b[0] = {static_cast<float>(infinity), 0};
    CHECK(evaluate(t.s).elements[0].kind == verdict::non_finite);
}

TEST_CASE("oracle: rounding on storing, overflow and special values") {
    using ricci::half;
    std::vector<double> x{65519, 65521, 65520, 1e-9, not_a_number, infinity, 1.0 / 3};
    std::vector<half> c(7, half(0.0f));
    statement_maker t;
    const auto i = t.index("i");
    t.operand(c.data(), scalar_type::f16, {p(7, 1, i)});
    t.read(x.data(), scalar_type::f64, {p(7, 1, i)});
    const auto r = evaluate(t.s);
    const snapshot before({bytes(c)});
    for (std::size_t n = 0; n < x.size(); ++n) c[n] = half(static_cast<float>(x[n]));
    CHECK(compare(r, before) == "");
    const auto wrong = [&](std::size_t n, float value) {
        const half kept = c[n];
        c[n] = half(value);
        const bool found = compare(r, before) != "";
        c[n] = kept;
        return found;
    };
    CHECK(wrong(0, static_cast<float>(infinity)));
    CHECK(wrong(1, 65504));
    CHECK_FALSE(wrong(2, 65504)); // the threshold itself: both ways
    CHECK(wrong(3, 1e-7f));
    CHECK(wrong(4, 0)); // a lost NaN
    CHECK(wrong(4, static_cast<float>(infinity)));
    CHECK(wrong(5, static_cast<float>(-infinity)));
    CHECK(wrong(5, 65504));
    CHECK(wrong(6, 0.3335f)); // the next but one half

    // exp of 89 overflows f32; exp(-inf) is 0; sqrt of a negative number is a NaN; max keeps a NaN
    std::vector<float> v{89, static_cast<float>(-infinity), -1, static_cast<float>(not_a_number)}, f(4);
    const auto kinds = [&](op kind) {
        statement_maker u;
        const auto j = u.index("j");
        u.operand(f.data(), scalar_type::f32, {p(4, 1, j)});
        const auto a = u.read(v.data(), scalar_type::f32, {p(4, 1, j)});
        u.s.add(kind, a, arity(kind) == 2 ? u.number(2) : -1);
        std::vector<verdict> k;
        for (const auto& e : evaluate(u.s).elements) k.push_back(e.kind);
        return k;
    };
    using enum verdict;
    CHECK(kinds(op::exp) == std::vector{infinite, within, within, nan});
    CHECK(kinds(op::sqrt) == std::vector{within, nan, nan, nan});
    CHECK(kinds(op::max) == std::vector{within, within, within, nan});
    CHECK(kinds(op::relu) == std::vector{within, within, within, nan});
    CHECK(kinds(op::abs) == std::vector{within, infinite, within, nan});
}

TEST_CASE("compare: finds a wrong value and a write outside, and forgives what the bound allows") {
    two_matrices t;
    t.y[3] = 5.5;
    t.s.add(op::multiply, t.a, t.b);
    const auto r = evaluate(t.s);
    host_buffer outside(16, 3);
    const snapshot before({bytes(t.c), bytes(t.x), outside.whole()});
    CHECK(compare(r, before) != "");
    t.c = {-9, 24};
    CHECK(compare(r, before) == "");
    t.c[1] = std::nextafter(24.0, 0.0);
    CHECK(compare(r, before) == "");
    t.c[1] = 24.000001;
    CHECK(compare(r, before).find("at (i=1): expected (24") != std::string::npos);
    t.c[1] = not_a_number;
    CHECK(compare(r, before) != "");
    t.c[1] = 24;
    t.x[3] = 4.5;
    CHECK(compare(r, before).find("buffer 1") != std::string::npos);
    t.x[3] = 4;
    outside.data()[-1] = std::byte{0};
    CHECK(compare(r, before).find("byte 258 of buffer 2") != std::string::npos);
}

TEST_CASE("oracle: the bound holds for any order of a long float sum, and is not idle") {
    std::mt19937_64 random(1);
    std::vector<float> x(5000), y(5000), c(1);
    fill_random(bytes(x), scalar_type::f32, random);
    fill_random(bytes(y), scalar_type::f32, random);
    statement_maker t;
    const auto k = t.index("k");
    t.operand(c.data(), scalar_type::f32, {});
    const auto a = t.read(x.data(), scalar_type::f32, {p(5000, 1, k)});
    t.s.add(op::multiply, a, t.read(y.data(), scalar_type::f32, {p(5000, 1, k)}));
    auto r = evaluate(t.s);
    const snapshot before({bytes(c)});
    float forward = 0, backward = 0;
    for (std::size_t n = 0; n < x.size(); ++n) forward += x[n] * y[n], backward += x[4999 - n] * y[4999 - n];
    c[0] = forward;
    CHECK(compare(r, before) == "");
    c[0] = backward;
    CHECK(compare(r, before) == "");
    c[0] = 1.01f * forward + 10;
    CHECK(compare(r, before) != "");

    // With integers one product of 5,000 left out is seen.
    fill_random(bytes(x), scalar_type::f32, random, fill::integers);
    fill_random(bytes(y), scalar_type::f32, random, fill::integers);
    x[7] = 1, y[7] = 1;
    r = evaluate(t.s);
    c[0] = 0;
    for (std::size_t n = 0; n < x.size(); ++n) c[0] += x[n] * y[n];
    CHECK(compare(r, before) == "");
    c[0] -= 1;
    CHECK(compare(r, before) != "");
}
