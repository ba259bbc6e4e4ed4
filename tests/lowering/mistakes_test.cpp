// mistakes_test: every mistake lowering finds has a message that names the operand, the index and the two values.
#include "lowering/error.hpp"
#include "lowering/lower.hpp"
#include "tests/catch.hpp"
#include "tests/bound_text.hpp"

#include <string>

namespace {

using namespace ricci::tests;

struct mistake {
    const char* statement;
    const char* operands;
    const char* says;
};

constexpr mistake mistakes[] = {
    {"C(i,j) = A(i,k)*B(k,j)", "C=f64[3,4] A=f64[3,8] B=f64[9,4]",
     "index k has extent 8 in position 2 of A and 9 in position 1 of B"},
    {"C(i) = A(i)", "C=f64[3] A=f64[4]", "index i has extent 3 in position 1 of C and 4 in position 1 of A"},
    {"C(i(1,9)) = A(i)", "C=f64[9] A=f64[8]",
     "the range (1, 9) of index i leaves position 1 of A, whose extent is 8"},
    {"C(i(-1,3)) = A(i)", "C=f64[9] A=f64[8]", "the range (-1, 3) of index i leaves position 1 of C"},
    {"C(i) = A(i,9)", "C=f64[3] A=f64[3,9]", "position 2 of A is fixed at 9, but its extent is 9"},
    {"C(i) = A(i,-1)", "C=f64[3] A=f64[3,9]", "position 2 of A is fixed at -1, but its extent is 9"},
    {"O(y) = D(y+r)*F(r)", "O=f64[10] D=f64[11] F=f64[3]", "position 1 of D runs from 0 to 11, but its extent is 11"},
    {"O(y) = D(y-1)", "O=f64[10] D=f64[11]", "position 1 of D runs from -1 to 8, but its extent is 11"},
    {"s() = D(2*y)", "s=f64[] D=f64[11]", "nothing bounds index y"},
    {"A(i,j) = B(i)", "A=f64[3:1,4:0] B=f64[3]", "A(i, j) is written more than once"},
    {"P(y+x) = B(y,x)", "P=f64[20] B=f64[4,4]", "P(y + x) is written more than once"},
    {"A(i,j) = B(i,j)", "A=f64[5:1,5:3] B=f64[5,5]", "is written more than once"},
    {"C(i) = A(i)", "C=f64[3] A=c64[3]", "the right side is complex, C is f64"},
    {"C(i) = 2i*A(i)", "C=f64[3] A=f64[3]", "the right side is complex, C is f64"},
    {"C(i) = relu(A(i))", "C=c64[3] A=c64[3]", "relu of a complex value"},
    {"C(i) = max(A(i), B(i))", "C=c64[3] A=c64[3] B=f64[3]", "max of a complex value"},
    {"C(i) = A(i)", "C=f64[3] A=f64[-1]", "extent -1"},
    {"C(i) = A(i,j,k)", "C=f64[4] A=f64[4,4000000000,4000000000]", "does not fit 64 bits"},
    {"C(i) = A(i)", "C=f64[4] A=f64[4:4000000000000000000]", "does not fit 64 bits"},
    {"C(i,e) = A(i,p(e))", "C=f64[3,4] A=f64[3,8] p=i32[5]",
     "index e has extent 4 in position 2 of C and 5 in position 1 of p"},
    {"C(i,e) = A(i,p(e))", "C=f64[3,4] A=f64[3,8] p=f64[4]",
     "p stands in position 2 of A as an index table, but its elements are f64; they must be i32 or i64"},
    {"C(i,e) = A(i,p(e+1))", "C=f64[3,4] A=f64[3,8] p=i32[4]",
     "position 1 of p runs from 1 to 4, but its extent is 4"},
    {"C(i,p(e)) = A(i,e)", "C=f64[3,8] A=f64[3,5] p=i32[5]",
     "position 2 of C, on the left of =, takes its values from p: where two are equal an element would be written "
     "twice; += and -= add up what equal entries get; if all differ, write distinct(p) there"},
    {"C(i,atomic(p)(e)) = A(i,e)", "C=f64[3,8] A=f64[3,5] p=i32[5]", "+= and -= add up what equal entries get"},
    {"C(i,p(e)) += A(i,e)", "C=f64[3:1,8:2] A=f64[3,5] p=i32[5]",
     "C(i, p(e)) is written more than once in an element: different values of i collide"},
    {"C(p(e),distinct(q)(f+g)) += A(f,g)", "C=f64[3,8] A=f64[2,3] p=i32[5] q=i32[4]",
     "different values of f, g read the same entry of q"},
    {"C(p(e),i) -= A(e,i)", "C=f64[3,8:0] A=f64[5,8] p=i32[5]", "different values of i collide"},
    {"C(p(e)) += A(e)", "C=f64[8] A=f64[5] p@C=i32[5]", "p shares memory with C, which is written"},
    {"C(i,distinct(p)(e+f)) = A(i,e,f)", "C=f64[3,8] A=f64[3,2,2] p=i32[3]",
     "different values of e, f read the same entry of p"},
    {"C(i,distinct(p)(e)) = A(i,e,f)*B(f)", "C=f64[3:1,8:2] A=f64[3,5,2] B=f64[2] p=i32[5]",
     "C(i, distinct(p)(e)) is written more than once"},
    {"C(i) = 2*p(i)", "C=f64[3] p=i64[3]", "p holds integers (i64), with which nothing computes"},
    {"p(i) = A(i)", "A=f64[3] p=i32[3]", "p holds integers (i32), with which nothing computes"},
    {"C(e) = padded(A)(p(e))", "C=f64[3] A=f64[9] p=i32[3]", "position 1 of A is gathered by p, and A is padded"},
    {"C(i,e) += A(i,p(e))", "C=f64[3,4] A=f64[3,8] p@C=i32[4]", "p shares memory with C, which is written"},
};

} // namespace

