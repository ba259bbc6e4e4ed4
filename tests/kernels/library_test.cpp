// library_test: products that a GPU's plan gives to cuBLAS, of types that its own kernels take otherwise, against the
// oracle.
#include "runtime/backend.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/planned_cases.hpp"
#include "tests/skip.hpp"

#include <algorithm>

using namespace ricci;
using namespace ricci::tests;

namespace {

const covering_case cases[] = {
    {"C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=f16[80,88,3] A=f16[80,96,3] B=f16[96,88,3]"},
    {"C(i,j,e) += A(k,i,e)*B(k,j,e)", "C=f16[81,87,3] A=f16[95,81,3] B=f16[95,87,3]"},
    {"C(i,j,e) += A(i,k,e)*B(j,k,e)", "C=f16[72,136,3] A=f16[72,88,3] B=f16[136,88,3]"}, // added by a step of its own
    {"C(j,i,e) -= 2*A(i,k,e)*B(k,j,e)", "C=bf16[80,136,3] A=bf16[136,88,3] B=bf16[88,80,3]"},
    {"C(i,j,e) -= A(i,k,e)*B(k,j,e)", "C=f32[80,88,3] A=f16[80,96,3] B=f16[96,88,3]"},
    {"C(i,j) += A(i,k)*B(k,j)", "C=f16[300,200] A=f16[300,250] B=f16[250,200]"},
    {"C(i,j) = A(k,i)*B(j,k)", "C=bf16[301,203] A=bf16[257,301] B=bf16[203,257]"},
    {"C(i,j,e) = A(k,i,e)*B(k,j,e)", "C=f64[53,55,3] A=f64[57,53,3] B=f64[57,55,3]"},
};

} // namespace

TEST_CASE("products that cuBLAS takes agree with the oracle") {
    const device where(device_under_test());
    const auto& chip = runtime::backend_of(where).machine();
    test::skip_unless(chip.has_blas, "no cuBLAS");
    check_planned(cases, where, [](const lowering::plan& p) {
        CHECK(std::any_of(p.steps.begin(), p.steps.end(),
                          [](const auto& st) { return st.kernel == lowering::family::library; }));
    });
}
