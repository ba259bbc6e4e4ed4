// gemm_test: products of batches by the C interface against plain loops: types, transposes, strides, factors.
#include "tests/c_api/support.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>

using namespace c_api_test;

namespace {

enum class layout { strided, pointers };

struct shape {
    std::int64_t m = 5, n = 4, k = 9, count = 3;
};

struct call {
    ricci_type a = RICCI_F64, b = RICCI_F64, c = RICCI_F64;
    char trans_a = 'N', trans_b = 'N';
    number alpha = 1, beta = 0;
    layout how = layout::strided;
    shape size{};
    std::int64_t padding = 2;      ///< of each leading dimension, and between matrices
    bool shared_a = false, backwards = false;
};

/// The matrices of one operand.
struct batch {
    static constexpr std::int64_t one = 1;
    std::int64_t leading, stride, first = 0; ///< first: where matrix 0 begins
    host_array host;

    batch(ricci_type type, std::int64_t rows, std::int64_t columns, const call& x, bool shared, unsigned seed)
        : leading(std::max(rows, one) + x.padding), stride(leading * columns + x.padding),
          host(small_integers(type, static_cast<std::size_t>(stride * (shared ? 1 : std::max(x.size.count, one))),
                              seed)) {
        if (shared) stride = 0;
        if (x.backwards && !shared && x.size.count > 0) first = (x.size.count - 1) * stride, stride = -stride;
    }
    std::size_t place(std::int64_t row, std::int64_t column, std::int64_t e) const {
        return static_cast<std::size_t>(first + row + column * leading + e * stride);
    }
};

number element(const batch& x, char trans, std::int64_t row, std::int64_t column, std::int64_t e) {
    const auto value = trans == 'N' ? x.host.at(x.place(row, column, e)) : x.host.at(x.place(column, row, e));
    return trans == 'C' ? std::conj(value) : value;
}

std::string describe(const call& x) {
    return fmt::format("types {} {} {}, {}{}, alpha ({}, {}), beta ({}, {}), {}, {} x {} x {}, {} products", x.a, x.b,
                       x.c, x.trans_a, x.trans_b, x.alpha.real(), x.alpha.imag(), x.beta.real(), x.beta.imag(),
                       x.how == layout::strided ? "strided" : "pointers", x.size.m, x.size.n, x.size.k, x.size.count);
}

/// The array of pointers to the matrices of a batch, on the device.
device_array pointers_to(const batch& x, const device_array& memory, std::int64_t count) {
    std::vector<void*> all;
    for (std::int64_t e = 0; e < count; ++e) all.push_back(memory.at(x.host.type(), x.first + e * x.stride));
    return {all.data(), all.size() * sizeof(void*)};
}

void check(const call& x) {
    INFO(describe(x));
    const auto [m, n, k, count] = x.size;
    const bool upright_a = x.trans_a == 'N', upright_b = x.trans_b == 'N';
    const batch a(x.a, upright_a ? m : k, upright_a ? k : m, x, x.shared_a, 1);
    const batch b(x.b, upright_b ? k : n, upright_b ? n : k, x, false, 2);
    batch c(x.c, m, n, x, false, 3);
    const device_array on_a(a.host), on_b(b.host), on_c(c.host);

    host_array expected = c.host;
    for (std::int64_t e = 0; e < count; ++e)
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < m; ++i) {
                number sum = 0;
                for (std::int64_t p = 0; p < k; ++p)
                    sum += element(a, x.trans_a, i, p, e) * element(b, x.trans_b, p, j, e);
                const auto old = x.beta == 0.0 ? 0 : x.beta * c.host.at(c.place(i, j, e));
                expected.set(c.place(i, j, e), x.alpha * sum + old);
            }

