// bind_test: operands in a statement, and what a left side that does not exist becomes.
#include "dsl/text.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

using namespace ricci;
using lowering::scalar_type;

namespace {

text_operand dense(std::string name, std::vector<std::int64_t> extents, scalar_type type = scalar_type::f64) {
    text_operand o{std::move(name), type, std::move(extents), {}};
    std::int64_t stride = 1;
    for (const std::int64_t extent : o.extents)
        o.strides.push_back(stride), stride *= std::max<std::int64_t>(extent, 1);
    return o;
}

/// The left side made for `text`: "f64[3,4]", with the ranges written into the statement: " y:[0,3)".
std::string created(std::string_view text, const std::vector<text_operand>& operands) {
    auto statements = parse_text(text);
    REQUIRE(statements.size() == 1);
    const text_operand o = create_left(statements[0], operands);
    CHECK(o.name == statements[0].left());
    CHECK(o.data == nullptr);
    CHECK(o.strides == dense("", o.extents).strides);
    std::string result = fmt::format("{}[{}]", lowering::name_of(o.type), fmt::join(o.extents, ","));
    for (const auto& l : statements[0].unbound.labels)
        if (l.has_range()) result += fmt::format(" {}:[{},{})", l.name, l.begin, l.end);
    return result;
}

std::string message(std::string_view text, const std::vector<text_operand>& operands) {
    try {
        return "accepted: " + created(text, operands);
    } catch (const error& e) {
        return e.what();
    }
}

} // namespace

TEST_CASE("operands fill a statement in") {
    double memory[24];
    auto a = dense("A", {2, 3, 4});
    a.strides = {12, -4, 1};
    a.data = memory + 8;
    a.device = 2;
    const std::vector operands{dense("unused", {7}), a, dense("C", {2, 3}, scalar_type::f16)};
    const auto s = bind_text(parse_text("C(i,j) += A(i,j,3)")[0], operands);
    CHECK(s.op == lowering::assignment::add);
    REQUIRE(s.accesses.size() == 2);
    CHECK(s.accesses[0].type == scalar_type::f16);
    CHECK(s.accesses[1].data == memory + 8);
    CHECK(s.accesses[1].device == 2);
    REQUIRE(s.positions.size() == 5);
    CHECK(s.positions[3].extent == 3);
    CHECK(s.positions[3].stride == -4);
    CHECK(s.positions[4].offset == 3);
}

TEST_CASE("a name or a number of positions that does not fit is refused") {
    const std::vector operands{dense("A", {2, 3}), dense("s", {})};
    const auto refused = [&](std::string_view text) {
        try {
            bind_text(parse_text(text)[0], operands);
        } catch (const error& e) {
            return std::string(e.what());
        }
        return std::string("accepted");
    };
    CHECK(refused("A(i,j) = B(i,j)") ==
          "statement 1, column 10: there is no tensor 'B'\n    A(i,j) = B(i,j)\n             ^");
    CHECK_THAT(refused("A(i,j) = 2*A(i)"), Catch::Contains("column 12: 'A' has 2 axes, not 1\n"));
    CHECK_THAT(refused("s(i) = A(i,i)"), Catch::Contains("column 1: 's' has 0 axes, not 1\n"));
    CHECK_THAT(refused("s = A"), Catch::Contains("column 5: 'A' has 2 axes, not 0\n"));
}

TEST_CASE("a new left side has the upper ends of its indices' ranges") {
    const std::vector operands{dense("A", {4, 5}), dense("B", {5, 6}), dense("x", {9}), dense("E", {0, 3})};
    CHECK(created("C(i,j) = A(i,k)*B(k,j)", operands) == "f64[4,6]");
    CHECK(created("C(j,i) = A(i,k)*B(k,j)", operands) == "f64[6,4]");
    CHECK(created("C() = A(i,k)*A(i,k)", operands) == "f64[]");
    CHECK(created("C(i,i) = x(i)", operands) == "f64[9,9]");
    CHECK(created("C(i(2,7)) = x(i)", operands) == "f64[7] i:[2,7)");
    CHECK(created("C(i(2,7), j(3,10)) = 1", operands) == "f64[7,10] i:[2,7) j:[3,10)");
    CHECK(created("C(i, j(0,4)) = x(i)", operands) == "f64[9,4] j:[0,4)");
    CHECK(created("C(i,k) = E(i,k)", operands) == "f64[0,3]");
    CHECK(created("C(i(3,3)) = x(i)", operands) == "f64[3] i:[3,3)");
}

