// parse_test: what a text means, and what is said of a wrong one.
#include "dsl/text.hpp"
#include "tests/catch.hpp"
#include "tests/text/message.hpp"

#include <fmt/format.h>

#include <string>

using namespace ricci;
using ricci::tests::message;

namespace {

std::string dump_access(const lowering::statement& s, const lowering::access& a);

std::string dump_position(const lowering::statement& s, const lowering::position& p) {
    if (p.is_gathered())
        return (p.distinct ? "distinct "
                : p.atomic ? "atomic "
                           : "") +
               dump_access(s, s.accesses[static_cast<std::size_t>(p.table)]);
    std::string text;
    for (std::int32_t t = 0; t < p.term_count; ++t) {
        const auto& term = s.terms[static_cast<std::size_t>(p.first_term + t)];
        text += fmt::format("{}{}+", term.coefficient, s.labels[static_cast<std::size_t>(term.label)].name);
    }
    return text + fmt::format("{}", p.offset);
}

std::string dump_access(const lowering::statement& s, const lowering::access& a) {
    std::string text = fmt::format("{}{}[", a.padded ? "padded " : "", a.name);
    for (std::int32_t i = 0; i < a.position_count; ++i)
        text += (i ? ", " : "") + dump_position(s, s.positions[static_cast<std::size_t>(a.first_position + i)]);
    return text + "]";
}

std::string dump_node(const lowering::statement& s, std::int32_t n) {
    const auto [kind, a, b] = s.nodes[static_cast<std::size_t>(n)];
    constexpr const char* names[] = {"",     "",     "+",   "-",    "*",   "/",   "neg",
                                     "conj", "relu", "exp", "sqrt", "abs", "min", "max"};
    if (kind == lowering::operation::access) return dump_access(s, s.accesses[static_cast<std::size_t>(a)]);
    if (kind == lowering::operation::scalar) {
        const auto& x = s.scalars[static_cast<std::size_t>(a)];
        return x.complex ? fmt::format("{}i", x.imaginary) : fmt::format("{}", x.real);
    }
    const std::string head = fmt::format("({} {}", names[static_cast<int>(kind)], dump_node(s, a));
    return b < 0 ? head + ")" : head + " " + dump_node(s, b) + ")";
}

/// "A[1i+0] += (* B[] 2) i:[0,3)": everything that the parser found.
std::string dump(const text_statement& t) {
    const auto& s = t.unbound;
    constexpr const char* ops[] = {"=", "+=", "-="};
    std::string text = fmt::format("{} {} {}", dump_access(s, s.accesses[0]), ops[static_cast<int>(s.op)],
                                   dump_node(s, static_cast<std::int32_t>(s.nodes.size()) - 1));
    for (const auto& l : s.labels)
        if (l.has_range()) text += fmt::format(" {}:[{},{})", l.name, l.begin, l.end);
    return text;
}

std::string parsed(std::string_view text) {
    const auto statements = parse_text(text);
    REQUIRE(statements.size() == 1);
    return dump(statements[0]);
}

} // namespace

