// million_matrices_test: a batch of 10^6 small matrices, each judged by LAPACK's test ratios.
#include <ricci/ricci.hpp>

#include "bench/factor/ratios.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"

#include <algorithm>
#include <atomic>
#include <random>
#include <vector>

using namespace ricci::indices;
using namespace ricci::bench::factor;
using ricci::dyn, ricci::tensor;

namespace {

constexpr std::int64_t order = 3, million = 1'000'000;
constexpr double unit = 0x1p-24;

using matrices = tensor<float, dyn, dyn, dyn>;
using columns = tensor<float, dyn, dyn>;
using integers = tensor<std::int32_t, dyn>;

template <class Tensor>
void fill(Tensor& t) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> number(-1, 1);
    std::vector<float> values(static_cast<std::size_t>(t.size()));
    for (auto& v : values) v = number(random);
    t.upload(values);
}

/// Number e of a batch.
matrix<double> nth(const std::vector<float>& values, std::int64_t e, std::int64_t width) {
    matrix<double> out(order, width);
    for (std::int64_t j = 0; j < width; ++j)
        for (std::int64_t i = 0; i < order; ++i)
            out(i, j) = values[static_cast<std::size_t>(i + order * (j + width * e))];
    return out;
}

/// How many of the matrices have a ratio that is too large, or an info.
template <class Ratio>
std::int64_t count_wrong(const integers& info, const Ratio& ratio) {
    const auto codes = info.download();
    std::atomic<std::int64_t> wrong = 0;
    for_columns(million, 1000, [&](std::int64_t e) {
        if (codes[static_cast<std::size_t>(e)] != 0 || !(ratio(e) < largest_ratio)) ++wrong;
    });
    return wrong;
}

} // namespace

TEST_CASE("a million matrices are factored, and as many systems solved") {
    const ricci::device on(ricci::tests::device_under_test());
    matrices A(order, order, million, on);
    integers info(million, on);
    fill(A);
    A(i, i, e) += 3; // positive definite where the lower triangle is read
    const auto definite = A.download();
    {
        auto F = A.copy();
        cholesky(F(i, j, e), i, j, info(e));
        const auto f = F.download();
        CHECK(count_wrong(info, [&](auto e) {
                  return cholesky_ratio(nth(definite, e, order), nth(f, e, order), unit);
              }) == 0);
    }
    A(i, i, e) -= 3;
    const auto plain = A.download();
    {
        auto F = A.copy();
        tensor<std::int32_t, dyn, dyn> pivots(order, million, on);
        lu(F(i, j, e), i, j, pivots(k, e), info(e));
        const auto f = F.download();
        const auto rows = pivots.download();
        CHECK(count_wrong(info, [&](auto e) {
                  const auto* const first = rows.data() + order * e;
                  return lu_ratio(nth(plain, e, order), nth(f, e, order), {first, first + order}, unit);
              }) == 0);
    }
    {
        auto F = A.copy();
        columns tau(order, million, on);
        qr(F(i, j, e), i, j, tau(k, e), info(e));
        const auto f = F.download(), t = tau.download();
        CHECK(count_wrong(info, [&](auto e) {
                  return qr_ratio(nth(plain, e, order), nth(f, e, order), nth(t, e, 1), unit);
              }) == 0);
    }
    columns X(order, million, on);
    fill(X);
    const auto b = X.download();
    solve(A(i, j, e), i, j, X(j, e), info(e));
    const auto x = X.download();
    CHECK(count_wrong(info, [&](auto e) {
              return solve_ratio(nth(plain, e, order), nth(x, e, 1), nth(b, e, 1), unit);
          }) == 0);
}
