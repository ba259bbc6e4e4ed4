// text_test: contractions as text by the C interface: values, programs, numbers, intermediates, explain, threads.
#include "runtime/kernel_cache.hpp"
#include "tests/c_api/support.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

#include <atomic>
#include <memory>
#include <thread>

using namespace c_api_test;

namespace {

/// C(i,j,e) of the given strides += A(i,k,e)*B(k,j), dense ones, by plain loops.
void add_product(const host_array& a, const host_array& b, host_array& c, std::size_t m, std::size_t n, std::size_t k,
                 std::size_t count, number factor = 1) {
    for (std::size_t e = 0; e < count; ++e)
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t i = 0; i < m; ++i) {
                number sum = 0;
                for (std::size_t p = 0; p < k; ++p) sum += a.at(i + m * (p + k * e)) * b.at(p + k * j);
                const auto at = i + m * (j + n * e);
                c.set(at, c.at(at) + factor * sum);
            }
}

bool equal(const host_array& x, const host_array& y) {
    std::size_t different = 0;
    for (std::size_t n = 0; n < x.size(); ++n) different += x.at(n) != y.at(n);
    return different == 0;
}

const std::vector<std::int64_t> of_a{4, 9, 7}, of_b{9, 3}, of_c{4, 3, 7};

struct product {
    ricci_type type = RICCI_F64;
    host_array a = small_integers(type, 4 * 9 * 7, 1), b = small_integers(type, 9 * 3, 2),
               c = small_integers(type, 4 * 3 * 7, 3);
    device_array on_a{a}, on_b{b}, on_c{c};
    std::vector<ricci_operand> operands() const {
        return {operand("A", type, of_a, on_a.data()), operand("B", type, of_b, on_b.data()),
                operand("C", type, of_c, on_c.data())};
    }
    /// Whether C is what it was plus factor times the product.
    bool has_added(number factor) {
        host_array expected = c, now = c;
        add_product(a, b, expected, 4, 3, 9, 7, factor);
        on_c.fetch(now);
        return equal(now, expected);
    }
};

} // namespace

TEST_CASE("contract: every type") {
    for (const ricci_type type : {RICCI_F16, RICCI_BF16, RICCI_F32, RICCI_F64, RICCI_C64, RICCI_C128}) {
        product x{type};
        const auto operands = x.operands();
        RICCI_OK(ricci_contract("C(i,j,e) += A(i,k,e)*B(k,j)", 3, operands.data()));
        CHECK(x.has_added(1));
        RICCI_OK(ricci_contract("C(i,j,e) -= 2*A(i,k,e)*B(k,j)", 3, operands.data()));
        CHECK(x.has_added(-1));
    }
}

TEST_CASE("contract: strides, ranges and tables") {
    // B as rows of C, a column of A reversed, into every other row of y, where a table says.
    const host_array a = small_integers(RICCI_F32, 20, 1), b = small_integers(RICCI_F32, 12, 2);
    host_array y = small_integers(RICCI_F32, 10, 3), p(RICCI_I32, 3);
    const auto before = y;
    for (std::size_t n = 0; n < 3; ++n) p.set(n, number(static_cast<double>(2 - n)));
    const device_array on_a(a), on_b(b), on_y(y), on_p(p);
    const std::vector<std::int64_t> four_by_three{4, 3}, four{4}, five{5}, three{3};
    const std::int64_t rows[] = {3, 1}, reversed[] = {-1}, every_other[] = {2};
    const ricci_operand operands[] = {operand("A", RICCI_F32, four, on_a.at(RICCI_F32, 7), reversed),
                                      operand("B", RICCI_F32, four_by_three, on_b.data(), rows),
                                      operand("y", RICCI_F32, five, on_y.data(), every_other),
                                      operand("p", RICCI_I32, three, on_p.data())};
    RICCI_OK(ricci_contract("y(e(0,3) + 1) = A(k)*B(k,p(e))", 4, operands));
    on_y.fetch(y);
    for (std::size_t e = 0; e < 3; ++e) {
        number sum = 0;
        for (std::size_t k = 0; k < 4; ++k) sum += a.at(7 - k) * b.at(3 * k + (2 - e));
        CHECK(y.at(2 * (e + 1)) == sum);
    }
    for (const std::size_t untouched : {0u, 1u, 3u, 5u, 7u, 8u, 9u}) CHECK(y.at(untouched) == before.at(untouched));
}

