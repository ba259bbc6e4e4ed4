// winograd_test: convolutions by minimal filtering, found in programs and run as one kernel, against the oracle.
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/program_cases.hpp"
#include "tests/kernels/program_run.hpp"

using namespace ricci;
using namespace ricci::tests;

TEST_CASE("convolutions by minimal filtering are one kernel") {
    const auto code = device_under_test();
    const program_case c{{"V(x,y,c,b,u,v) = B(u,p)*B(v,q)*padded(D)(2*x+p-1,2*y+q-1,c,b)",
                          "M(x,y,k,b,u,v) = U(c,k,u,v)*V(x,y,c,b,u,v)",
                          "padded(O)(2*x+a,2*y+e,k,b) = relu(A(a,u)*A(e,v)*M(x,y,k,b,u,v) + z(k))"},
                         "V=f32[4,3,5,2,4,4] B=f32[4,4] D=f32[7,6,5,2] U=f32[5,19,4,4] M=f32[4,3,19,2,4,4] "
                         "O=f32[7,6,19,2] A=f32[2,4] z=f32[19]",
                         "V M",
                         0,
                         2};
    const auto outcome = run_program(as_program(c), 1, code, program_data::integers);
    INFO(outcome.report);
    CHECK(outcome.report.empty());
    CHECK(outcome.kernels == c.kernels_on(code));
}