TEST_CASE("a text becomes the tree that it spells") {
    const std::pair<const char*, const char*> table[] = {
        {"C(i,j) = A(i,k)*B(k,j)", "C[1i+0, 1j+0] = (* A[1i+0, 1k+0] B[1k+0, 1j+0])"},
        {"A(i, j, m(1, 9), n(1, 8)) -= A(i, k, m, 0) * A(k, j, 0, n)",
         "A[1i+0, 1j+0, 1m+0, 1n+0] -= (* A[1i+0, 1k+0, 1m+0, 0] A[1k+0, 1j+0, 0, 1n+0]) m:[1,9) n:[1,8)"},
        {"s() = x(i)*y(i)", "s[] = (* x[1i+0] y[1i+0])"},
        {"s=x", "s[] = x[]"},
        {"t() += A(3, 4, 0, 1)", "t[] += A[3, 4, 0, 1]"},
        {"O(b,k,y,x) = relu(D(b,c,y+r,x+s)*F(k,c,r,s) + bias(k))",
         "O[1b+0, 1k+0, 1y+0, 1x+0] = (relu (+ (* D[1b+0, 1c+0, 1y+1r+0, 1x+1s+0] F[1k+0, 1c+0, 1r+0, 1s+0]) "
         "bias[1k+0]))"},
        {"O(y) = padded(D)(y + r - 1)*F(r)", "O[1y+0] = (* padded D[1y+1r+-1] F[1r+0])"},
        {"padded(O)(2*y-1) = D(y)", "padded O[2y+-1] = D[1y+0]"},
        {"A(4*t+u, v) = B(t*4, -x + 5, 2*3*u - 7, +w)", "A[4t+1u+0, 1v+0] = B[4t+0, -1x+5, 6u+-7, 1w+0]"},
        {"A(i+i, j-2+j+3) = 1", "A[2i+0, 2j+1] = 1"},
        {"A(el(-3, 5), -el) = 0", "A[1el+0, -1el+0] = 0 el:[-3,5)"},
        {"A(i(0,4)) = B(2*i(0,4)+1)", "A[1i+0] = B[2i+1] i:[0,4)"},
        {"A(i+0, 1*j, +k) = B(i)", "A[1i+0i+0, 1j+0j+0, 1k+0] = B[1i+0]"},
        {"A(i-i, 0*j+2) = B(i)", "A[0i+0, 0j+2] = B[1i+0]"},
        {"A(9223372036854775807) = 1", "A[9223372036854775807] = 1"},
        {"A(i) = B(i) - C(i) - D(i)", "A[1i+0] = (- (- B[1i+0] C[1i+0]) D[1i+0])"},
        {"A(i) = B(i)/C(i)*2", "A[1i+0] = (* (/ B[1i+0] C[1i+0]) 2)"},
        {"A(i) = B(i) + C(i)*D(i)", "A[1i+0] = (+ B[1i+0] (* C[1i+0] D[1i+0]))"},
        {"A(i) = (B(i) + C(i))*-D(i)", "A[1i+0] = (* (+ B[1i+0] C[1i+0]) (neg D[1i+0]))"},
        {"A(i) = --+B(i)", "A[1i+0] = (neg (neg B[1i+0]))"},
        {"A(i) = min(max(B(i), -1.5e-3), conj(sqrt(abs(exp(C(i))))))",
         "A[1i+0] = (min (max B[1i+0] (neg 0.0015)) (conj (sqrt (abs (exp C[1i+0])))))"},
        {"A(i) = .5*B(i) + 1. + 2E2 + 2.5i", "A[1i+0] = (+ (+ (+ (* 0.5 B[1i+0]) 1) 200) 2.5i)"},
        {"A(i)=2i*i(i)", "A[1i+0] = (* 2i i[1i+0])"},
        {"exp1(min) = expo(min)", "exp1[1min+0] = expo[1min+0]"},
        {"\n A ( i )\t=\r\n B ( i ) # the rest; of = the line(\n + C(i) // and this ;\n",
         "A[1i+0] = (+ B[1i+0] C[1i+0])"},
        {";;A(i) = B(i);;", "A[1i+0] = B[1i+0]"},
        {"C(i,j,e) += A(i, p(e), k)*B(q(2*e-1, 3), r (k(0,3)))",
         "C[1i+0, 1j+0, 1e+0] += (* A[1i+0, p[1e+0], 1k+0] B[q[2e+-1, 3], r[1k+0]]) k:[0,3)"},
        {"C(atomic(p)(e)) += x(e)", "C[atomic p[1e+0]] += x[1e+0]"},
        {"C(i, distinct ( p ) (e), q(f,2)) = C(0,p(e),f) + m(m(1,9))",
         "C[1i+0, distinct p[1e+0], q[1f+0, 2]] = (+ C[0, p[1e+0], 1f+0] m[1m+0]) m:[1,9)"},
    };
    for (const auto& [text, expected] : table) {
        CAPTURE(text);
        CHECK(parsed(text) == expected);
    }
}