TEST_CASE("what equal entries of a table get is added up, also after the table has changed") {
    const host_array w = small_integers(RICCI_F64, 12, 1);
    host_array v = small_integers(RICCI_F64, 5, 2), l(RICCI_I64, 12);
    const std::vector<std::int64_t> three_by_four{3, 4}, five{5};
    const device_array on_w(w), on_v(v);
    ricci_operand operands[] = {operand("v", RICCI_F64, five, on_v.data()),
                                operand("w", RICCI_F64, three_by_four, on_w.data()),
                                operand("l", RICCI_I64, three_by_four, nullptr)};
    ricci_program* program = nullptr;
    RICCI_OK(ricci_prepare("v(l(i,e)) += 2*w(i,e)", 3, operands, &program));
    for (std::size_t step = 1; step < 4; ++step) {
        std::vector<number> expected;
        for (std::size_t n = 0; n < 5; ++n) expected.push_back(v.at(n));
        for (std::size_t n = 0; n < 12; ++n) {
            l.set(n, number(static_cast<double>(n * step % 5)));
            expected[n * step % 5] += 2.0 * w.at(n);
        }
        const device_array on_l(l); // likely where the last one was
        void* const data[] = {on_v.data(), on_w.data(), on_l.data()};
        RICCI_OK(ricci_run(program, 3, data));
        on_v.fetch(v);
        for (std::size_t n = 0; n < 5; ++n) CHECK(v.at(n) == expected[n]);
    }
    ricci_release(program);
}

TEST_CASE("contract: several statements, and intermediates of their own") {
    host_array a = small_integers(RICCI_F64, 9, 1), s(RICCI_F64, 1), c(RICCI_F64, 9);
    const device_array on_a(a), on_s(s), on_c(c);
    const std::vector<std::int64_t> square{3, 3}, none;
    const ricci_operand operands[] = {operand("A", RICCI_F64, square, on_a.data()),
                                      operand("s", RICCI_F64, none, on_s.data()),
                                      operand("C", RICCI_F64, square, on_c.data())};
    const char* const text = "T(i,j) = A(i,k)*A(k,j);  # squared\n C(i,j) = T(j,i); s = T(i,i) + C(i,j)*T(i,j)";
    ricci_program* program = nullptr;
    RICCI_OK(ricci_prepare(text, 3, operands, &program));
    for (int turn = 0; turn < 2; ++turn) {
        if (turn == 0)
            RICCI_OK(ricci_contract(text, 3, operands));
        else
            RICCI_OK(ricci_run(program, 0, nullptr));
        on_s.fetch(s), on_c.fetch(c);
        number square_of[9], expected = 0;
        for (std::size_t n = 0; n < 9; ++n) {
            square_of[n] = 0;
            for (std::size_t k = 0; k < 3; ++k) square_of[n] += a.at(n % 3 + 3 * k) * a.at(k + 3 * (n / 3));
        }
        for (std::size_t n = 0; n < 9; ++n) {
            CHECK(c.at(n) == square_of[n / 3 + 3 * (n % 3)]);
            expected += c.at(n) * square_of[n] + (n % 4 == 0 ? square_of[n] : 0);
        }
        CHECK(s.at(0) == expected);
    }
    ricci_release(program);
}

TEST_CASE("contract: matrices are factored and solved with") {
    host_array a(RICCI_F64, 3 * 3 * 5), x(RICCI_F64, 3 * 5), info(RICCI_I32, 5);
    for (std::size_t e = 0; e < 5; ++e)
        for (std::size_t n = 0; n < 9; ++n) a.set(9 * e + n, n % 4 == 0 ? 4 : 1);
    for (std::size_t n = 0; n < 15; ++n) x.set(n, 6);
    const device_array on_a(a), on_x(x), on_info(info);
    const std::vector<std::int64_t> matrices{3, 3, 5}, vectors{3, 5}, one_each{5};
    const ricci_operand operands[] = {operand("A", RICCI_F64, matrices, on_a.data()),
                                      operand("x", RICCI_F64, vectors, on_x.data()),
                                      operand("info", RICCI_I32, one_each, on_info.data())};
    RICCI_OK(ricci_contract("info(e) = solve(A(i,j,e), i, j, x(j,e))", 3, operands));
    on_x.fetch(x);
    for (std::size_t n = 0; n < 15; ++n) CHECK(std::abs(x.at(n) - 1.0) < 1e-14);
    CHECK(ricci_contract("cholesky(A(i,j,e), i, e)", 1, operands) != RICCI_SUCCESS);
}

