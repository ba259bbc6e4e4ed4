// capture_test: accesses, labels and ranges of captured statements, field by field, for the statements of the design.
#include "ricci.hpp"

#include "tests/catch.hpp"
#include "tests/dsl/captured.hpp"

using namespace ricci::indices;
using ricci::dyn, ricci::tensor;
using ricci::lowering::assignment, ricci::lowering::scalar_type, ricci::lowering::no_range;
using strings = std::vector<std::string>;

namespace {

strings label_names(const ricci::lowering::statement& s) {
    strings out;
    for (const auto& l : s.labels) out.emplace_back(l.name);
    return out;
}

} // namespace

TEST_CASE("the block update") {
    tensor<double, 64, 64, 9, 8> A(ricci::cpu());
    const auto s = captured([&] { A(i, j, m(1, 9), n(1, 8)) -= A(i, k, m, 0) * A(k, j, 0, n); });
    CHECK(s.op == assignment::subtract);
    CHECK(label_names(s) == strings{"i", "j", "m", "n", "k"});
    CHECK(!s.labels[0].has_range());
    CHECK((s.labels[2].begin == 1 && s.labels[2].end == 9));
    CHECK((s.labels[3].begin == 1 && s.labels[3].end == 8));
    CHECK(!s.labels[4].has_range());
    REQUIRE(s.accesses.size() == 3);
    CHECK(positions_of(s, 0) == strings{"1*i + 0", "1*j + 0", "1*m + 0", "1*n + 0"});
    CHECK(positions_of(s, 1) == strings{"1*i + 0", "1*k + 0", "1*m + 0", "0"});
    CHECK(positions_of(s, 2) == strings{"1*k + 0", "1*j + 0", "0", "1*n + 0"});
    for (const auto& a : s.accesses) {
        CHECK(a.data == A.data());
        CHECK(a.type == scalar_type::f64);
        CHECK(!a.padded);
        CHECK(a.device == 0);
        CHECK(a.local == ricci::lowering::no_local);
        CHECK(a.position_count == 4);
        CHECK(a.name.empty());
    }
    const std::int64_t strides[] = {1, 64, 64 * 64, 64 * 64 * 9};
    for (std::size_t p = 0; p < s.positions.size(); ++p) {
        CHECK(s.positions[p].extent == A.extents()[p % 4]);
        CHECK(s.positions[p].stride == strides[p % 4]);
    }
    CHECK(right_side(s) == "a1 a2 *");
}

TEST_CASE("affine positions, on both sides") {
    tensor<float, 2, 3, 20, 20> D(ricci::cpu());
    tensor<float, 3, dyn> F(4, ricci::cpu());
    const ricci::index<"row"> row;
    const auto s = captured([&] { D(1, 0, 4 * t + u(0, 4), row(0, 3) + 1) = F(row, u) * D(0, 2, t(0, 2), 5 - row); });
    CHECK(label_names(s) == strings{"t", "u", "row"});
    CHECK(positions_of(s, 0) == strings{"1", "0", "4*t + 1*u + 0", "1*row + 1"});
    CHECK(positions_of(s, 1) == strings{"1*row + 0", "1*u + 0"});
    CHECK(positions_of(s, 2) == strings{"0", "2", "1*t + 0", "-1*row + 5"});
    CHECK((s.labels[0].begin == 0 && s.labels[0].end == 2));
    CHECK((s.labels[1].begin == 0 && s.labels[1].end == 4));
    CHECK((s.labels[2].begin == 0 && s.labels[2].end == 3));
    CHECK(s.positions[5].extent == 4); // F's run-time extent
    CHECK(s.positions[5].stride == 3);
}