TEST_CASE("a program is cut at semicolons and numbered") {
    const auto statements = parse_text("A(i) = B(i); ; C(j) += A(j) # ; no end\n; D() -= C(0);");
    REQUIRE(statements.size() == 3);
    CHECK(dump(statements[1]) == "C[1j+0] += A[1j+0]");
    CHECK(statements[1].source == "C(j) += A(j)");
    CHECK(statements[2].number == 3);
    CHECK(statements[2].left() == "D");
}

TEST_CASE("limits are the documented ones") {
    std::string positions = "i0", factors = "A(i0)", terms = "i0";
    for (int n = 1; n < lowering::max_axes; ++n) positions += fmt::format(",i{}", n), terms += fmt::format("+i{}", n);
    for (int n = 1; n < lowering::max_operands; ++n) factors += "*A(i0)";
    CHECK_NOTHROW(parse_text(fmt::format("C({}) = A({})", positions, positions)));
    CHECK_NOTHROW(parse_text("C(i0) = " + factors));
    CHECK_NOTHROW(parse_text(fmt::format("C({}) = 1", terms)));
    CHECK_THAT(message(fmt::format("C(i0) = A({},j)", positions)), Catch::Contains("more than 32 positions"));
    CHECK_THAT(message(fmt::format("C(i0) = {}*A(i0)", factors)),
               Catch::Contains("more than 64 accesses on the right side"));
    CHECK_THAT(message(fmt::format("C({}+j) = 1", terms)), Catch::Contains("more than 32 indices in a position"));
}

