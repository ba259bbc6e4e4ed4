// direct_tiles_test: permutations, sums and elementwise statements long enough for whole tiles of the direct kernels,
// and the rests beside them, against the oracle.
#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/planned_cases.hpp"

using namespace ricci;
using namespace ricci::tests;

namespace {

const covering_case cases[] = {
    {"B(j,i) = A(i,j)", "B=f64[300,270] A=f64[270,300]"},
    {"B(j,i) += 2*A(i,j)", "B=f32[37,600] A=f32[600,37]"},
    {"B(j,i) -= conj(A(i,j))", "B=c64[9,520] A=c64[520,9]"},
    {"B(k,j,i) = A(i,j,k)", "B=f16[19,5,1030] A=f16[1030,5,19]"},
    {"B(k,i,j) = A(i,j,k) + A(i,j,k)*D(k)", "B=f64[33,261,3] A=f64[261,3,33] D=f64[33]"},
    {"B(j,i) = A(i,j) + D(j,i)", "B=f64[20,300] A=f64[300:2,20:700] D=f64[20,300]"},
    {"B(j,i) = A(i,j)", "B=f64[7,3] A=f64[3,7]"},
    {"B(j,i) = A(i+1,j)", "B=f64[20,299] A=f64[300,20]"},
    {"B(j,p) = A(p,p) + D(p,j)", "B=f64[20,299] A=f64[299,299] D=f64[299,20]"},
    {"y(i) = A(i,k)", "y=f64[1000] A=f64[1000,150]"},
    {"y(i) -= 3*A(i,k)", "y=f32[771] A=f32[771,90]"},
    {"y(i,l) += A(i,j,k,l)", "y=f64[300,2] A=f64[300,7,9,2]"},
    {"y(i) = A(i,k)*x(k)", "y=c128[200] A=c128[200,80] x=c128[80]"},
    {"y(i) = A(i,k)", "y=bf16[1100] A=bf16[1100,40]"},
    {"y(i) = A(i,k)", "y=f64[100] A=f64[100,5000]"},
    {"y(i) += 2*A(k,i)*x(k)", "y=f32[140] A=f32[333,140] x=f32[333]"},
    {"y(e) = a(k,e)", "y=f64[37] a=f64[5003,37]"},
    {"y(e) -= exp(a(k,e))*abs(b(k))", "y=f32[11] a=f16[700,11] b=bf16[700]"},
    {"y(e) = sqrt(a(k,e)*b(k,e) - d(e))", "y=c128[6] a=c128[201,6] b=c128[201,6] d=c128[6]"},
    {"y(e) = a(k,l,e)*b(l)", "y=f64[9] a=f64[65,30:70,9] b=f64[30]"},
    {"y(e) = a(31,e) + b(k,e)*b(k,e)", "y=f64[9] a=f64[65,9] b=f64[31,9]"},
    {"s() = a(k)*b(k)", "s=f32[] a=f32[12345] b=f32[12345]"},
    {"s() += a(k)", "s=f32[] a=f32[2000]"},
    {"y(j,i) = A(i,j,k)", "y=f64[31,300] A=f64[300,31,12]"},
    {"C(e) += A(e)*B(e)", "C=f16[2500] A=f16[2500] B=f16[2500]"},
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=bf16[1,1,3001] A=bf16[1,1,3001] B=bf16[1,1,3001]"},
    {"C(i,e) = A(i,k)*B(k,i,e)", "C=f16[1,2100] A=f16[1,1] B=f16[1,1,2100]"},
    {"C(e) = 2*relu(A(e)) - B(0)", "C=bf16[2051] A=f32[2051] B=bf16[3]"},
    {"C(e) -= A(e+1)*B(e)", "C=f16[3000] A=f16[3001] B=f16[3000]"},
    {"C(e) += conj(A(e))*B(e)", "C=c64[2048] A=c64[2048] B=f16[2048]"},
    // several parts of a row
    {"C(e) -= 2*A(e) + exp(B(e))", "C=f64[9001] A=f64[9001] B=f32[9001]"},
    {"C(i,j) = A(i,j)*B(i)", "C=f32[8192,3] A=f32[8192:1,3:9000] B=f32[8192]"},
    {"B(j,i) += A(i,j)", "B=f64[4500,300] A=f64[300,4500]"},
    {"y(i) -= A(i,k)*x(k)", "y=f32[1025] A=f32[1025,70] x=f32[70]"},
    {"y(i,e) = sqrt(A(k,i)*A(k,i))*x(e)", "y=f64[513,2] A=f64[90,513] x=f64[2]"},
    {"C(e) = B(e) - A(e)", "C=f64[1100] A=bf16[1100] B=f64[1100]"},
    // outputs that are padded and nothing else: rows that begin and end outside, go backwards, or are outside as a whole
    {"padded(O)(4*x+a-1,4*y+e-2,k) = relu(S(x,y,k,a,e) + z(k))", "O=f32[29,18,3] S=f32[8,6,3,4,4] z=f32[3]"},
    {"padded(O)(40-2*x,y+3) += 2*S(x,y)", "O=f64[37,20] S=f64[50,30] "},
    {"padded(O)(x-7) = exp(S(x)) - z(x)", "O=f32[2000] S=f32[9000] z=f32[9000]"},
    {"padded(O)(3*x-5,y) -= S(y,x)", "O=f64[60,70] S=f64[70,300]"},
    {"padded(O)(x+90,y-1) = S(x,y)*S(x,y)", "O=f32[80,4] S=f32[33,9]"},
    {"padded(O)(6*x+a,k) = A(a,v)*S(x,k,v)", "O=f32[31,5] A=f32[6,8] S=f32[6,5,8]"},
};

} // namespace

TEST_CASE("tiles of the direct kernel agree with the oracle") {
    const device where(device_under_test());
    check_planned(cases, where, [](const lowering::plan&) {});
}