TEST_CASE("mistakes are refused with a message") {
    for (const auto& m : mistakes) {
        const auto s = bound_text(m.statement, m.operands);
        INFO(m.statement << " with " << m.operands);
        std::string message;
        try {
            ricci::lowering::lower(s, some_cpu());
        } catch (const ricci::error& e) {
            message = e.what();
            CHECK(e.blame() == ricci::blame::statement);
        }
        CHECK_THAT(message, Catch::Contains(m.says) && Catch::Contains("\n  in "));
    }
}

TEST_CASE("null data and mixed devices are refused") {
    auto s = bound_text("C(i) = A(i)", "C=f64[3] A=f64[3]");
    s.accesses[1].data = nullptr;
    CHECK_THROWS_WITH(ricci::lowering::lower(s, some_cpu()), Catch::Contains("A has no memory"));
    s = bound_text("C(i) = A(i)", "C=f64[3] A=f64[3]");
    s.accesses[1].device = 1;
    CHECK_THROWS_WITH(ricci::lowering::lower(s, some_cpu()), Catch::Contains("C lives on cpu, A on cuda:0"));
}

TEST_CASE("a reversed range is refused") { // the text parser finds it earlier
    auto s = bound_text("C(i(3,5)) = A(i)", "C=f64[9] A=f64[9]");
    std::swap(s.labels[0].begin, s.labels[0].end);
    CHECK_THROWS_WITH(ricci::lowering::lower(s, some_cpu()),
                      Catch::Contains("the range (5, 3) of index i is reversed"));
}

TEST_CASE("null data of no elements is fine") {
    auto s = bound_text("C(i) = A(i)", "C=f64[0] A=f64[0]");
    s.accesses[0].data = s.accesses[1].data = nullptr;
    CHECK_NOTHROW(ricci::lowering::lower(s, some_cpu()));
}

TEST_CASE("one memory under two shapes has two names in messages") {
    auto s = bound_text("C(i) = A(i)", "C=f64[3] A=f64[2]");
    s.accesses[1].data = s.accesses[0].data;
    for (auto& a : s.accesses) a.name = {};
    CHECK_THROWS_WITH(ricci::lowering::lower(s, some_cpu()),
                      Catch::Contains("index i has extent 3 in position 1 of A and 2 in position 1 of B") &&
                          Catch::Contains("A(i) = B(i)"));
}

TEST_CASE("an element that is written twice: the message names the index") {
    CHECK_THROWS_WITH(
        ricci::lowering::lower(bound_text("C(0*i(0,3),j) = A(j)", "C=f64[2,4] A=f64[4]"), some_cpu()),
        Catch::Contains(
            "C(0*i(0, 3), j) is written more than once in an element: it is the same for all 3 values of index i"));
    CHECK_THROWS_WITH(ricci::lowering::lower(bound_text("C(i+j(0,3)) = A(i)", "C=f64[6] A=f64[4]"), some_cpu()),
                      Catch::Contains("different values of its indices i, j collide"));
}

TEST_CASE("a right side of more than 64 accesses is refused") {
    auto s = bound_text("C(i) = A(i)", "C=f64[3] A=f64[3]");
    while (s.accesses.size() < 66) {
        s.accesses.push_back(s.accesses[1]);
        const auto last = s.add(ricci::lowering::operation::access, static_cast<std::int32_t>(s.accesses.size()) - 1);
        s.add(ricci::lowering::operation::add, last - 1, last);
        if (s.accesses.size() == 65) CHECK_NOTHROW(ricci::lowering::lower(s, some_cpu()));
    }
    CHECK_THROWS_WITH(ricci::lowering::lower(s, some_cpu()),
                      Catch::Contains("65 operands on the right side; at most 64 are possible"));
}

TEST_CASE("a product that distributes into too many terms is refused") {
    std::string sum = "(a(i,k) + 1)", product = sum;
    for (int n = 0; n < 11; ++n) product += "*" + sum;
    const auto s = bound_text("C(i) = " + product, "C=f64[3] a=f64[3,4]");
    CHECK_THROWS_WITH(ricci::lowering::lower(s, some_cpu()), Catch::Contains("distributes into"));
}