TEST_CASE("contract: the smallest solution of one equation") {
    host_array a(RICCI_F64, 2), b(RICCI_F64, 1), x(RICCI_F64, 2);
    a.set(0, 3), a.set(1, 4), b.set(0, 50);
    const device_array on_a(a), on_b(b), on_x(x);
    const std::vector<std::int64_t> one_by_two{1, 2}, one{1}, two{2};
    const ricci_operand operands[] = {operand("A", RICCI_F64, one_by_two, on_a.data()),
                                      operand("b", RICCI_F64, one, on_b.data()),
                                      operand("x", RICCI_F64, two, on_x.data())};
    RICCI_OK(ricci_contract("x(j) = least_squares(A(i,j), i, j, b(i))", 3, operands));
    on_x.fetch(x);
    CHECK(std::abs(x.at(0) - 6.0) < 1e-14);
    CHECK(std::abs(x.at(1) - 8.0) < 1e-14);
}

TEST_CASE("a program runs with the pointers of each call") {
    product x, other;
    auto described = x.operands();
    for (auto& o : described) o.data = nullptr;
    ricci_program* program = nullptr;
    {
        const std::string text = "C(i,j,e) += A(i,k,e)*B(k,j)", name = "A";
        described[0].name = name.c_str();
        const std::vector<std::int64_t> extents = of_a;
        described[0].extents = extents.data();
        RICCI_OK(ricci_prepare(text.c_str(), 3, described.data(), &program));
    } // what was described is copied
    for (auto* each : {&x, &other, &x}) {
        void* const data[] = {each->on_a.data(), each->on_b.data(), each->on_c.data()};
        RICCI_OK(ricci_run(program, 3, data));
    }
    CHECK(x.has_added(2));
    CHECK(other.has_added(1));
    // An element further on, which is aligned to an element only, and in place.
    host_array a = small_integers(RICCI_F64, 4 * 9 * 7 + 1, 1);
    const device_array on_a(a);
    void* const moved[] = {on_a.at(RICCI_F64, 1), x.on_b.data(), on_a.at(RICCI_F64, 1)};
    RICCI_OK(ricci_run(program, 3, moved));
    host_array now = a;
    on_a.fetch(now);
    number sum = 0;
    for (std::size_t k = 0; k < 9; ++k) sum += a.at(1 + 4 * k) * x.b.at(k);
    CHECK(now.at(1) == a.at(1) + sum);
    ricci_release(program);
    ricci_release(nullptr);
}

TEST_CASE("numbers are read when a statement runs") {
    product x;
    double alpha = 2;
    float half = 0.5f;
    auto operands = x.operands();
    operands.push_back({"alpha", RICCI_F64, 0, nullptr, nullptr, &alpha, RICCI_NUMBER});
    operands.push_back({"half", RICCI_F32, 0, nullptr, nullptr, &half, RICCI_NUMBER});
    const char* const text = "C(i,j,e) += alpha*A(i,k,e)*half()*B(k,j) + (half - alpha/4)*C(j(0,3),j,e)";
    ricci_program* program = nullptr;
    RICCI_OK(ricci_prepare(text, 5, operands.data(), &program));
    RICCI_OK(ricci_run(program, 5, nullptr)); // half - alpha/4 is 0
    CHECK(x.has_added(1));
    const double zero = 0;
    void* const data[] = {x.on_a.data(), x.on_b.data(), x.on_c.data(), const_cast<double*>(&zero), &half};
    half = 0;
    RICCI_OK(ricci_run(program, 5, data));
    CHECK(x.has_added(1));
    ricci_release(program);

    // A complex one, whose statement computes in complex numbers.
    std::complex<float> factor(0, 2);
    host_array z = small_integers(RICCI_C64, 3, 5), w(RICCI_C64, 3);
    const device_array on_z(z), on_w(w);
    const std::vector<std::int64_t> three{3};
    const ricci_operand complex[] = {operand("z", RICCI_C64, three, on_z.data()),
                                     operand("w", RICCI_C64, three, on_w.data()),
                                     {"f", RICCI_C64, 0, nullptr, nullptr, &factor, RICCI_NUMBER}};
    RICCI_OK(ricci_contract("w(i) = f*z(i)", 3, complex));
    on_w.fetch(w);
    for (std::size_t n = 0; n < 3; ++n) CHECK(w.at(n) == number(0, 2) * z.at(n));
}

TEST_CASE("explain says what would run, in whatever room there is") {
    product x;
    auto operands = x.operands();
    for (auto& o : operands) o.data = nullptr;
    std::size_t length = 0;
    const char* const text = "C(i,j,e) += A(i,k,e)*B(k,j)";
    RICCI_OK(ricci_explain(text, 3, operands.data(), nullptr, 0, &length));
    std::vector<char> room(length + 1, '?');
    RICCI_OK(ricci_explain(text, 3, operands.data(), room.data(), room.size(), nullptr));
    const std::string whole(room.data());
    CHECK(whole.size() == length);
    CHECK_THAT(whole, Catch::Contains("statement: C(i, j, e) += A(i, k, e)*B(k, j)") && Catch::Contains("roofline"));
    char small[11] = "??????????";
    RICCI_OK(ricci_explain(text, 3, operands.data(), small, sizeof small, &length));
    CHECK(std::string(small) == "statement:");
    CHECK(length == whole.size());
    CHECK(x.has_added(0));
}

