// cpu_candidates: all parameters that a CPU's kernels for small products may have, or some of many, against nested
// loops.
#include "lowering/lower.hpp"
#include "lowering/print.hpp"
#include "lowering/register_tile.hpp"
#include "lowering/tile_candidates.hpp"
#include "runtime/backend.hpp"
#include "runtime/executable.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/gett_cases.hpp"

#include <algorithm>
#include <random>

using namespace ricci;
using namespace ricci::tests;

namespace {

// Vectors of all lanes, of some and of few; X along m, along k (transposed in registers, or copied) and along
// neither; copied Y; half numbers; C in other types and places; products without gaps, of every size that lanes hold
// several of; one column, and one element, of operands along k; neighbors in whole vectors and at the end of rows.
const covering_case cases[] = {
    {"C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=f64[3,3,37] A=f64[3,3,37] B=f64[3,3,37]"},
    {"C(i,j,e) += A(k,i,e)*B(k,j,e)", "C=f32[4,4,19] A=f32[4,4,19] B=f32[4,4,19]"},
    {"C(i,j,e) -= 2*A(k,i,e)*B(j,k,e)", "C=f64[2,5,41] A=f64[3,2,41] B=f64[5,3,41]"},
    {"C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=f32[5,3,50] A=f32[5,2,50] B=f32[2,3,50]"},
    // without gaps, but a second axis of the batch has a small stride: those of X or Y come as arguments
    {"C(i,j,e,f) = A(i,k,e,f)*B(k,j,e,f)", "C=f64[2,2,50,3] A=f64[2:1,2:2,50:4,3:1] B=f64[2,2,50,3]"},
    {"C(i,j,e,f) -= A(i,k,e,f)*B(k,j,e,f)", "C=f32[2,2,50,3] A=f32[2,2,50,3] B=f32[2:1,2:2,50:4,3:2]"},
    {"C(i,j,e,f) += A(i,k,e,f)*B(k,j,e,f)", "C=f64[3,3,50,3] A=f64[3:1,3:3,50:9,3:2] B=f64[3,3,50,3]"},
    {"C(i,j,e,f) = A(i,k,e,f)*B(k,j,e,f)", "C=f64[2:1,2:2,50:4,1:2] A=f64[2:1,2:2,50:4,1:2] B=f64[2:1,2:2,50:4,1:1]"},
    {"C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=f64[9,10,5] A=f64[9,11,5] B=f64[11,10,5]"},
    {"C(i,j,e) -= A(k,i,e)*B(k,j,e)", "C=f64[13,7,5] A=f64[17,13,5] B=f64[17,7,5]"},
    {"C(i,j,e) += 3*A(k,i,e)*B(j,k,e)", "C=f32[21,18,5] A=f32[19,21,5] B=f32[18,19,5]"},
    {"C(j,i,e) += A(i,k,e)*B(k,j,e)", "C=f64[20,33,4] A=f64[33,6,4] B=f64[6,20,4]"},
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f64[10:2,6:25,7:151] A=f64[10:3,5:40,7:222] B=f64[5:-1,6:11,7:100]"},
    {"C(i,j,e) += conj(A(k,i,e))*B(k,j,e)", "C=c64[7,6,5] A=c64[9,7,5] B=c64[9,6,5]"},
    {"C(i,j,e) -= A(i,k,e)*conj(B(k,j,e))", "C=c128[6,5,5] A=c128[6,7,5] B=c128[7,5,5]"},
    {"C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=f16[18,5,5] A=f16[18,9,5] B=f16[9,5,5]"},
    {"C(i,j,e) += A(k,i,e)*B(k,j,e)", "C=f32[11,6,5] A=bf16[10,11,5] B=bf16[10,6,5]"},
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f32[11,6,5] A=f64[11,4,5] B=f32[4,6,5]"},
    {"C(i,e) = A(i,k,e)*B(k,e)", "C=f64[19,12] A=f64[19,23,12] B=f64[23,12]"},
    {"y(i,e) = A(k,i,e)*x(k,e)", "y=f64[19,12] A=f64[23,19,12] x=f64[23,12]"},
    {"y(i,e) += 2*A(k,i,e)*x(k)", "y=f32[16,3] A=f32[3,16,3] x=f32[3]"},
    {"y(i,e) -= A(k,i,e)*x(k,e)", "y=f32[7:2,9] A=f16[40,7,9] x=bf16[40,9]"},
    {"y(i,e) = A(k,i,e)*x(k,e)", "y=f16[33,5] A=f32[16,33,5] x=f32[16,5]"},
    {"s(e) -= 3*a(k,e)*b(k,e)", "s=f64[29] a=f64[13,29] b=f64[13,29]"},
    {"s(e) = a(k,e)*b(k,e)", "s=f32[50:3] a=f32[128,50] b=f32[128,50]"},
    {"s(e,f) += a(k,e,f)*b(k,f)", "s=f32[21,4] a=f32[2,21,4] b=f32[2,4]"},
    {"s(e) += a(k,q(e))*b(k,e)", "s=f64[9] a=f64[8,4] b=f64[8,9] q=i32[9]"},
    {"C(i,j,e) += A(i,k,q(e))*B(k,j,q(e))", "C=f64[9,8,9] A=f64[9,7,4] B=f64[7,8,4] q=i32[9]"},
    {"C(e,i,j) = A(e,i,k)*B(e,k,j)", "C=f64[35,7,5] A=f64[35,7,6] B=f64[35,6,5]"},
    {"C(e,i,j) -= A(e,i,k)*conj(B(e,k,j))", "C=c64[21,5,4] A=c64[21,5,6] B=c64[21,6,4]"},
    {"C(e,i,j) += 2*A(e,i,k)*B(e,k,j)", "C=f16[33,3,4] A=f16[33,3,6] B=f16[33,6,4]"},
    // more than tiles one after another: several blocks of rows, of columns, and of the sum
    {"C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=f64[70,45,3] A=f64[70,50,3] B=f64[50,45,3]"},
    // X read in place: few columns, at lines' starts and not; a batch of one, innermost, which makes strides
    // arguments
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f32[128,5,3] A=f32[128,82,3] B=f32[82,5,3]"},
    {"C(i,j,e) -= 2*A(i,k,e)*conj(B(k,j,e))", "C=c128[125,3,2] A=c128[125,83,2] B=c128[83,3,2]"},
    {"C(i,j) = A(i,k)*B(k,j)", "C=f64[301,7] A=f64[301:1,900:307] B=f64[900,7]"},
    {"C(e,i,j) = A(e,i,k)*B(e,k,j)", "C=f64[1,60,50] A=f64[1,60,61] B=f64[1,61,50]"},
    {"C(e,i,j) += A(e,i,k)*B(e,k,j)", "C=c64[1,60,9] A=c64[1,60,61] B=c64[1,61,9]"},
    {"C(i,j,e) += 2*A(k,i,e)*B(j,k,e)", "C=f32[75,61,2] A=f32[83,75,2] B=f32[61,83,2]"},
    {"C(i,j) -= A(i,k)*B(k,j)", "C=f64[75,70] A=f64[75,1001] B=f64[1001,70]"},
    {"C(i,j) += A(k,i)*B(k,j)", "C=f64[130,31] A=f64[1003,130] B=f64[1003,31]"},
    {"C(j,i,e) = conj(A(k,i,e))*B(k,j,e)", "C=c64[60,50,2] A=c64[71,50,2] B=c64[71,60,2]"},
    {"C(i,j,e) -= A(i,k,e)*conj(B(k,j,e))", "C=c128[40,45,2] A=c128[40,39,2] B=c128[39,45,2]"},
    {"C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=f16[90,80,2] A=f16[90,100,2] B=f16[100,80,2]"},
    {"C(i,j,e) += A(k,l,i,e)*B(k,l,j,e)",
     "C=f32[70:2,66:150,2:20000] A=bf16[9,10,70,2] B=f32[9:20,10:200,66:2,2:3000]"},
    // sums too long for a panel, which C would round or a coefficient scale in parts
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=bf16[19,20,2] A=bf16[19,7001,2] B=bf16[7001,20,2]"},
    {"C(i,j,e) -= 2*A(i,k,e)*B(k,j,e)", "C=f32[19,20,2] A=f32[19,7001,2] B=f32[7001,20,2]"},
    {"C(i,j,e) += A(i,k,q(e))*B(k,j,q(e))", "C=f64[60,55,5] A=f64[60,57,4] B=f64[57,55,4] q=i32[5]"},
    // symmetric and Hermitian
    {"C(i,j,e) = A(k,i,e)*A(k,j,e)", "C=f64[70,70,3] A=f64[45,70,3]"},
    {"C(i,j) = -2*A(i,k)*A(j,k)", "C=f32[133,133] A=f32[133,700]"},
    {"C(i,j,e) = A(k,i,e)*W(k,e)*A(k,j,e)", "C=f64[61,61,3] A=f64[45,61,3] W=f64[45,3]"},
    {"C(i,j,e) = A(k,i,e)*A(k,j,e)", "C=c64[37,37,3] A=c64[20,37,3]"},
    {"C(i,j,e) = conj(A(k,i,e))*A(k,j,e)", "C=c128[37,37,3] A=c128[20,37,3]"},
    {"C(i,j,e) = A(i,k,e)*conj(A(j,k,e))", "C=c64[41:2,41:82,3:4000] A=c64[41,20,3]"},
    {"C(i,j) = A(k,i)*A(k,j)", "C=f16[90,90] A=f16[100,90]"},
    // gett, beside gett_cases: several blocks of the sum, filters larger than the picture, both operands padded, sides
    // of several axes
    {"O(x,k) = padded(D)(x+s-1,c)*F(s,c,k)", "O=c64[90,7] D=c64[90,9] F=c64[3,9,7]"},
    {"O(x,y,k) += padded(D)(x+s-1,y+r-1,c)*F(s,r,c,k)", "O=f16[20,9,7] D=f16[20,9,40] F=f16[3,3,40,7]"},
    {"O(x,y,k) = padded(D)(x+s-1,y+r-1,c)*F(s,r,c,k)", "O=f32[60,40,70] D=f32[60,40,90] F=f32[3,3,90,70]"},
    {"O(x,y,k) = padded(D)(x+s-30,y+r-20,c)*F(s,r,c,k)", "O=f32[9,8,6] D=f32[4,3,7] F=f32[40,30,7,6]"},
    {"C(i,j,e) = padded(A)(i+1,k(0,19)-1,e)*padded(B)(k-2,2*j-1,e)", "C=f64[30,21,3] A=f64[29,17,3] B=f64[14,40,3]"},
    {"C(a,i,b,j) = A(i,k,a,l)*B(l,b,k,j)", "C=f64[3,7,5,6] A=f64[7,4,3,9] B=f64[9,5,4,6]"},
};

template <std::size_t Count> void check(const covering_case (&cases)[Count]) {
    std::mt19937_64 random(1);
    std::uint64_t seed = 0;
    for (const auto& c : cases) {
        auto made = make_case(c, ++seed);
        auto chip = runtime::backend_of(cpu()).machine();
        chip.has_blas = false; // it would take some of these short batches
        auto plan = lowering::lower(made.s, chip);
        const auto found = std::find_if(plan.steps.begin(), plan.steps.end(),
                                        [&](const lowering::step& st) { return lowering::has_tile(st, chip); });
        INFO(c.statement);
        REQUIRE(found != plan.steps.end());
        auto candidates = lowering::tile_candidates(*found, chip);
        REQUIRE(candidates.size() > (lowering::adds_along_k(*found) ? 0 : 1));
        std::shuffle(candidates.begin(), candidates.end(), random);
        // groups of packed products, where there are such, are few among them
        std::stable_partition(candidates.begin(), candidates.end(), [](const auto& t) { return t.products > 1; });
        candidates.resize(std::min(candidates.size(), count_of_run(8)));
        const auto expected = evaluate(made.s);
        const auto left = made.memory.front().whole();
        const std::vector<std::byte> before(left.begin(), left.end());
        for (const auto& tile : candidates) {
            found->batched = tile;
            const runtime::executable kernel(cpu(), plan);
            std::copy(before.begin(), before.end(), left.begin());
            const auto report = run_and_compare(
                made, cpu().code(), [&](const lowering::statement& s) { kernel.launch(s); }, &expected);
            INFO(report << lowering::to_string(tile, lowering::target::cpu));
            CHECK(report.empty());
        }
    }
}

} // namespace

TEST_CASE("candidates of a CPU's products agree with the oracle") {
    check(cases);
    check(gett_cases);
}