    const double alpha[] = {x.alpha.real(), x.alpha.imag()}, beta[] = {x.beta.real(), x.beta.imag()};
    if (x.how == layout::strided) {
        RICCI_OK(ricci_gemm_strided_batched(tested_device(), x.trans_a, x.trans_b, m, n, k, alpha,
                                            on_a.at(x.a, a.first), x.a, a.leading, a.stride, on_b.at(x.b, b.first),
                                            x.b, b.leading, b.stride, beta, on_c.at(x.c, c.first), x.c, c.leading,
                                            c.stride, count));
    } else {
        const auto to_a = pointers_to(a, on_a, count), to_b = pointers_to(b, on_b, count),
                   to_c = pointers_to(c, on_c, count);
        RICCI_OK(ricci_gemm_batched(tested_device(), x.trans_a, x.trans_b, m, n, k, alpha,
                                    static_cast<const void**>(to_a.data()), x.a, a.leading,
                                    static_cast<const void**>(to_b.data()), x.b, b.leading, beta,
                                    static_cast<void**>(to_c.data()), x.c, c.leading, count));
    }
    on_c.fetch(c.host);
    std::size_t wrong = 0; // also between the matrices, where nothing may be written
    for (std::size_t at = 0; at < expected.size(); ++at) wrong += expected.at(at) != c.host.at(at);
    CHECK(wrong == 0);
}

} // namespace

TEST_CASE("gemm: every type, and mixed ones") {
    constexpr ricci_type triples[][3] = {
        {RICCI_F16, RICCI_F16, RICCI_F16}, {RICCI_BF16, RICCI_BF16, RICCI_BF16}, {RICCI_F32, RICCI_F32, RICCI_F32},
        {RICCI_F64, RICCI_F64, RICCI_F64}, {RICCI_C64, RICCI_C64, RICCI_C64},    {RICCI_C128, RICCI_C128, RICCI_C128},
        {RICCI_F16, RICCI_F16, RICCI_F32}, {RICCI_F32, RICCI_BF16, RICCI_F64},   {RICCI_F64, RICCI_C64, RICCI_C128}};
    for (const auto& [a, b, c] : triples) {
        check({.a = a, .b = b, .c = c, .alpha = 2, .beta = 3});
        check({.a = a, .b = b, .c = c, .beta = 1, .how = layout::pointers});
    }
}

TEST_CASE("gemm: transposes") {
    for (const ricci_type type : {RICCI_F64, RICCI_C64})
        for (const char trans_a : {'N', 'T', 'C'})
            for (const char trans_b : {'N', 'T', 'C'})
                check({.a = type, .b = type, .c = type, .trans_a = trans_a, .trans_b = trans_b});
    check({.a = RICCI_C64, .b = RICCI_C64, .c = RICCI_C64, .trans_a = 'C', .trans_b = 'T', .how = layout::pointers});
}

TEST_CASE("gemm: factors") {
    for (const auto how : {layout::strided, layout::pointers})
        for (const double alpha : {0.0, 1.0, -1.0, 2.0})
            for (const double beta : {0.0, 1.0, -1.0, 3.0}) check({.alpha = alpha, .beta = beta, .how = how});
    const number complex[] = {{1, 2}, {-1, 0}, {0, -1}};
    for (const auto alpha : complex)
        for (const auto beta : complex)
            check({.a = RICCI_C128, .b = RICCI_F64, .c = RICCI_C128, .alpha = alpha, .beta = beta});
    check({.a = RICCI_F32, .b = RICCI_F32, .c = RICCI_C64, .alpha = {0, 2}, .beta = {1, 1}});
}

TEST_CASE("gemm: layouts") {
    for (const double beta : {0.0, 2.0}) {
        check({.beta = beta, .padding = 0});
        check({.beta = beta, .backwards = true});
        check({.beta = beta, .shared_a = true});
        check({.trans_a = 'T', .beta = beta, .shared_a = true});
        check({.beta = beta, .size = {.count = 1}});
        check({.beta = beta, .size = {.m = 1, .n = 1}});
        check({.beta = beta, .size = {.k = 1}});
        check({.alpha = -2, .beta = beta, .size = {.m = 120, .n = 110, .k = 130, .count = 2}});
        check({.beta = beta, .how = layout::pointers, .size = {.count = 1000}});
    }
}

