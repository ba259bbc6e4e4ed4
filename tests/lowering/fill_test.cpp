// fill_test: which step sets what another one adds to, and nothing else.
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace ricci;
using namespace ricci::lowering;

namespace {

struct fill_case {
    std::vector<std::string> statements;
    const char* operands;
};

/// Of the last step; -1: none.
std::int32_t fill_of(const std::vector<std::string>& texts, const char* operands) {
    return tests::lowered_program(texts, operands, tests::some_gpu()).steps.back().fill;
}

} // namespace

TEST_CASE("what a step adds to is set by the step before that sets all of it") {
    const fill_case found[] = {
        {{"v(n) = 0", "v(l(b,e)) += w(b,e)"}, "v=f64[700] w=f64[5,1100] l=i32[5,1100]"},
        {{"v(n) = 3", "v(l(b,e)) -= 2*w(b,e)"}, "v=f64[700] w=f64[5,1100] l=i64[5,1100]"},
        {{"v(n) = 0", "x(b,e) = w(b,e)*w(b,e)", "v(l(b,e)) += x(b,e)"},
         "v=f64[700] w=f64[5,1100] x=f64[5,1100] l=i32[5,1100]"},
        {{"v(c,n) = 0", "v(c,l(b,e)) += w(b,c,e)"}, "v=f32[3,700] w=f32[5,3,1100] l=i32[5,1100]"},
        {{"v(n,c) = 0", "v(l(b,e),c) += w(b,c,e)"}, "v=f32[700,3] w=f32[5,3,1100] l=i32[5,1100]"},
        {{"v(n,c) = 0", "v(l(b,e),c) += w(b,c,e)"}, "v=f32[700:4,3:1] w=f32[5,3,1100] l=i32[5,1100]"},
        {{"v(n) = 0", "v(l(b,e)) += w(b,e)"}, "v=f64[700:-2] w=f64[5,1100] l=i32[5,1100]"},
        {{"v(n,m) = 0", "v(l(b,e),m(e)) += w(b,e)"}, "v=f64[70,10] w=f64[5,1100] l=i32[5,1100] m=i32[1100]"},
    };
    for (const auto& [statements, operands] : found) {
        INFO(statements.back() << " with " << operands);
        CHECK(fill_of(statements, operands) == 0);
    }
}

TEST_CASE("a step that sets another part, or is not the last one before, is no fill") {
    const fill_case others[] = {
        {{"v(n(0,600)) = 0", "v(l(b,e)) += w(b,e)"}, "v=f64[700] w=f64[5,1100] l=i32[5,1100]"},
        {{"v(n,c(0,2)) = 0", "v(l(b,e),c) += w(b,c,e)"}, "v=f32[700,3] w=f32[5,3,1100] l=i32[5,1100]"},
        {{"v(n,c) = 0", "v(l(b,e),c(0,2)) += w(b,c,e)"}, "v=f32[700,3] w=f32[5,3,1100] l=i32[5,1100]"},
        {{"v(n,c) = 0", "v(l(b,e),1) += w(b,e)"}, "v=f32[700,3] w=f32[5,1100] l=i32[5,1100]"},
        {{"v(n) += 1", "v(l(b,e)) += w(b,e)"}, "v=f64[700] w=f64[5,1100] l=i32[5,1100]"},
        {{"v(n) = x(n)", "v(l(b,e)) += w(b,e)"}, "v=f64[700] x=f64[700] w=f64[5,1100] l=i32[5,1100]"},
        {{"v(n) = 0", "x(n) = v(n)", "v(l(b,e)) += w(b,e)"}, "v=f64[700] x=f64[700] w=f64[5,1100] l=i32[5,1100]"},
        {{"v(n) = 0", "v(n(0,9)) += x(n)", "v(l(b,e)) += w(b,e)"},
         "v=f64[700] x=f64[700] w=f64[5,1100] l=i32[5,1100]"},
        {{"v(n) = 0", "v(l(b,e)) += w(b,e)", "v(l(b,e)) += 2*w(b,e)"}, "v=f64[700] w=f64[5,1100] l=i32[5,1100]"},
        {{"v(n) = 0", "v(atomic(l)(b,e)) += w(b,e)"}, "v=f64[700] w=f64[5,1100] l=i32[5,1100]"},
        {{"v(n) = 0", "v(l(e)) += w(e)*v(e)"}, "v=f64[700] w=f64[700] l=i32[700]"},
        // the same memory by another name, which another step adds to
        {{"v(n) = 0", "z(n) = 1", "v(l(b,e)) += w(b,e)"}, "v=f64[700] w=f64[5,1100] l=i32[5,1100] z@v+64=f64[300]"},
        {{"z(n) = 0", "v(l(b,e)) += w(b,e)"}, "v=f64[700] w=f64[5,1100] l=i32[5,1100] z@v=f32[700]"},
    };
    for (const auto& [statements, operands] : others) {
        INFO(statements.front() << "; " << statements.back() << " with " << operands);
        CHECK(fill_of(statements, operands) == -1);
    }
}
