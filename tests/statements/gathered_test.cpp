// gathered_test: index tables and pointer_views through the public interface: values, what compiles again, what is
// refused.
#include "ricci.hpp"
#include "runtime/kernel_cache.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/scratch.hpp"

#include <functional>
#include <string>
#include <vector>

namespace {

using namespace ricci::indices;
using ricci::dyn, ricci::distinct, ricci::pointer_view, ricci::tensor, ricci::view;
using matrices = tensor<double, dyn, dyn, dyn>;

matrices counting(std::int64_t rows, std::int64_t columns, std::int64_t count, double first = 0) {
    matrices out(rows, columns, count, ricci::cpu());
    std::vector<double> all(static_cast<std::size_t>(out.size()));
    for (std::size_t n = 0; n < all.size(); ++n) all[n] = first + static_cast<double>(n % 17);
    out.upload(all);
    return out;
}

template <class T>
tensor<T, dyn> table(const std::vector<T>& entries) {
    tensor<T, dyn> out(static_cast<std::int64_t>(entries.size()), ricci::cpu());
    out.upload(entries);
    return out;
}

/// A(:, :, a)*B(:, :, b), first index fastest.
std::vector<double> product(const matrices& A, std::int64_t at_a, const matrices& B, std::int64_t at_b) {
    tensor<double, dyn, dyn> out(A.extent(0), B.extent(1), ricci::cpu());
    out(i, j) = A(i, k, at_a) * B(k, j, at_b);
    return out.download();
}

std::string message(const std::function<void()>& f) {
    try {
        f();
    } catch (const ricci::error& e) {
        return e.what();
    }
    return "accepted";
}

} // namespace

TEST_CASE("a position takes its values from a table") {
    const auto A = counting(3, 4, 6), B = counting(4, 2, 5, 3);
    const std::vector<std::int32_t> entries{5, 0, 5, 2, 3};
    const auto p = table(entries);
    matrices C(3, 2, 5, ricci::cpu());
    C.fill(1);
    C(i, j, e) += A(i, k, p(e)) * B(k, j, e);
    const auto c = C.download();
    for (std::size_t n = 0; n < 5; ++n) {
        const auto expected = product(A, entries[n], B, static_cast<std::int64_t>(n));
        for (std::size_t m = 0; m < 6; ++m) CHECK(c[6 * n + m] == 1 + expected[m]);
    }
    CHECK(std::int32_t(p(2)) == 5);
    CHECK(double(A(1, 2, p(3))) == double(A(1, 2, 2)));
    // Of rank 2, of 64 bits, a view; and the entries of some positions only.
    const std::vector<std::int64_t> wide{0, 1, 2, 3, 4, 5};
    const view<const std::int64_t, 2> q(wide.data(), {2, 3}, {3, 1}, ricci::cpu());
    tensor<double, 2, 3> D(ricci::cpu());
    D(i, j) = A(0, 0, q(i, j));
    CHECK(D(1, 1) == double(A(0, 0, 4)));
    tensor<double, 2> E(ricci::cpu());
    E(i) = A(0, 0, q(i, 2)) + A(0, i + 1, p(3 - i));
    CHECK(E(1) == double(A(0, 0, 5)) + double(A(0, 2, 5)));
}

TEST_CASE("a gathered left side is written where its entries say") {
    const auto A = counting(3, 4, 6), B = counting(4, 2, 5, 3);
    const auto p = table<std::int64_t>({7, 0, 3, 2, 5});
    matrices C(3, 2, 8, ricci::cpu());
    C.fill(1);
    C(i, j, distinct(p)(e)) -= A(i, k, e(0, 5)) * B(k, j, e);
    CHECK(C(2, 1, 3) == 1 - product(A, 2, B, 2)[5]);
    CHECK(C(2, 1, 4) == 1.0);
    // What overlaps is read before anything is written.
    auto D = counting(1, 1, 8);
    const auto next = table<std::int32_t>({1, 2, 3, 4, 5, 6, 7, 0});
    D(0, 0, e) = D(0, 0, next(e));
    CHECK(D.download() == std::vector<double>{1, 2, 3, 4, 5, 6, 7, 0});
    D(0, 0, distinct(next)(e)) = D(0, 0, e);
    CHECK(D.download() == std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7});
    D(0, 0, distinct(p)(e)) = D(0, 0, p(e)) + 10;
    CHECK(D.download() == std::vector<double>{10, 1, 12, 13, 4, 15, 6, 17});
}

