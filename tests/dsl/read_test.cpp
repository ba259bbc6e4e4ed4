// read_test: accesses and expressions as numbers.
#include "ricci.hpp"

#include "tests/catch.hpp"

#include <complex>
#include <numeric>
#include <sstream>

using namespace ricci::indices;
using ricci::cpu, ricci::half, ricci::tensor;
using complex = std::complex<double>;

static_assert(!std::is_convertible_v<decltype(std::declval<tensor<complex, 3>&>()(0)), double>);
static_assert(!std::is_convertible_v<decltype(conj(std::declval<tensor<complex, 3>&>()(i))), double>);
static_assert(std::is_convertible_v<decltype(abs(std::declval<tensor<complex, 3>&>()(i))), double>);

namespace {

template <class T>
tensor<T, 2, 3> counted() {
    tensor<T, 2, 3> A(cpu());
    std::vector<T> values;
    for (int n = 1; n <= 6; ++n) values.push_back(T(static_cast<float>(n)));
    A.upload(values);
    return A;
}

} // namespace

TEST_CASE("an element") {
    const auto A = counted<double>();
    const double x = A(1, 2);
    CHECK(x == 6);
    CHECK(A(0, 1) == 3);
    CHECK(A(0, 1) * 2.0 < 7); // an expression, converted by the comparison
    CHECK_FALSE(A(0, 1) * A(0, 0) == 4);
    CHECK((A(0, 1) - 3 ? 1 : 2) == 2);
    float rounded = A(1, 0);
    CHECK(rounded == 2);
    std::ostringstream out;
    out << A(1, 1);
    CHECK(out.str() == "4");
    tensor<float> scalar(cpu());
    scalar.fill(8);
    CHECK(float(scalar()) == 8);
}

TEST_CASE("an element of every type") {
    const half h = counted<half>()(1, 2);
    CHECK(h == 6);
    const double from_half = counted<half>()(1, 2);
    CHECK(from_half == 6);
    const ricci::bfloat16 b = counted<ricci::bfloat16>()(1, 0);
    CHECK(b == 2);
    const complex z = counted<complex>()(0, 2);
    CHECK(z == complex(5));
    const std::complex<float> w = counted<std::complex<float>>()(0, 0);
    CHECK(w == std::complex<float>(1));
}

TEST_CASE("an element outside") {
    auto A = counted<double>();
    const auto read = [](double x) { return x; };
    CHECK_THROWS_WITH(read(A(0, 3)), "position 2 of A is fixed at 3, but its extent is 3\n  in number() = A(0, 3)");
    CHECK_THROWS_AS(read(A(-1, 0)), ricci::error);
    CHECK(read(padded(A)(0, 3)) == 0);
    CHECK(read(padded(A)(0, 2)) == 5);
    CHECK_THROWS_WITH(read(ricci::view<double, 1>(nullptr, {4}, {1})(2)),
                      "A has no memory: its data is null\n  in number() = A(2)");
}

TEST_CASE("an expression without a free index") {
    const auto A = counted<double>();
    const double sum = A(i, j);
    CHECK(sum == 21);
    const double dot = A(i, j) * A(i, j);
    CHECK(dot == 91);
    const float first_row = A(0, j) + 0;
    CHECK(first_row == 9);
    const double root = sqrt(A(i, 0) * A(i, 0)) * 2;
    CHECK(root == Approx(2 * std::sqrt(5.0)));
    const auto Z = counted<complex>();
    const complex norm = conj(Z(i, j)) * Z(i, j) * complex(0, 1);
    CHECK(norm == complex(0, 91));
    const complex widened = A(i, j) * A(i, j);
    CHECK(widened == complex(91));
    const double length = abs(Z(i, j) * Z(i, j));
    CHECK(length == Approx(91));
}

TEST_CASE("the variable's type takes part in the promotion") {
    tensor<float, 2> a(cpu());
    a.upload(std::vector<float>{16777216, 1}); // 2^24 + 1 has no float
    const double exact = a(i) * 1;
    CHECK(exact == 16777217);
}

TEST_CASE("entries of tables of integers are compared") {
    ricci::tensor<int, 3> p(ricci::cpu());
    p.upload({2, 0, 2});
    ricci::tensor<std::int64_t, 2> q(ricci::cpu());
    q.upload({std::int64_t{1} << 40, 0});
    CHECK((p(0) == 2));
    CHECK((p(0) != 1));
    CHECK((0 < p(2)));
    CHECK_FALSE(p(1) > 0);
    CHECK((p(0) == p(2)));
    CHECK((q(0) > p(0)));
    CHECK((q(0) == std::int64_t{1} << 40));
    const auto failed = [](const auto& info) { return info(1) ? 1 : 0; };
    CHECK(failed(p) == 0);
    CHECK(!q(1));
    const int entry(p(0));
    CHECK(entry == 2);
}
