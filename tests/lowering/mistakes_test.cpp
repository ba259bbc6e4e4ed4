// mistakes_test: every mistake lowering finds has a message that names the operand, the index and the two values.
#include "lowering/error.hpp"
#include "lowering/lower.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

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
    // calls of factorizations and solves
    {"cholesky(A(i,j,e), i, j)", "A=f64[3,4,5]", "cholesky takes square matrices; those of A(i, j, e) are 3 x 4"},
    {"solve(A(i,j,e), i, j, X(j,e))", "A=f64[3,4,5] X=f64[4,5]", "solve takes square matrices"},
    {"inverse(A(i,j,e), i, j)", "A=f64[3,4,5]", "inverse takes square matrices; those of A are 3 x 4"},
    {"inverse(A(j,i,e), i, j)", "A=f64[3,4,5]", "inverse takes square matrices; those of A are 4 x 3"},
    {"lu_solve(A(i,j,e), i, j, p(k,e), X(j,e))", "A=f64[4,3,5] p=i32[4,5] X=f64[3,5]",
     "lu_solve takes square matrices; those of A(i, j, e) are 4 x 3"},
    {"qr(A(i,j,e), i, j)", "A=f16[3,4,5]", "A is f16; the matrices of qr are f32, f64, c64 or c128"},
    {"qr(A(i,j,e), i, j)", "A=i32[3,4,5]", "A is i32; the matrices of qr are f32, f64, c64 or c128"},
    {"tau(k,e) = qr(A(i,j,e), i, j)", "tau=f32[3,5] A=f64[3,4,5]",
     "tau is f32, but A is f64: what qr computes with is of one type"},
    {"tau(k,e) = qr(A(i,j,e), i, j)", "tau=f64[4,5] A=f64[3,4,5]",
     "index k of tau(k, e) runs over 4 values; the matrix, 3 x 4, has 3 reflectors"},
    {"apply_q(A(i,j,e), i, j, tau(e), C(i,e))", "tau=f64[5] A=f64[3,4,5] C=f64[3,5]",
     "tau(e) lacks an index of its own"},
    {"apply_q(A(i,j,e), i, j, tau(k,l,e), C(i,e))", "tau=f64[3,2,5] A=f64[3,4,5] C=f64[3,5]",
     "tau(k, l, e) has two indices that"},
    {"piv(k,e) = lu(A(i,j,e), i, j)", "piv=f64[3,5] A=f64[3,4,5]", "piv is f64; pivots are integers"},
    {"piv(k) = lu(A(i,j,e), i, j)", "piv=i32[3] A=f64[3,4,5]", "piv(k) lacks index e: there are 5 matrices along it"},
    {"info(e) = cholesky(A(i,j,e), i, j)", "info=f64[5] A=f64[3,3,5]", "info is f64; info takes integers"},
    {"info(e,r) = cholesky(A(i,j,e), i, j)", "info=i32[5,2] A=f64[3,3,5]",
     "index r stands neither in the matrix nor in what is solved for"},
    {"info(e) = cholesky(A(i,j,e), i, j)", "info=i32[5:0] A=f64[3,3,5]", "info(e) is written more than once"},
    {"cholesky(A(i,j,e), i, j)", "A=f64[3:1,3:1,5:9]", "A(i, j, e) is written more than once"},
    {"solve(A(i,j,e), i, j, X(i,e))", "A=f64[3,3,5] X=f64[3,5]",
     "X(i, e) lacks index j, along which it is multiplied by A(i, j, e)"},
    {"lu_solve(A(i,j,e), i, j, p(k,e), X(j,e), adjoint)", "A=f64[3,3,5] p=i32[3,5] X=f64[3,5]",
     "X(j, e) lacks index i, along which it is multiplied by the adjoint of A(i, j, e)"},
    {"lu_solve(A(i,j,e), i, j, p(k,e), X(i,j,e), adjoint)", "A=f64[3,3,5] p=i32[3,5] X=f64[3,3,5]",
     "X(i, j, e) has index j, of the matrix's columns, beside i"},
    {"solve(A(i,j,e), i, j, X(j,i,e))", "A=f64[3,3,5] X=f64[3,3,5]", "X(j, i, e) has index i, of the matrix's rows"},
    {"solve(A(i,j,e), i, j, X(j,e))", "A=f64[3,3,5] X=f32[3,5]", "X is f32, but A is f64"},
    {"solve(A(i,j,e), i, j, X(j))", "A=f64[3,3,5] X=f64[3]", "X(j) lacks index e"},
    {"solve(A(i,j,e), i, j, X(j,r,e), B(r,e))", "A=f64[3,3,5] X=f64[3,2,5] B=f64[2,5]",
     "B(r, e) must have one of the indices i and j"},
    {"solve(A(i,j,e), i, j, X(j,e), B(i,e))", "A=f64[3,3,5] X=f64[3,5] B=f64[4,5]",
     "index i has extent 3 in position 1 of A and 4 in position 1 of B"},
    {"qr_solve(A(i,j,e), i, j, tau(k,e), X(j,e), B(i,e))", "A=f64[3,4,5] tau=f64[3,5] X=f64[4,5] B=f64[3,5]",
     "at least as many rows as columns; those of A(i, j, e) are 3 x 4. The smallest solution takes the factors of "
     "the "
     "transpose, qr with rows j and columns i: solve with their triangle, then apply_q; or least_squares, which does "
     "it all"},
    {"least_squares(A(i,j,e), i, j, X(j,e))", "A=f64[3,4,5] X=f64[4,5]",
     "X(j, e) has a value for each of the 4 columns, but there are 3 equations"},
    {"least_squares(A(i,j,e), i, j, X(j,e), B(j,e))", "A=f64[3,4,5] X=f64[4,5] B=f64[4,5]",
     "B(j, e) has a value for each of the 4 columns, but there are 3 equations: give the right-hand sides with index "
     "i"},
    {"least_squares(A(i,j,e), i, j, X(i,e), B(i,e))", "A=f64[3,4,5] X=f64[3,5] B=f64[3,5]", "X(i, e) lacks index j"},
    {"least_squares(A(i,j,e), i, j, X(j,e))", "A=f64[4,3,5] X=f64[3,5]",
     "X(j, e) has a value for each of the 3 columns, but there are 4 equations"},
    {"form_q(A(i,j,e), i, j, tau(k,e), Q(i,l,e))", "A=f64[4,3,5] tau=f64[3,5] Q=f64[4,5,5]",
     "Q has 4 columns; Q(i, l, e) asks for 5"},
    {"form_q(A(i,j,e), i, j, tau(k,e), Q(i,l,s,e))", "A=f64[4,3,5] tau=f64[3,5] Q=f64[4,3,2,5]",
     "Q(i, l, s, e) has two indices that A(i, j, e) lacks, l and s: one alone counts the columns of Q"},
    {"form_q(A(i,j), i, j, tau(k), Q(i,l,s))", "A=f64[4,3] tau=f64[3] Q=f64[4,0,2]",
     "Q(i, l, s) has two indices that A(i, j) lacks, l and s"},
    {"inverse(A(i,j,e), i, j, Y(i,e))", "A=f64[3,3,5] Y=f64[3,5]",
     "Y(i, e) lacks index j: the inverse of A(i,j) is indexed by j and i"},
    {"log(e) = log_determinant(A(i,j,e), i, j)", "log=c128[5] A=c128[3,3,5]",
     "log is c128; the logarithm of the determinant's absolute value is f64"},
    {"cholesky(conj(A(i,j,e)), i, j)", "A=c128[3,3,5]",
     "cholesky writes its matrix, which therefore cannot be a conjugate"},
    {"piv(k,e) = lu(A(i,j,e), i, j)", "A=f64[3,3,5] piv@A=i32[3,5]", "A(i, j, e) shares memory with piv(k, e)"},
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

TEST_CASE("padded and gathered matrices are refused") {
    auto s = bound_text("solve(A(i,j,e), i, j, X(j,e))", "A=f64[3,3,5] X=f64[3,5]");
    s.accesses[0].padded = true;
    CHECK_THROWS_WITH(ricci::lowering::lower(s, some_cpu()),
                      Catch::Contains("A cannot be padded in a call of solve"));
    s = bound_text("info(e) = solve(A(i,j,e), i, j, X(j,e))", "A=f64[3,3,5] X=f64[3,5] info=i32[5]");
    s.positions[static_cast<std::size_t>(s.accesses[0].first_position + 2)].table = 1;
    CHECK_THROWS_WITH(ricci::lowering::lower(s, some_cpu()), Catch::Contains("is taken from an index table"));
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