TEST_CASE("gemm: without elements, or without a sum") {
    for (const auto how : {layout::strided, layout::pointers}) {
        check({.beta = 2, .how = how, .size = {.k = 0}});
        check({.beta = 0, .how = how, .size = {.k = 0}});
        check({.beta = 2, .how = how, .size = {.m = 0}});
        check({.beta = 2, .how = how, .size = {.n = 0}});
        check({.beta = 2, .how = how, .size = {.count = 0}});
    }
    // What is not read may be missing.
    host_array c = small_integers(RICCI_F64, 6, 1);
    const host_array before = c;
    const device_array on_c(c);
    const double zero = 0, one = 1, two = 2;
    RICCI_OK(ricci_gemm_strided_batched(tested_device(), 'n', 't', 2, 3, 5, &zero, nullptr, RICCI_F64, 2, 0, nullptr,
                                        RICCI_F64, 3, 0, &two, on_c.data(), RICCI_F64, 2, 6, 1));
    RICCI_OK(ricci_gemm_strided_batched(tested_device(), 'N', 'N', 2, 3, 0, &one, nullptr, RICCI_F64, 2, 0, nullptr,
                                        RICCI_F64, 1, 0, &one, on_c.data(), RICCI_F64, 2, 6, 1));
    RICCI_OK(ricci_gemm_strided_batched(tested_device(), 'N', 'N', 0, 3, 5, &one, nullptr, RICCI_F64, 1, 0, nullptr,
                                        RICCI_F64, 5, 0, &one, nullptr, RICCI_F64, 1, 6, 1));
    on_c.fetch(c);
    for (std::size_t n = 0; n < 6; ++n) CHECK(c.at(n) == 2.0 * before.at(n));
}

TEST_CASE("gemm: with beta 0 C is not read") {
    host_array a = small_integers(RICCI_F64, 4, 1), c(RICCI_F64, 4);
    for (std::size_t n = 0; n < 4; ++n) c.set(n, std::nan(""));
    const device_array on_a(a), on_c(c);
    for (const double alpha : {0.0, 1.0}) {
        const double beta = 0;
        RICCI_OK(ricci_gemm_strided_batched(tested_device(), 'N', 'N', 2, 2, 2, &alpha, on_a.data(), RICCI_F64, 2, 4,
                                            on_a.data(), RICCI_F64, 2, 4, &beta, on_c.data(), RICCI_F64, 2, 4, 1));
        host_array result(RICCI_F64, 4);
        on_c.fetch(result);
        for (std::size_t n = 0; n < 4; ++n) CHECK(result.at(n) == result.at(n));
    }
}

TEST_CASE("gemm: C may be an operand too") {
    for (const auto how : {layout::strided, layout::pointers}) {
        host_array a = small_integers(RICCI_F64, 2 * 9, 1), b = small_integers(RICCI_F64, 2 * 9, 2), result = a;
        const device_array on_a(a), on_b(b);
        const double alpha = 2, beta = 3;
        if (how == layout::strided) {
            RICCI_OK(ricci_gemm_strided_batched(tested_device(), 'N', 'N', 3, 3, 3, &alpha, on_a.data(), RICCI_F64, 3,
                                                9, on_b.data(), RICCI_F64, 3, 9, &beta, on_a.data(), RICCI_F64, 3, 9,
                                                2));
        } else {
            const void* const pointers_a[] = {on_a.at(RICCI_F64), on_a.at(RICCI_F64, 9)};
            const void* const pointers_b[] = {on_b.at(RICCI_F64), on_b.at(RICCI_F64, 9)};
            const device_array to_a(pointers_a, sizeof pointers_a), to_b(pointers_b, sizeof pointers_b);
            RICCI_OK(ricci_gemm_batched(tested_device(), 'N', 'N', 3, 3, 3, &alpha,
                                        static_cast<const void**>(to_a.data()), RICCI_F64, 3,
                                        static_cast<const void**>(to_b.data()), RICCI_F64, 3, &beta,
                                        static_cast<void**>(to_a.data()), RICCI_F64, 3, 2));
        }
        on_a.fetch(result);
        for (std::size_t e = 0; e < 2; ++e)
            for (std::size_t j = 0; j < 3; ++j)
                for (std::size_t i = 0; i < 3; ++i) {
                    number sum = 0;
                    for (std::size_t k = 0; k < 3; ++k) sum += a.at(i + 3 * k + 9 * e) * b.at(k + 3 * j + 9 * e);
                    CHECK(result.at(i + 3 * j + 9 * e) == 2.0 * sum + 3.0 * a.at(i + 3 * j + 9 * e));
                }
    }
}
