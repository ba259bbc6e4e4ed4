// overlap_test: which way a statement whose operands share memory with its left side was made safe.
#include "lowering/lower.hpp"
#include "tests/catch.hpp"
#include "tests/bound_text.hpp"

#include <fmt/ranges.h>

namespace {

using namespace ricci::lowering;
using namespace ricci::tests;

plan lowered(const char* statement, const char* operands) {
    return lower(bound_text(statement, operands), some_cpu());
}

} // namespace

TEST_CASE("disjoint ranges of one tensor take no temporary") {
    for (const char* statement :
         {"A(i,j,m(1,9),n(1,8)) -= A(i,k,m,0)*A(k,j,0,n)", "A(i,j,0,n(1,8)) = A(i,j,0,0)*A(i,j,1,n)",
          "A(i(0,32),j,m,n) = A(i+32,j,m,n)", "A(i,j,m(0,4),0) = A(j,i,m+4,0)"}) {
        INFO(statement);
        CHECK(lowered(statement, "A=f64[64,64,9,8]").temporaries.empty());
    }
    CHECK(lowered("A(i) = B(i)", "A=f64[10:2] B@A+8=f64[10:2]").temporaries.empty()); // the odd elements
    CHECK(lowered("A(i) = B(i)", "A=f32[10:2] B@A+4=f32[10:2]").temporaries.empty());
}

TEST_CASE("what overlaps goes through a temporary, the smaller way") {
    CHECK(lowered("A(i,j) = A(j,i)", "A=f64[5,5]").temporaries.size() == 1);
    CHECK(lowered("A(i(0,9)) = A(i+1)", "A=f64[10]").temporaries.size() == 1);
    CHECK(lowered("A(i) = B(i)", "A=c128[10] B@A+8=c128[10]").temporaries.size() == 1); // half an element on
    const auto copied = lowered("A(i,j,m,n) -= A(i,k,m,0)*A(k,j,0,n)", "A=f64[64,64,9,8]");
    REQUIRE(copied.temporaries.size() == 2);
    CHECK(copied.temporaries[0].elements == 64 * 64 * 9);
    CHECK(copied.temporaries[1].elements == 64 * 64 * 8);
    const auto kept = lowered("y(i) = y(i+k)*x(i,k)", "y=f64[3] x=f64[3,1]");
    CHECK(kept.temporaries.empty()); // k runs over 0 alone, so it is the element itself
}

TEST_CASE("the element that is written needs no temporary") {
    CHECK(lowered("A(i,j) = A(i,j)*B(i,j)", "A=f64[5,5] B=f64[5,5]").temporaries.empty());
    CHECK(lowered("A(i,j) = 2*A(i,j)*B(j) + C(i)", "A=f64[5,5] B=f64[5] C=f64[5]").temporaries.empty());
}

TEST_CASE("the left side as a term becomes an accumulation") {
    const auto p = lowered("C(i,j) = C(i,j) + A(i,k)*B(k,j)", "C=f64[20,20] A=f64[20,20] B=f64[20,20]");
    REQUIRE(p.steps.size() == 1);
    CHECK(p.steps[0].op == assignment::add);
    CHECK(p.steps[0].kernel == family::batched_small);
    const auto q = lowered("C(i,j) = C(i,j) - A(i,k)*B(k,j)", "C=f64[20,20] A=f64[20,20] B=f64[20,20]");
    CHECK(q.steps.at(0).op == assignment::subtract);
}

TEST_CASE("what a table gathers spans its tensor; by one table both sides have the same elements") {
    const char* operands = "A=f64[5,5,9] B=f64[5,5,9] p=i32[9] q=i32[9]";
    CHECK(lowered("A(i,j,e) = B(i,j,p(e))", operands).temporaries.empty());
    CHECK(lowered("A(i,j,e) = A(i,j,p(e))", operands).temporaries.size() == 1);
    CHECK(lowered("A(i,j,distinct(p)(e)) = 2*A(i,j,q(e))", operands).temporaries.size() == 1);
    CHECK(lowered("A(i,j,distinct(p)(e)) = A(j,i,p(e))", operands).temporaries.size() == 1);
    CHECK(lowered("A(i,0,distinct(p)(e)) = A(i,1,q(e))", operands).temporaries.empty());
    CHECK(lowered("A(i,j,distinct(p)(e)) = 2*A(i,j,p(e))*B(i,j,e)", operands).temporaries.empty());
    CHECK(lowered("A(i,j,distinct(p)(e)) = A(i,j,p(e)) + B(i,j,e)", operands).steps.at(0).op == assignment::add);
}

TEST_CASE("each way is said in a note") {
    CHECK(fmt::format("{}", fmt::join(lowered("A(i,j) = A(j,i)", "A=f64[5,5]").notes, "; "))
              .find("A(j, i) overlaps A: copied first") != std::string::npos);
    CHECK(fmt::format("{}", fmt::join(lowered("A(0,j) = A(1,j)", "A=f64[5,5]").notes, "; ")).find("disjoint") !=
          std::string::npos);
}