TEST_CASE("a prepared program with an intermediate is one kernel, which no run compiles") {
    const ricci::test::scratch_cache cache; // else a run could load what it has not compiled
    constexpr std::size_t elements = 300, p = 3, q = 4;
    const std::vector<std::int64_t> of_b{q, p}, of_d{q, q, elements}, of_u{p, p, elements};
    const host_array b = small_integers(RICCI_F64, q * p, 1), d = small_integers(RICCI_F64, q * q * elements, 2),
                     u = small_integers(RICCI_F64, p * p * elements, 3);
    host_array v = small_integers(RICCI_F64, p * p * elements, 4);
    const device_array on_b{b}, on_d{d}, on_u{u}, on_v{v};
    const ricci_operand operands[] = {
        operand("B", RICCI_F64, of_b, on_b.data()), operand("D", RICCI_F64, of_d, on_d.data()),
        operand("u", RICCI_F64, of_u, on_u.data()), operand("v", RICCI_F64, of_u, on_v.data())};
    const char* const text = "w(q,r,e) = D(q,r,e)*B(q,i)*B(r,j)*u(i,j,e); v(i,j,e) = B(q,i)*B(r,j)*w(q,r,e)";
    std::size_t length = 0;
    RICCI_OK(ricci_explain(text, 4, operands, nullptr, 0, &length));
    std::vector<char> room(length + 1, '?');
    RICCI_OK(ricci_explain(text, 4, operands, room.data(), room.size(), nullptr));
    CHECK_THAT(std::string(room.data()), Catch::Contains("kernel chain of 4 phases over e"));

    ricci_program* program = nullptr;
    RICCI_OK(ricci_prepare(text, 4, operands, &program));
    const auto compiled = ricci::runtime::compile_count();
    RICCI_OK(ricci_run(program, 4, nullptr));
    CHECK(ricci::runtime::compile_count() == compiled);
    ricci_release(program);

    on_v.fetch(v);
    std::size_t wrong = 0;
    for (std::size_t e = 0; e < elements; ++e) {
        number at_points[q][q] = {};
        for (std::size_t x = 0; x < q; ++x)
            for (std::size_t y = 0; y < q; ++y) {
                for (std::size_t i = 0; i < p; ++i)
                    for (std::size_t j = 0; j < p; ++j)
                        at_points[x][y] += b.at(x + q * i) * b.at(y + q * j) * u.at(i + p * (j + p * e));
                at_points[x][y] *= d.at(x + q * (y + q * e));
            }
        for (std::size_t i = 0; i < p; ++i)
            for (std::size_t j = 0; j < p; ++j) {
                number sum = 0;
                for (std::size_t x = 0; x < q; ++x)
                    for (std::size_t y = 0; y < q; ++y) sum += b.at(x + q * i) * b.at(y + q * j) * at_points[x][y];
                wrong += v.at(i + p * (j + p * e)) != sum;
            }
    }
    CHECK(wrong == 0);
}

TEST_CASE("eight threads with one program, and with messages of their own") {
    ricci_program* program = nullptr;
    {
        product x;
        const auto operands = x.operands();
        RICCI_OK(ricci_prepare("C(i,j,e) += A(i,k,e)*B(k,j)", 3, operands.data(), &program));
    }
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    threads.reserve(8);
    std::vector<std::unique_ptr<product>> all(8);
    for (auto& each : all) each = std::make_unique<product>();
    ricci_synchronize(tested_device()); // what this thread has copied is there for the others
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            auto& mine = *all[static_cast<std::size_t>(t)];
            void* const data[] = {mine.on_a.data(), mine.on_b.data(), mine.on_c.data()};
            bool good = true;
            for (int round = 0; round < 5; ++round) {
                good = good && ricci_run(program, 3, data) == RICCI_SUCCESS;
                good = good && ricci_run(program, t, data) == (t == 3 ? RICCI_SUCCESS : -2);
                const auto expected = "count) is " + std::to_string(t);
                good = good && (t == 3 || std::string(ricci_last_error()).find(expected) != std::string::npos);
            }
            good = good && ricci_synchronize(tested_device()) == RICCI_SUCCESS;
            right += good;
        });
    for (auto& t : threads) t.join();
    CHECK(right == 8);
    for (int t = 0; t < 8; ++t) CHECK(all[static_cast<std::size_t>(t)]->has_added(t == 3 ? 10 : 5));
    ricci_release(program);
}
