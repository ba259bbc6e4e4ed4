// linalg_test: factorizations and solves through the C++ interface: what a call makes and returns, views and ranges,
// programs with locals, pivots as an index table, explain and precompile.
#include <ricci/ricci.hpp>

#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <sstream>
#include <vector>

using namespace ricci::indices;
using ricci::dyn, ricci::tensor;

namespace {

/// Random, and diagonally dominant where `dominant` is larger than the number of rows.
template <class T>
T random_matrices(std::int64_t batch, double dominant, std::uint64_t seed = 1) {
    T A(batch, ricci::cpu());
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit(-1, 1);
    std::vector<typename T::value_type> values(static_cast<std::size_t>(A.size()));
    for (auto& v : values) v = static_cast<typename T::value_type>(unit(random));
    A.upload(values);
    if (dominant != 0) A(i(0, std::min(A.extent(0), A.extent(1))), i, e) += dominant;
    return A;
}

template <class L, class R>
double largest_difference(const L& x, const R& y) {
    const auto a = x.download(), b = y.download();
    double out = a.size() == b.size() ? 0 : INFINITY;
    for (std::size_t n = 0; n < a.size() && n < b.size(); ++n) out = std::max<double>(out, std::abs(a[n] - b[n]));
    return out;
}

} // namespace

TEST_CASE("a call returns tensors over the batch") {
    auto A = random_matrices<tensor<double, 5, 5, dyn>>(7, 0);
    const auto before = A.copy();
    auto [pivots, info] = lu(A(i, j, e), i, j);
    STATIC_REQUIRE(std::is_same_v<decltype(pivots), tensor<std::int32_t, dyn, dyn>>);
    STATIC_REQUIRE(std::is_same_v<decltype(info), tensor<std::int32_t, dyn>>);
    CHECK(pivots.extents() == std::array<std::int64_t, 2>{5, 7});
    CHECK(info.extents() == std::array<std::int64_t, 1>{7});
    CHECK(info.download() == std::vector<std::int32_t>(7, 0));
    tensor<double, 5, 3, dyn> X(7, ricci::cpu()), Y(7, ricci::cpu()), B(7, ricci::cpu());
    X.fill(1);
    Y.fill(1);
    lu_solve(A(i, j, e), i, j, pivots(k, e), X(j, r, e), info(e));
    solve(before(i, j, e), i, j, Y(j, r, e));
    CHECK(largest_difference(X, Y) < 1e-11);
    B(i, r, e) = before(i, j, e) * X(j, r, e);
    B(i, r, e) -= 1;
    double worst = 0;
    for (const double b : B.download()) worst = std::max(worst, std::abs(b));
    CHECK(worst < 1e-11);
}

TEST_CASE("LU's factors solve with the adjoint too, of conj with the transpose") {
    using complex = std::complex<double>;
    tensor<complex, 2, 2> A(ricci::cpu());
    tensor<complex, 2> x(ricci::cpu()), b(ricci::cpu());
    const complex u(0, 1);
    A.upload({1, 4, 2.0 * u, u}); // {1, 2i; 4, i}: rows are exchanged
    const auto [pivots, info] = lu(A(i, j), i, j);
    CHECK(static_cast<int>(pivots(0)) == 1);
    const auto is_solution = [&](complex first, complex second) {
        return std::abs(complex(x(0)) - first) + std::abs(complex(x(1)) - second) < 1e-14;
    };
    x.upload({9.0, -4.0 * u});
    lu_solve(A(i, j), i, j, pivots(k), x(i), ricci::adjoint); // {1, 4; -2i, -i} {1, 2}
    CHECK(is_solution(1, 2));
    b.upload({9.0, 4.0 * u});
    lu_solve(conj(A(i, j)), i, j, pivots(k), x(i), b(j), ricci::adjoint); // {1, 4; 2i, i} {1, 2}
    CHECK(is_solution(1, 2));
    x.upload({1.0 + 4.0 * u, 4.0 + 2.0 * u});
    lu_solve(A(i, j), i, j, pivots(k), x(j));
    CHECK(is_solution(1, 2));
}

