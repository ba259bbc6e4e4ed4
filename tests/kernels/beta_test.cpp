// beta_test: C = beta*C + alpha*X*Y, which one kernel does where it may, against the oracle.
#include "runtime/backend.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/planned_cases.hpp"

#include <algorithm>

using namespace ricci;
using namespace ricci::tests;

namespace {

// Every way in which kernels add to C: whole blocks, ends, vectors and single elements, rows and columns, complex
// pairs, halves; products of few and of many steps.
const covering_case in_one_step[] = {
    {"C(i,j,e) = 0.5*C(i,j,e) + A(i,k,e)*B(k,j,e)", "C=f64[20,17,11] A=f64[20,21,11] B=f64[21,17,11]"},
    {"C(i,j,e) = A(i,k,e)*B(k,j,e) - 3*C(i,j,e)", "C=f32[33,18,5] A=f32[33,21,5] B=f32[21,18,5]"},
    {"C(i,j,e) = 2*A(k,i,e)*B(j,k,e) - C(i,j,e)*0.25", "C=f16[24,16,9] A=f16[16,24,9] B=f16[16,16,9]"},
    {"C(i,j,e) = -1.5*C(i,j,e) - A(i,k,e)*B(k,j,e)", "C=bf16[63,21,4] A=bf16[63,33,4] B=bf16[33,21,4]"},
    {"C(j,i,e) = 3*C(j,i,e) + conj(A(i,k,e))*B(k,j,e)", "C=c64[9,14,7] A=c64[14,6,7] B=c64[6,9,7]"},
    {"C(i,j,e) = A(i,k,e)*conj(B(j,k,e)) + 0.5*C(i,j,e)", "C=c128[5,6,11] A=c128[5,8,11] B=c128[6,8,11]"},
    {"C(i,j,e) = 0.5*C(i,j,e) + A(i,k,e)*B(k,j,e)", "C=f64[3,3,50] A=f64[3,3,50] B=f64[3,3,50]"},
    {"C(i,j,e) = 2*C(i,j,e) - 4*A(i,k,e)*B(k,j,e)", "C=f32[2,2,50] A=f32[2,2,50] B=f32[2,2,50]"},
    {"C(e,i,j) = 0.5*C(e,i,j) + A(e,i,k)*B(e,k,j)", "C=f64[67,7,5] A=f64[67,7,6] B=f64[67,6,5]"},
    {"C(e,i,j) = 0.5*C(e,i,j) - 2*A(e,i,k)*conj(B(e,k,j))", "C=c64[37,5,4] A=c64[37,5,6] B=c64[37,6,4]"},
    {"C(e,i,j) = 3*C(e,i,j) + A(e,i,k)*B(e,k,j)", "C=f16[35,3,4] A=f16[35,3,6] B=f16[35,6,4]"},
    {"C(i,j,e) = 0.5*C(i,j,e) + A(i,k,p(e))*B(k,j,e)", "C=f32[5,6,11] A=f32[5,7,9] B=f32[7,6,11] p=i32[11]"},
    {"C(i,j,e) = 0.5*C(i,j,e) + A(i,k,e)*B(k,j,e)", "C=f64[65,41,3] A=f64[65,37,3] B=f64[37,41,3]"},
    {"C(i,j,e) = 0.5*C(i,j,e) - A(i,k,e)*B(k,j,e)", "C=f32[97,101,2] A=f32[97,85,2] B=f32[85,101,2]"},
    {"C(i,j) = 0.5*C(i,j) + A(i,k)*B(k,j)", "C=f64[2052:1,5:2060] A=f64[2052:1,3:2054] B=f64[3,5]"},
    {"C(i,j) = 3*A(i,k)*B(k,j) - 2*C(i,j)", "C=f64[2053:1,21:2056] A=f64[2053:1,13:2060] B=f64[13,21]"},
    {"C(j,i) = 0.5*C(j,i) + A(k,i)*B(k,j)", "C=f32[31,1100] A=f32[21,1100] B=f32[21,31]"},
    {"C(i,j) = 0.5*C(i,j) + conj(A(i,k))*B(k,j)", "C=c64[2100,17] A=c64[2100,10] B=c64[10,17]"},
};

// What no one step does: sums in chunks, a BLAS, padded operands, a coefficient of one element alone.
const covering_case otherwise[] = {
    {"C(i,j) = 0.5*C(i,j) + A(k,i)*B(k,j)", "C=f64[9,7] A=f64[1504,9] B=f64[1504,7]"},
    {"C(i,j) = 3*C(i,j) - 2*A(k,i)*B(k,j)", "C=f16[24,17] A=f16[2064,24] B=f16[2064,17]"},
    {"C(i,j) = 0.5*C(i,j) + A(i,k)*B(k,j)", "C=f32[300,200] A=f32[300,250] B=f32[250,200]"},
    {"C(i,j,e) = 0.5*C(i,j,e) - 2*A(i,k,e)*B(k,j,e)", "C=f32[19,20,2] A=f32[19,7001,2] B=f32[7001,20,2]"},
    {"C(i,j,e) = 0.5*C(i,j,e) + padded(A)(i+1,k,e)*B(k,j,e)", "C=f64[5,6,3] A=f64[5,8,3] B=f64[8,6,3]"},
    {"C(i,j) = 2*C(i,j) + A(i,k)*B(k,j) + D(i,j)", "C=f64[20,20] A=f64[20,20] B=f64[20,20] D=f64[20,20]"},
    {"C(i,j) = s(0)*C(i,j) + A(i,k)*B(k,j)", "C=f64[20,20] s=f64[1] A=f64[20,20] B=f64[20,20]"},
    {"C(i,j) = conj(C(i,j))*2 + A(i,k)*B(k,j)", "C=c64[20,20] A=c64[20,20] B=c64[20,20]"},
    {"C(i,j) += 2*C(i,j) + A(i,k)*B(k,j)", "C=f32[20,20] A=f32[20,20] B=f32[20,20]"},
    {"C(i,j) = A(i,k)*C(k,j) + 2*C(i,j)", "C=f64[12,12] A=f64[12,12]"},
    {"C(i,j) = 2*C(j,i) + A(i,k)*B(k,j)", "C=f64[12,12] A=f64[12,12] B=f64[12,12]"},
};

} // namespace

TEST_CASE("C = beta*C + alpha*X*Y is one step") {
    const device where(device_under_test());
    check_planned(in_one_step, where, [](const lowering::plan& p) {
        const auto is_library = [](const auto& st) { return st.kernel == lowering::family::library; };
        if (std::any_of(p.steps.begin(), p.steps.end(), is_library)) return; // a GPU's, of few large products
        CHECK(std::all_of(p.steps.begin(), p.steps.end(), [](const auto& st) { return !st.beta.empty(); }));
        CHECK(p.temporaries.empty());
    });
}

TEST_CASE("what no kernel multiplies by a beta comes to the same") {
    check_planned(otherwise, device(device_under_test()), [](const lowering::plan&) {});
}