TEST_CASE("an affine position that comes out as a plain index is told from one") {
    tensor<double, 6> A(ricci::cpu());
    tensor<double, 4> B(ricci::cpu());
    const int d = 0;
    const auto s = captured([&] { B(i) = A(i + d) + A(1 * i(0, 4)) + A(i - d); });
    CHECK(s.positions[0].term_count == 1);
    for (std::size_t p = 1; p < 4; ++p) {
        CHECK(s.positions[p].term_count == 2);
        CHECK(s.terms[static_cast<std::size_t>(s.positions[p].first_term) + 1].coefficient == 0);
    }
}

TEST_CASE("padded accesses") {
    tensor<float, 1, 3, 8, 8> D(ricci::cpu());
    const tensor<float, 2, 3, 3, 3> F(ricci::cpu());
    tensor<float, 1, 2, 8, 8> O(ricci::cpu());
    const auto conv = captured([&] { O(b, k, y, x) = padded(D)(b, c, y + r - 1, x + s - 1) * F(k, c, r, s); });
    CHECK((!conv.accesses[0].padded && conv.accesses[1].padded && !conv.accesses[2].padded));
    CHECK(positions_of(conv, 1) == strings{"1*b + 0", "1*c + 0", "1*y + 1*r + -1", "1*x + 1*s + -1"});
    CHECK(label_names(conv) == strings{"b", "k", "y", "x", "c", "r", "s"});
    CHECK(captured([&] { padded(D)(b, 0, y + 4, x - 4) = O(b, 0, y, x); }).accesses[0].padded);
    const ricci::view<float, 4> v = D;
    CHECK(captured([&] { O(b, k, y, x) = padded(v)(b, k, y - 1, x); }).accesses[1].padded);
}

TEST_CASE("the element types") {
    tensor<ricci::half, 2> h(ricci::cpu());
    tensor<ricci::bfloat16, 2> bf(ricci::cpu());
    tensor<std::complex<float>, 2> c64(ricci::cpu());
    tensor<std::complex<double>, 2> c128(ricci::cpu());
    const auto s = captured([&] { c128(i) = h(i) * bf(i) * c64(i); });
    const scalar_type expected[] = {scalar_type::c128, scalar_type::f16, scalar_type::bf16, scalar_type::c64};
    for (std::size_t n = 0; n < 4; ++n) CHECK(s.accesses[n].type == expected[n]);
}

TEST_CASE("rank 0, and up to 32 axes") {
    tensor<double> x0(ricci::cpu());
    tensor<double, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 7>
        big(ricci::cpu());
    const auto s = captured([&] {
        x0() = big(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, i);
    });
    CHECK(s.accesses[0].position_count == 0);
    CHECK(s.accesses[1].position_count == 32);
    CHECK(label_names(s) == strings{"i"});
}

TEST_CASE("the same range may be written twice, two different ones may not") {
    tensor<double, 9> A(ricci::cpu()), B(ricci::cpu());
    CHECK(captured([&] { A(i(1, 3)) = B(i(1, 3)); }).labels[0].end == 3);
    CHECK_THROWS_WITH(captured([&] { A(i(1, 3)) = B(i(2, 3)); }),
                      "index i has two ranges in one statement: (1, 3) and (2, 3)\n  in A(i(1, 3)) = B(i)");
    // The thread's statement is whole again afterwards.
    CHECK(captured([&] { A(j) = B(j); }).labels.size() == 1);
}

TEST_CASE("an access assigned to one of the same type is a statement") {
    tensor<double, 9> A(ricci::cpu()), B(ricci::cpu());
    const auto s = captured([&] { A(i) = B(i); });
    CHECK(s.accesses[0].data == A.data());
    CHECK(s.accesses[1].data == B.data());
}

TEST_CASE("a warm capture keeps the memory of the thread's statement") {
    tensor<double, 9, 9> A(ricci::cpu());
    const void* first = nullptr;
    for (int round = 0; round < 3; ++round) {
        const ricci::runtime::collecting scope([&](const ricci::lowering::statement& s) {
            if (round > 0) CHECK(static_cast<const void*>(s.positions.data()) == first);
            first = s.positions.data();
        });
        A(i, j) += 2 * A(i, k) * A(k, j);
    }
}