TEST_CASE("ranges, fixed positions and several batch indices") {
    tensor<double, 3, 3, 4, 5> A(ricci::cpu());
    A(i, j, e, f) = 1;
    A(i, i, e, f) += 3;
    auto info = cholesky(A(i, j, e(1, 3), f), i, j); // results run to the range's end
    CHECK(info.extents() == std::array<std::int64_t, 2>{3, 5});
    CHECK(static_cast<double>(A(0, 0, 0, 4)) == 4);
    CHECK(static_cast<double>(A(0, 0, 1, 4)) == 2);
    CHECK(static_cast<double>(A(0, 0, 3, 0)) == 4);
    auto one = cholesky(A(i, j, 0, 2), i, j);
    STATIC_REQUIRE(decltype(one)::rank == 0);
    CHECK(static_cast<double>(A(0, 0, 0, 2)) == 2);
    CHECK(static_cast<double>(A(0, 0, 0, 3)) == 4);
    auto parts = cholesky(A(i(0, 2), j(0, 2), 3, f), i, j); // the leading 2 x 2 part
    CHECK(static_cast<double>(A(1, 0, 3, 0)) == 0.5);
    CHECK(static_cast<double>(A(2, 0, 3, 0)) == 1);
}

TEST_CASE("pivots are an index table") {
    auto A = random_matrices<tensor<double, 4, 4, dyn>>(1, 0, 5);
    auto [pivots, info] = lu(A(i, j, 0), i, j);
    tensor<double, 4> x(ricci::cpu()), y(ricci::cpu());
    x.upload({10, 11, 12, 13});
    y(k) = x(pivots(k)); // which each row was exchanged with
    const auto p = pivots.download();
    for (int n = 0; n < 4; ++n) CHECK(static_cast<double>(y(n)) == 10 + p[static_cast<std::size_t>(n)]);
}

TEST_CASE("a program with locals that are factored") {
    constexpr std::int64_t count = 50;
    tensor<double, 6, 4> B(ricci::cpu());
    tensor<double, 6, dyn> D(count, ricci::cpu());
    std::vector<double> values;
    for (int n = 0; n < 24; ++n) values.push_back(std::sin(n + 1.0));
    B.upload(values);
    D(q, e) = 1;
    tensor<double, 4, dyn> b(count, ricci::cpu()), x(count, ricci::cpu()), residual(count, ricci::cpu());
    b.fill(1);
    tensor<std::int32_t, dyn> info(count, ricci::cpu()), second(count, ricci::cpu());
    auto program = ricci::record([&] {
        ricci::local<double, 4, 4, dyn> S(count);
        S(i, j, e) = B(q, i) * D(q, e) * B(q, j);
        S(i, i, e) += 1;
        cholesky(S(i, j, e), i, j, info(e));
        x(i, e) = b(i, e);
        cholesky_solve(S(i, j, e), i, j, x(j, e), second(e));
    });
    for (int run = 0; run < 2; ++run) {
        x.fill(0);
        program();
        residual(i, e) = B(q, i) * (D(q, e) * (B(q, j) * x(j, e))) + x(i, e) - b(i, e);
        double worst = 0;
        for (const double v : residual.download()) worst = std::max(worst, std::abs(v));
        CHECK(worst < 1e-13);
        CHECK(info.download() == std::vector<std::int32_t>(count, 0));
    }
}

TEST_CASE("a solve leaves its matrix, an inverse in place does not") {
    using C = std::complex<double>;
    auto A = random_matrices<tensor<C, 3, 3, dyn>>(4, 5);
    A(i, j, e) += C(0, 0.25);
    const auto before = A.copy();
    tensor<C, 3, 3, dyn> Y(4, ricci::cpu()), E(4, ricci::cpu());
    inverse(A(i, j, e), i, j, Y(j, i, e));
    CHECK(largest_difference(A, before) == 0);
    inverse(A(i, j, e), i, j);
    CHECK(largest_difference(A, Y) < 1e-14);
    E(i, k, e) = before(i, j, e) * Y(j, k, e);
    E(i, i, e) -= 1;
    double worst = 0;
    for (const C& v : E.download()) worst = std::max(worst, std::abs(v));
    CHECK(worst < 1e-13);
    auto [log_abs, sign, info] = log_determinant(before(i, j, e), i, j);
    auto [inverse_log, inverse_sign, other] = log_determinant(Y(j, i, e), i, j);
    for (int n = 0; n < 4; ++n) {
        CHECK(std::abs(log_abs.download()[static_cast<std::size_t>(n)] +
                       inverse_log.download()[static_cast<std::size_t>(n)]) < 1e-13);
        CHECK(std::abs(sign.download()[static_cast<std::size_t>(n)] *
                           inverse_sign.download()[static_cast<std::size_t>(n)] -
                       1.0) < 1e-13);
    }
}