TEST_CASE("fixed and affine positions of a new left side reach one beyond their largest value") {
    const std::vector operands{dense("x", {9}), dense("A", {4, 5})};
    CHECK(created("C(i, 3) = x(i)", operands) == "f64[9,4]");
    CHECK(created("C(i + 2) = x(i)", operands) == "f64[11]");
    CHECK(created("C(4*i + j) = A(i,j)", operands) == "f64[17]");
    CHECK(created("C(8 - i) = x(i)", operands) == "f64[9]");
    CHECK(created("C(10 - 2*i(0,4)) = x(i)", operands) == "f64[11] i:[0,4)");
    CHECK(created("C(2*i(3,3)) = x(i)", operands) == "f64[0] i:[3,3)");
    CHECK(created("padded(C)(i - 2) = x(i)", operands) == "f64[7]");
    CHECK(created("padded(C)(i - 20) = x(i)", operands) == "f64[0]");
    CHECK_THAT(message("C(i - 2) = x(i)", operands), Catch::Contains("position 1 of 'C' would be -2, below 0"));
    CHECK_THAT(message("C(0, -1) = 1", operands), Catch::Contains("position 2 of 'C' would be -1, below 0"));
    CHECK_THAT(message("C(i(-2,3)) = 1", operands), Catch::Contains("position 1 of 'C' would be -2, below 0"));
}

TEST_CASE("an index that only affine positions bound runs as far as every position stays inside") {
    const std::vector operands{dense("D", {20}), dense("F", {3}),         dense("G", {6}),
                               dense("E", {0}),  dense("I", {2, 16, 17}), dense("K", {3, 3})};
    CHECK(created("O(y) = D(y+r)*F(r)", operands) == "f64[18] y:[0,18)");
    CHECK(created("O(y,r) = D(y+r)*F(r)", operands) == "f64[18,3] y:[0,18)");
    CHECK(created("O(y) = D(4*y+r)*G(r)", operands) == "f64[4] y:[0,4)"); // 4*3+5 = 17, 4*4+5 = 21
    CHECK(created("O(y) = D(19-y)", operands) == "f64[20] y:[0,20)");
    CHECK(created("O(y) = D(19-3*y-r)*F(r)", operands) == "f64[6] y:[0,6)"); // 19-15-2 = 2
    CHECK(created("O(y) = D(y-r+2)*F(r)", operands) == "f64[18] y:[0,18)");
    CHECK(created("O(y) = D(2*y)*G(y+1)", operands) == "f64[5] y:[0,5)"); // the tighter of 10 and 5
    CHECK(created("O() = D(2*y)", operands) == "f64[] y:[0,10)");
    CHECK(created("O(2*y) = D(y+r)*F(r)", operands) == "f64[35] y:[0,18)");
    CHECK(created("O(c,y,x) = I(c,y+r,x+s)*K(r,s)", operands) == "f64[2,14,15] y:[0,14) x:[0,15)");
    CHECK(created("O(y) = D(y+r(1,4))", operands) == "f64[17] y:[0,17) r:[1,4)");
    CHECK(created("O(y) = F(y+r)*G(r)", operands) == "f64[0] y:[0,0)"); // never inside
    CHECK(created("O(y) = E(2*y)", operands) == "f64[0] y:[0,0)");
    CHECK(created("O(y) = E(1-y)", operands) == "f64[0] y:[0,0)");
    CHECK(created("O(y(0,20)) = padded(D)(y+r-1)*F(r)", operands) == "f64[20] y:[0,20)");
    CHECK(created("O(y) = padded(D)(y+r-1)*F(r)*G(y+1)", operands) == "f64[5] y:[0,5)");
    CHECK(created("O(y) = padded(D)(y)", operands) == "f64[20]");
    // G bounds z to [0, 3), which leaves y alone in D's position
    CHECK(created("O(y,z) = D(y+z)*G(2*z)", operands) == "f64[18,3] y:[0,18) z:[0,3)");
    CHECK(created("O(y) = D(y+z)*G(z+w)*F(2*w)", operands) == "f64[16] y:[0,16) z:[0,5) w:[0,2)");
}

