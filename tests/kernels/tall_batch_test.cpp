// tall_batch_test: tall products whose rows a GPU takes as a batch, with rows at the end that are no whole product,
// against the oracle.
#include "runtime/backend.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/planned_cases.hpp"

using namespace ricci;
using namespace ricci::tests;

namespace {

const covering_case cases[] = {
    {"C(j,i) = A(k,i)*B(k,j)", "C=f64[40,41001] A=f64[2,41001] B=f64[2,40]"},
    {"C(j,i) -= 2*A(k,i)*B(j,k)", "C=f64[31,40063] A=f64[3,40063] B=f64[31,3]"},
    {"C(j,i) += A(k,i)*conj(B(k,j))", "C=c64[17,50010] A=c64[4,50010] B=c64[4,17]"},
    {"C(j,i) = B(j,k)*A(k,i)", "C=f32[16,200001] A=f16[5,200001] B=f16[16,5]"},
    {"C(j,i) = A(k,i)*B(k,j)", "C=c128[17,40001] A=c128[10,40001] B=c128[10,17]"}, // one row more than whole products
    {"C(i,j) -= A(i,k)*B(k,j)", "C=bf16[110008,24] A=bf16[110008,17] B=bf16[17,24]"},
    {"C(i,j) = A(i,k)*B(k,j)", "C=f32[100008,20] A=f16[100008,34] B=f16[34,20]"},
    {"C(i,j,e) += A(i,k)*B(k,j,e)", "C=f32[3,5,30001] A=f32[3,24] B=f32[24,5,30001]"},
};

} // namespace

TEST_CASE("rows of tall products as batches agree with the oracle") {
    const device where(device_under_test());
    const auto& chip = runtime::backend_of(where).machine();
    check_planned(cases, where, [&](const lowering::plan& p) {
        if (chip.architecture != "sm_90") return;
        CHECK(p.steps.size() == 2);
        CHECK(p.steps.at(0).kernel == lowering::family::batched_small);
    });
}