TEST_CASE("the smallest solutions of fewer equations than unknowns") {
    using C = std::complex<double>;
    constexpr std::int64_t batch = 9;
    auto A = random_matrices<tensor<C, 3, 5, dyn>>(batch, 4, 7);
    A(i, j, e) += C(0, 0.5) * A(i, j, e); // complex, of rows that are no multiples of real ones
    A(1, j, e) = C(0, 2) * A(1, j, e);
    const auto before = A.copy();
    tensor<C, 3, 2, dyn> B(batch, ricci::cpu());
    B.fill(C(1, -2));
    tensor<C, 5, 2, dyn> X(batch, ricci::cpu()), Y(batch, ricci::cpu());
    auto info = least_squares(A(i, j, e), i, j, X(j, r, e), B(i, r, e));
    CHECK(info.download() == std::vector<std::int32_t>(batch, 0));
    CHECK(largest_difference(A, before) == 0);

    // A^H (A A^H)^-1 B
    tensor<C, 3, 3, dyn> G(batch, ricci::cpu());
    tensor<C, 3, 2, dyn> Z(batch, ricci::cpu());
    G(i, k, e) = A(i, j, e) * conj(A(k, j, e));
    solve(G(i, k, e), i, k, Z(k, r, e), B(i, r, e));
    Y(j, r, e) = conj(A(i, j, e)) * Z(i, r, e);
    CHECK(largest_difference(X, Y) < 1e-13);

    // B and X in the same memory, X's rows beyond B's: as LAPACK's gels has them
    Y.fill(C(7, 7));
    Y(i(0, 3), r, e) = B(i, r, e);
    ricci::view<C, 3> first(Y.data(), {3, 2, batch}, {1, 5, 10}, ricci::cpu());
    least_squares(A(i, j, e), i, j, Y(j, r, e), first(i, r, e));
    CHECK(largest_difference(X, Y) == 0);

    // of conj(A), with rows and columns exchanged in memory
    tensor<C, 5, 3, dyn> T(batch, ricci::cpu());
    T(j, i, e) = conj(A(i, j, e));
    least_squares(conj(T(j, i, e)), i, j, Y(j, r, e), B(i, r, e));
    CHECK(largest_difference(X, Y) < 1e-14);

    // with factors of the transpose that are kept: A^T = Q R, so X = conj(Q) R^-T B
    auto [tau, none] = qr(A(i, j, e), j, i);
    Y.fill(0);
    triangular_solve(A(i, l(0, 3), e), i, l, Y(l, r, e), B(i, r, e), ricci::lower);
    apply_q(conj(A(i, j, e)), j, i, tau(k, e), Y(j, r, e));
    CHECK(largest_difference(X, Y) < 1e-13);
}

TEST_CASE("right-hand sides that overlap among the batch are read before solutions are written") {
    constexpr std::int64_t batch = 40;
    auto A = random_matrices<tensor<double, 4, 2, dyn>>(batch, 3);
    tensor<double, dyn> memory(2 * batch + 2, ricci::cpu());
    for (std::int64_t n = 0; n < memory.size(); ++n) memory(n) = std::sin(static_cast<double>(n));
    const auto before = memory.copy();
    // the batch runs backwards: the last two rows of a matrix's B are the X of the matrix before it
    const std::int64_t last = 2 * (batch - 1);
    ricci::view<double, 2> B(memory.data() + last, {4, batch}, {1, -2}, ricci::cpu()),
        X(memory.data() + last, {2, batch}, {1, -2}, ricci::cpu());
    ricci::view<const double, 2> old(before.data() + last, {4, batch}, {1, -2}, ricci::cpu());
    tensor<double, 2, dyn> Y(batch, ricci::cpu()), Z(batch, ricci::cpu());
    least_squares(A(i, j, e), i, j, Y(j, e), old(i, e));
    least_squares(A(i, j, e), i, j, X(j, e), B(i, e));
    Z(j, e) = X(j, e);
    CHECK(largest_difference(Y, Z) == 0);
}