TEST_CASE("a pointer_view finds each matrix by its pointer") {
    const auto A = counting(3, 4, 6), B = counting(4, 2, 5, 3);
    std::vector<double> memory(200, 1);
    std::vector<const double*> from;
    std::vector<double*> to;
    for (const int n : {4, 4, 0, 1, 5}) from.push_back(A.data() + 12 * n);
    for (const int n : {3, 0, 1, 4, 2}) to.push_back(memory.data() + 31 * n);
    const pointer_view<const double, 3> X(from.data(), {3, 4, 5}, ricci::cpu());
    const pointer_view<double, 3> C(to.data(), {3, 2, 5}, {1, 7}); // columns 7 apart
    C(i, j, e) += X(i, k, e) * B(k, j, e);
    CHECK(memory[31 * 1 + 7 * 1 + 2] == 1 + product(A, 0, B, 2)[5]);
    CHECK(double(C(2, 1, 3)) == 1 + product(A, 1, B, 3)[5]);
    CHECK(memory[3] == 1);
    // In place, by the same array: the element itself, and one that must be read first.
    const std::vector<double> before(memory);
    C(i(0, 2), j, e) = 2 * C(i, j, e);
    CHECK(memory[31 * 3] == 2 * before[31 * 3]);
    C(i(0, 2), j(0, 2), e) = C(j, i, e);
    CHECK(memory[31 * 3 + 7] == 2 * before[31 * 3 + 1]);
    CHECK(memory[31 * 3 + 1] == 2 * before[31 * 3 + 7]);
}

TEST_CASE("no entries, no pointers: nothing is done") {
    const auto A = counting(3, 4, 6);
    const tensor<std::int32_t, dyn> none(0, ricci::cpu());
    matrices C(3, 2, 0, ricci::cpu()), B(4, 2, 0, ricci::cpu());
    CHECK_NOTHROW(C(i, j, e) += A(i, k, none(e)) * B(k, j, e));
    matrices D(3, 2, 4, ricci::cpu());
    CHECK_NOTHROW(D(i, j, distinct(none)(e)) += A(i, k, none(e)) * B(k, j, e));
    const pointer_view<const double, 3> X(nullptr, {3, 4, 0}, ricci::cpu());
    CHECK_NOTHROW(C(i, j, e) += X(i, k, e) * B(k, j, e));
}

TEST_CASE("other entries, pointers and counts compile nothing") {
    const ricci::test::scratch_cache cache;
    const auto run = [](std::int64_t count, std::int64_t stacked) {
        const auto A = counting(5, 7, stacked), B = counting(7, 6, count);
        std::vector<std::int32_t> entries(static_cast<std::size_t>(count));
        for (std::size_t n = 0; n < entries.size(); ++n)
            entries[n] = static_cast<std::int32_t>((7 * n + 1) % static_cast<std::size_t>(stacked));
        const auto p = table(entries);
        matrices C(5, 6, count, ricci::cpu());
        C(i, j, e) = A(i, k, p(e)) * B(k, j, e);
        CHECK(C(4, 5, count - 1) == product(A, entries.back(), B, count - 1)[29]);
        std::vector<const double*> pointers;
        for (const auto n : entries) pointers.push_back(A.data() + 35 * n);
        C.fill(0);
        C(i, j, e) = pointer_view<const double, 3>(pointers.data(), {5, 7, count}, {1, 5})(i, k, e) * B(k, j, e);
        CHECK(C(4, 5, count - 1) == product(A, entries.back(), B, count - 1)[29]);
        tensor<double, 7, 6> shared(ricci::cpu());
        shared.fill(1);
        C(i, j, e) -= A(i, k, p(e)) * shared(k, j);
    };
    run(20, 9);
    const auto before = ricci::runtime::compile_count();
    for (const std::int64_t count : {1, 2, 64, 1000}) run(count, count + 3);
    CHECK(ricci::runtime::compile_count() == before);
}

TEST_CASE("an entry out of range is refused before anything is written") {
    const auto A = counting(3, 4, 6);
    matrices C(3, 4, 3, ricci::cpu());
    auto p = table<std::int32_t>({0, 6, 2});
    CHECK_THAT(message([&] { C(i, j, e) = A(i, j, p(e)); }),
               Catch::Contains("at e = 1 is 6, no value for position 3 of ") &&
                   Catch::Contains(", whose extent is 6"));
    p.upload({0, -1, 2});
    CHECK_THAT(message([&] { C(i, j, e) = A(i, j, p(e)); }),
               Catch::Contains("at e = 1 is -1, no value for position 3"));
    CHECK_THAT(message([&] { C(i, j, distinct(p)(e)) = A(i, j, e(0, 3)); }), Catch::Contains("at e = 1 is -1"));
    CHECK_THAT(message([&] { static_cast<void>(double(A(0, 0, p(1)))); }),
               Catch::Contains("is -1, but its extent is 6"));
    CHECK_THAT(message([&] { static_cast<void>(std::int32_t(p(5))); }), Catch::Contains("is 5, but its extent is 3"));
    CHECK(C.download() == std::vector<double>(36, 0.0));
    CHECK_NOTHROW(C(i, j, e(1, 2)) = A(i, j, p(e + 1))); // entries that nothing reads may be anything
}