TEST_CASE("an index without a range is refused, and a range is asked for") {
    const std::vector operands{dense("D", {20}), dense("F", {3}), dense("x", {9})};
    CHECK_THAT(message("C(i,j) = x(i)", operands),
               Catch::Contains(
                   "column 5: index 'j' has no range: nothing on the right side bounds it; write j(begin, end)"));
    CHECK_THAT(message("C(i) = 1", operands), Catch::Contains("index 'i' has no range"));
    CHECK_THAT(
        message("O(y,r) = D(y+r)", operands),
        Catch::Contains("index 'y' has no range: it shares a position of 'D' with 'r', which has none either"));
    CHECK_THAT(message("O(y) = padded(D)(y+r-1)*F(r)", operands),
               Catch::Contains("index 'y' has no range: nothing on the right side bounds it"));
    CHECK_THAT(message("O(y) = D(y+r-1)*F(r)", operands),
               Catch::Contains("column 3: index 'y' would run from 0, where a position of 'D' is below 0; "
                               "give it a range, y(begin, end), or use padded(D)"));
    CHECK_THAT(message("O(y) = D(20-y)", operands), Catch::Contains("is beyond its extent 20"));
}

TEST_CASE("a new left side has the promotion of the operands' types") {
    using enum scalar_type;
    const std::vector operands{dense("h", {2}, f16), dense("b", {2}, bf16), dense("f", {2}, f32),
                               dense("d", {2}, f64), dense("c", {2}, c64),  dense("z", {2}, c128)};
    CHECK(created("r(i) = h(i)*h(i)", operands) == "f16[2]");
    CHECK(created("r(i) = h(i)*b(i)", operands) == "f32[2]");
    CHECK(created("r(i) = h(i) + f(i)", operands) == "f32[2]");
    CHECK(created("r(i) = f(i)*c(i)", operands) == "c64[2]");
    CHECK(created("r(i) = c(i)/d(i)", operands) == "c128[2]");
    CHECK(created("r(i) = 2.5*f(i)", operands) == "f32[2]");
    CHECK(created("r(i) = 2i*f(i)", operands) == "c64[2]");
    CHECK(created("r(i) = 2i*d(i)", operands) == "c128[2]");
    CHECK(created("r(i) = z(i)", operands) == "c128[2]");
    CHECK(created("r() = 3", operands) == "f64[]");
    CHECK(created("r() = 3i", operands) == "c128[]");
}

TEST_CASE("what cannot be made is refused") {
    const std::vector operands{dense("x", {9}), dense("huge", {std::int64_t{1} << 40})};
    CHECK_THAT(message("C(i) += x(i)", operands),
               Catch::Contains("'C' does not exist, so nothing can be added to it"));
    CHECK_THAT(message("C(i) -= x(i)", operands), Catch::Contains("'C' does not exist"));
    CHECK_THAT(message("C(i) = C(i) + x(i)", operands), Catch::Contains("column 8: there is no tensor 'C'"));
    CHECK_THAT(message("C(i,j) = huge(i)*huge(j)", operands),
               Catch::Contains("the size of 'C' does not fit in 64 bits"));
    CHECK_THAT(message("C(i(0,4611686018427387904)) = 1", operands), Catch::Contains("does not fit in 64 bits"));
    CHECK_THAT(message("C(9223372036854775807) = 1", operands), Catch::Contains("does not fit in 64 bits"));
    CHECK_THAT(message("C(9223372036854775807*i(0,4)) = 1", operands), Catch::Contains("does not fit in 64 bits"));
    CHECK_THAT(message("C(i) = x(9223372036854775807*i + 9223372036854775807*j(0,3))", operands),
               Catch::Contains("does not fit in 64 bits"));
}
