// cublas: products of every type against loops, on a real GPU.
#include "runtime/cublas.hpp"

#include "lowering/error.hpp"
#include "runtime/half.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/gpu.hpp"
#include "tests/skip.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

using namespace ricci;
using namespace ricci::runtime;
using lowering::scalar_type;
using test::buffer;
using test::gpu;

namespace {

[[maybe_unused]] const bool possible =
    test::skip_unless(cuda_device_count() > 0 && gpu().machine().has_blas, "no GPU, or no cuBLAS");

using complex = std::complex<double>;

template <class T>
complex widen(T x) {
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
        return static_cast<float>(x);
    else
        return complex(x);
}

template <class T>
T narrow(complex x) {
    if constexpr (requires(T t) { t.real(); })
        return T(static_cast<typename T::value_type>(x.real()), static_cast<typename T::value_type>(x.imag()));
    else if constexpr (sizeof(T) == 8)
        return x.real();
    else
        return T(static_cast<float>(x.real()));
}

/// Multiples of 1/8 in [-1, 1): exact in every type.
template <class T>
std::vector<T> values(std::size_t count, unsigned seed) {
    std::vector<T> all(count);
    for (T& x : all) {
        seed = seed * 1664525u + 1013904223u;
        x = narrow<T>({(static_cast<int>(seed >> 20) % 16 - 8) / 8.0, (static_cast<int>(seed >> 25) % 16 - 8) / 8.0});
    }
    return all;
}

complex element(const auto& matrix, std::int64_t first, std::int64_t leading, char transpose, std::int64_t row,
                std::int64_t column) {
    if (transpose == 'N') return widen(matrix[static_cast<std::size_t>(first + row + column * leading)]);
    const complex x = widen(matrix[static_cast<std::size_t>(first + column + row * leading)]);
    return transpose == 'C' ? std::conj(x) : x;
}

/// Runs one problem with padded leading dimensions, twice (cold and warm), the second time captured, and judges it.
template <class T, class C>
void try_product(scalar_type type, scalar_type c_type, char ta, char tb, std::int64_t count) {
    CAPTURE(name_of(type), name_of(c_type), ta, tb, count);
    const std::int64_t m = 37, n = 29, k = 53;
    gemm_problem g{m, n, k, count, {}, {}, {}, lowering::accumulator(type), 0.5, 2.0};
    if (is_complex(type)) g.alpha = {0.5, -0.25};
    g.a = {type, nullptr, (ta == 'N' ? m : k) + 3, 0, ta};
    g.b = {type, nullptr, (tb == 'N' ? k : n) + 1, 0, tb};
    g.c = {c_type, nullptr, m + 2, 0, 'N'};
    g.a.stride = g.a.leading * (ta == 'N' ? k : m) + 5;
    g.b.stride = 0; // one B for all
    g.c.stride = g.c.leading * n + 7;
    const auto a = values<T>(static_cast<std::size_t>(g.a.stride * count), 1);
    const auto b = values<T>(static_cast<std::size_t>(g.b.leading * std::max(k, n)), 2);
    const auto c = values<C>(static_cast<std::size_t>(g.c.stride * count), 3);
    const buffer<T> da(a), db(b);
    const buffer<C> dc(c);
    g.a.data = da.data(), g.b.data = db.data(), g.c.data = dc.data();

    const test::stream s;
    cublas_gemm(cuda(0), g); // on the null stream
    const std::vector<C> once = dc.download();
    gpu().copy_in(dc.data(), c.data(), dc.bytes());
    gpu().set_stream(s);
    s.begin_capture();
    cublas_gemm(cuda(0), g);
    const test::graph replay(s.end_capture());
    replay.launch(s);
    const std::vector<C> replayed = dc.download();

    const double unit = c_type == scalar_type::f16                      ? 0x1p-10
                        : c_type == scalar_type::bf16                   ? 0x1p-7
                        : lowering::real_of(c_type) == scalar_type::f32 ? 0x1p-23
                                                                        : 0x1p-52;
    double worst = 0, worst_replayed = 0;
    for (std::int64_t e = 0; e < count; ++e)
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < m; ++i) {
                complex sum = 0;
                for (std::int64_t l = 0; l < k; ++l)
                    sum += element(a, e * g.a.stride, g.a.leading, ta, i, l) * element(b, 0, g.b.leading, tb, l, j);
                const auto at = static_cast<std::size_t>(e * g.c.stride + i + j * g.c.leading);
                const complex expected = g.alpha * sum + g.beta * widen(c[at]);
                worst = std::max(worst, std::abs(widen(once[at]) - expected));
                worst_replayed = std::max(worst_replayed, std::abs(widen(replayed[at]) - expected));
            }
    const double bound = 4 * k * unit; // |A||B| <= 2 an element; f32 sums of such values are exact
    CHECK(worst <= bound);
    CHECK(worst_replayed <= bound);
    const auto padding = static_cast<std::size_t>(m); // the two elements after a column are not C's
    CHECK(widen(once[padding]) == widen(c[padding]));
}

} // namespace

TEST_CASE("every type, transposed every way, one and many") {
    using enum scalar_type;
    for (const std::int64_t count : {1, 5})
        for (const char ta : {'N', 'T', 'C'})
            for (const char tb : {'N', 'T', 'C'}) {
                try_product<double, double>(f64, f64, ta, tb, count);
                try_product<float, float>(f32, f32, ta, tb, count);
                try_product<std::complex<float>, std::complex<float>>(c64, c64, ta, tb, count);
                try_product<std::complex<double>, std::complex<double>>(c128, c128, ta, tb, count);
                try_product<half, half>(f16, f16, ta, tb, count);
                try_product<half, float>(f16, f32, ta, tb, count);
                try_product<bfloat16, bfloat16>(bf16, bf16, ta, tb, count);
                try_product<bfloat16, float>(bf16, f32, ta, tb, count);
            }
}

TEST_CASE("float products are rounded to TF32 only on request") {
    const std::int64_t n = 256;
    const float x = 1 + 0x1p-12f; // 1 in TF32, which keeps 10 bits
    const std::vector<float> all(static_cast<std::size_t>(n * n), x);
    const buffer<float> a(all), b(all), c(all.size());
    gemm_problem g{n, n, n, 1, {}, {}, {}, scalar_type::f32, 1, 0};
    g.a = {scalar_type::f32, a.data(), n, 0, 'N'};
    g.b = {scalar_type::f32, b.data(), n, 0, 'N'};
    g.c = {scalar_type::f32, c.data(), n, 0, 'N'};
    cublas_gemm(cuda(0), g);
    CHECK(std::abs(c.download()[0] - 256.125) < 0.01);
    g.math = lowering::math_mode::tf32;
    cublas_gemm(cuda(0), g);
    CHECK(c.download()[0] == 256);
}

TEST_CASE("types that cuBLAS does not have are refused") {
    gemm_problem g{2, 2, 2, 1, {}, {}, {}, scalar_type::f64, 1, 0};
    CHECK(cublas_takes(g));
    g.b.type = scalar_type::f32;
    CHECK_FALSE(cublas_takes(g));
    CHECK_THROWS_AS(cublas_gemm(cuda(0), g), error);
}