TEST_CASE("nesting and length never run out of stack") {
    const auto repeat = [](int n, std::string_view s) {
        std::string text;
        while (n-- > 0) text += s;
        return text;
    };
    CHECK_NOTHROW(parse_text("C(i) = " + repeat(90, "(") + "A(i)" + repeat(90, ")")));
    const char* const deep = "nested more than 100 deep";
    CHECK_THAT(message("C(i) = " + repeat(100'000, "(")), Catch::Contains(deep));
    CHECK_THAT(message("C(i) = " + repeat(100'000, "-") + "1"), Catch::Contains(deep));
    CHECK_THAT(message("C(i) = " + repeat(100'000, "exp(") + "1"), Catch::Contains(deep));
    CHECK_THAT(message("C(i) = " + repeat(100'000, "max(1,") + "1"), Catch::Contains(deep));
    CHECK_THAT(message("C(i) = 1" + repeat(100'000, "+1")), Catch::Contains("too long: more than 1000"));
    CHECK_THAT(message("C(" + repeat(100'000, "i,") + "i) = 1"), Catch::Contains("more than 32 positions"));
    CHECK(message(repeat(100'000, "A(i)=B(i);")) == "accepted");
    CHECK(message(repeat(100'000, "(")).size() < 400);
}

TEST_CASE("a message names the statement, the column and what was expected") {
    CHECK(message("C(i,j) = A(i,*)*B(k,j)") == "statement 1, column 14: expected an index or an integer, found '*'\n"
                                               "    C(i,j) = A(i,*)*B(k,j)\n"
                                               "                 ^");
    CHECK(message("A(i) = B(i);\n  C(i) = (A(i) + 1 ; D(i) = 2") ==
          "statement 2, column 17: expected an operator or ')', found the end\n"
          "    C(i) = (A(i) + 1\n"
          "                    ^");

    const std::pair<std::string, const char*> table[] = {
        {"", "no statement"},
        {" ;; # nothing", "no statement"},
        {"A", "column 2: expected '=', '+=' or '-=', found the end"},
        {"= B(i)", "column 1: expected the name of a tensor, found '='"},
        {"3 = B(i)", "column 1: expected the name of a tensor, found '3'"},
        {"A(i) *= B(i)", "column 6: expected '=', '+=' or '-=', found '*'"},
        {"A(i) == B(i)", "column 7: expected a tensor, a number or '(', found '='"},
        {"A(i) =", "column 7: expected a tensor, a number or '(', found the end"},
        {"A(i) = B(i) C(i)", "column 13: expected an operator or the end of the statement, found 'C'"},
        {"A(i) = B(i))", "column 12: expected an operator or the end of the statement, found ')'"},
        {"A(i) = 2B(i)", "column 9: expected an operator behind the number, found 'B'"},
        {"A(i) = 2ix", "column 10: expected an operator behind the number, found 'x'"},
        {"A(i) = 1.2.3", "column 11: expected an operator behind the number, found '.'"},
        {"A(i) = 0x10", "column 9: expected an operator behind the number, found 'x'"},
        {"A(i) = .", "column 8: expected a number, found '.'"},
        {"A(i) = 1e999", "column 8: the number does not fit in a double"},
        {"A(i = B(i)", "column 5: expected ',' or ')', found '='"},
        {"A(i,) = B(i)", "column 5: expected an index or an integer, found ')'"},
        {"A(,i) = B(i)", "column 3: expected an index or an integer, found ','"},
        {"A(i j) = B(i)", "column 5: expected ',' or ')', found 'j'"},
        {"A(i+) = B(i)", "column 5: expected an index or an integer, found ')'"},
        {"A(i*j) = B(i)", "column 5: a position must be affine in its indices: this is a product of two"},
        {"A(2*(i+1)) = B(i)", "column 5: expected an index or an integer, found '('"},
        {"A(1.5) = B(i)", "column 3: expected an integer or an index, found a number"},
        {"A(2i) = B(i)", "column 3: expected an integer or an index, found a number"},
        {"A(9223372036854775808) = 1", "column 3: the integer does not fit in 64 bits"},
        {"A(4294967296*4294967296*i) = 1", "column 3: the position does not fit in 64 bits"},
        {"A(9223372036854775807+1) = 1", "column 23: the position does not fit in 64 bits"},
        {"A(9223372036854775807*i + i) = 1", "column 27: the position does not fit in 64 bits"},
        {"A(m(1)) = 1", "column 6: expected ',': the range of an index is written m(begin, end), found ')'"},
        {"A(m(1,9,2)) = 1", "column 8: expected ')', found ','"},
        {"A(m(5,3)) = 1", "column 3: the range of 'm' ends before it begins: [5, 3)"},
        {"A(m(1,9)) = B(m(1,8))", "column 15: index 'm' has two ranges: [1, 9) and [1, 8)"},
        {"exp(i) = B(i)", "column 1: 'exp' is a function; it cannot be assigned to"},
        {"A(i) = exp", "column 11: expected '(' and the function's argument, found the end"},
        {"A(i) = exp(B(i), C(i))", "column 16: expected an operator or ')', found ','"},
        {"A(i) = min(B(i))", "column 16: expected an operator, or ',' and the second argument, found ')'"},
        {"A(i) = padded(i)", "column 17: expected '(' and the positions, found the end"},
        {"A(i) = padded(exp)(i)", "column 15: 'exp' cannot name a tensor"},
        {"A(i) = padded(2)(i)", "column 15: expected the name of a tensor, found '2'"},
        {"A(i) = B(i) $ 2", "column 13: expected an operator or the end of the statement, found '$'"},
        {"A(i) = \xc3\xa4", "column 8: expected a tensor, a number or '(', found '\xc3\xa4'"},
        {"A(i) = \xc3(", "column 8: expected a tensor, a number or '(', found byte 0xc3"},
        {"A(i) = log(x(i))", "column 8: 'log' is no function; there are conj, relu, exp, sqrt, abs, min, max"},
        {"A(i) = B(i) + 2*sin ( 0.5*x ( 0,j ) )", "column 17: 'sin' is no function"},
        {"A(i) = paded(x)(i - 1)", "column 8: 'paded' is no function of a tensor; there is padded"},
        {"paded(A)(i) = x(i)", "column 1: 'paded' is no function of a tensor"},
        {"A(i) = pow(exp(x(i)), 2)", "column 8: 'pow' is no function"},
        {"A(i) = exp(tan(s()))", "column 12: 'tan' is no function"},
        {"A(i) = x(p(q(i)))", "column 12: the positions of an index table cannot be gathered themselves"},
        {"A(i) = x(p(i)+1)",
         "column 14: expected ',' or ')': the entry of an index table is a position by itself, found '+'"},
        {"A(i) = x(2*p(i))",
         "column 14: expected an integer: the range of an index is written m(begin, end), found 'i'"},
        {"A(atomic(2)) += x(i)", "column 10: expected the name of an index table: atomic(p)(e), found '2'"},
        {"A(i) = x(distinct(p))", "column 21: expected '(' and the positions, found ')'"},
        {"A(i) = B(m(1))", "column 13: expected ',': the range of an index is written m(begin, end), found ')'"},
        {"A(i,j) = B(i,k*C(k,j)", "column 16: a position must be affine in its indices"},
        {std::string("A(i) = B(\0i)", 12), "column 10: expected an index or an integer, found byte 0x00"},
    };
    for (const auto& [text, expected] : table) {
        CAPTURE(text);
        CHECK_THAT(message(text), Catch::Contains(expected));
    }
}

TEST_CASE("characters of UTF-8 are shown as they are, and counted") {
    CHECK(message("\xc3\xa4\xe2\x82\xac = 1") == "statement 1, column 1: expected the name of a tensor, found "
                                                 "'\xc3\xa4'\n    \xc3\xa4\xe2\x82\xac = 1\n    ^");
    CHECK(message("A(i) = B(\xf0\x9f\x98\x80) $") ==
          "statement 1, column 10: expected an index or an integer, found '\xf0\x9f\x98\x80'\n"
          "    A(i) = B(\xf0\x9f\x98\x80) $\n             ^");
    try {
        fail_in_text("\xc3\xa4\xc3\xa4 x", 1, 5, "m");
    } catch (const error& e) {
        CHECK(std::string(e.what()) == "statement 1, column 4: m\n    \xc3\xa4\xc3\xa4 x\n       ^");
    }
    // Overlong, surrogate, beyond Unicode, a control character, cut short
    for (const char* bad : {"\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc2\x9b", "\xe2\x82"}) {
        CAPTURE(bad);
        const std::string said = message(std::string("A = ") + bad);
        CHECK_THAT(said, Catch::Contains("found byte 0x") && Catch::Contains("    A = ??"));
    }
}

TEST_CASE("a long statement is shown around its mistake, bytes that cannot be printed as ?") {
    std::string text = "C(i) = A(i)";
    for (int n = 0; n < 100; ++n) text += " + 1";
    const std::string said = message(text + " + \xff\n" + text);
    CHECK_THAT(said, Catch::Contains("found byte 0xff\n    ..."));
    CHECK_THAT(said, Catch::Contains("+ ? C(i)"));
    const auto caret = said.find('^', said.rfind('\n')), line = said.rfind('\n', said.rfind('\n') - 1);
    CHECK(said[line + (caret - said.rfind('\n'))] == '?');
}

TEST_CASE("a tensor's name is an identifier and no function") {
    for (const char* good : {"A", "_", "a1", "Exp", "i"}) CHECK(is_text_name(good));
    for (const char* bad : {"", "1a", "a-b", "exp", "padded", "max", "a b", "\xc3\xa4"})
        CHECK_FALSE(is_text_name(bad));
}