TEST_CASE("calls are explained and compiled ahead") {
    tensor<float, 8, 8, dyn> A(100, ricci::cpu());
    tensor<float, 8, dyn> x(100, ricci::cpu());
    std::ostringstream text;
    ricci::explain([&] { solve(A(i, j, e), i, j, x(j, e)); }, text);
    CHECK_THAT(text.str(),
               Catch::Contains("solve(A(i, j, e), i, j, B(j, e))\n") && Catch::Contains("m=8 n=8 r=1 batch=100"));
    CHECK(text.str().find("triangles") == std::string::npos);
    tensor<std::int32_t, dyn> info(100, ricci::cpu());
    const auto statement = [&](const auto& body) {
        std::ostringstream out;
        ricci::explain(body, out);
        return out.str().substr(0, out.str().find('\n'));
    };
    CHECK(statement([&] { lu(A(i, j, e), i, j); }) == "statement: lu(A(i, j, e), i, j)");
    CHECK(statement([&] { inverse(A(i, j, e), i, j); }) == "statement: inverse(A(i, j, e), i, j)");
    CHECK(statement([&] { log_determinant(A(i, j, e), i, j); }) == "statement: log_determinant(A(i, j, e), i, j)");
    CHECK(statement([&] { cholesky(A(i, j, e), i, j, info(e)); }) == "statement: cholesky(A(i, j, e), i, j, B(e))");
    text.str("");
    ricci::explain([&] { cholesky(A(i, j, e), i, j, info(e)); }, text);
    CHECK_THAT(text.str(), Catch::Contains("51.6 kB with both triangles of the matrices, ")); // 2 of 100*8*8, info
    CHECK_NOTHROW(ricci::precompile([&] { qr(A(i, j, e), i, j); }));
    CHECK(ricci::expected_seconds([&] { cholesky(A(i, j, e), i, j); }) > 0);
}

TEST_CASE("what is wrong with sizes that are known at run time only is refused") {
    tensor<double, dyn, dyn, dyn> A(3, 4, 2, ricci::cpu());
    CHECK_THROWS_WITH(cholesky(A(i, j, e), i, j), Catch::Contains("cholesky takes square matrices"));
    tensor<std::int32_t, dyn, dyn> pivots(4, 2, ricci::cpu());
    CHECK_THROWS_WITH(lu(A(i, j, e), i, j, pivots(k, e)), Catch::Contains("has 3 pivots"));
}

TEST_CASE("pivots that a fused program writes are a table anew after each run") {
    constexpr std::int64_t count = 5000;
    tensor<double, 2, 2, dyn> A(count, ricci::cpu());
    tensor<std::int32_t, 2, dyn> pivots(count, ricci::cpu());
    tensor<std::int32_t, dyn> info(count, ricci::cpu());
    tensor<double, 2> v(ricci::cpu());
    auto program = ricci::record([&] {
        ricci::local<double, 2, 2, dyn> S(count);
        S(i, j, e) = 2 * A(i, j, e);
        lu(S(i, j, e), i, j, pivots(k, e), info(e));
    });
    const auto counted = [&] {
        program();
        v.fill(0);
        v(pivots(k, e)) += 1;
        return v.download();
    };
    A(i, j, e) = 1;
    A(1, 0, e) = 3; // rows are exchanged
    CHECK(counted() == std::vector<double>{0, 2 * count});
    A(0, 0, e) = 5; // they are not
    CHECK(counted() == std::vector<double>{count, count});
}
