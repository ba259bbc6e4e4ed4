// tall_bits_test: A^T B of tall matrices has the same bits on every run, in whatever order blocks and threads take
// their turns: at random on the emulator, as they come elsewhere. (tests/statements/process_test.cpp: with any number
// of a CPU's threads.)
#include "lowering/lower.hpp"
#include "runtime/executable.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/covering.hpp"
#include "tests/kernels/device_under_test.hpp"

#include <algorithm>

using namespace ricci;
using namespace ricci::tests;

namespace {

// Columns and rows that lie one behind another, square and not, of few rows and of many.
const covering_case cases[] = {
    {"C(i,j) = A(k,i)*B(k,j)", "C=f64[3,4] A=f64[20011,3] B=f64[20011,4]"},
    {"C(i,j) = A(k,i)*B(k,j)", "C=f64[24,17] A=f64[5003,24] B=f64[5003,17]"},
    {"C(i,j) = A(i,k)*B(j,k)", "C=f64[8,9] A=f64[8,9001] B=f64[9,9001]"},
    {"C(i,j) -= 2*A(k,i)*B(k,j)", "C=f32[16,16] A=f32[16384,16] B=f32[16384,16]"},
    {"C(i,j) = A(i,k)*B(j,k)", "C=f32[5,7] A=f32[5,30001] B=f32[7,30001]"},
    {"C(i,j) = A(k,i)*B(j,k)", "C=f32[33,40] A=f32[4001,33] B=f32[40,4001]"},
    {"C(i,j) = conj(A(k,i))*B(k,j)", "C=c64[6,5] A=c64[9001,6] B=c64[9001,5]"},
    {"C(i,j) = A(i,k)*B(j,k)", "C=c128[9,4] A=c128[9,5003] B=c128[4,5003]"},
    {"C(i,j) += A(k,i)*B(k,j)", "C=f32[12,12] A=f16[20011,12] B=f16[20011,12]"},
    {"C(i,j) = A(i,k)*B(j,k)", "C=f32[8,16] A=bf16[8,20000] B=bf16[16,20000]"},
    {"C(i,j) = A(k,i)*A(k,j)", "C=f64[13,13] A=f64[9001,13]"},
};

/// Numbers whose sums depend on their order.
void fill_unit(random_case& c, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (auto& buffer : c.memory)
        for (const auto& a : c.s.accesses)
            if (a.data == buffer.data()) {
                fill_random({buffer.data(), buffer.size()}, a.type, random);
                break;
            }
}

} // namespace

TEST_CASE("A^T B has the same bits on every run") {
    const device where(device_under_test());
    const auto& chip = runtime::backend_of(where).machine();
    std::uint64_t seed = 0;
    for (const auto& c : cases) {
        auto made = make_case(c, ++seed);
        fill_unit(made, seed);
        const auto plan = lowering::lower(made.s, chip);
        INFO(c.statement << " with " << c.operands);
        CHECK(std::ranges::any_of(
            plan.steps, [](const lowering::step& st) { return st.shape == lowering::form::tall_skinny_atb; }));
        const runtime::executable kernel(where, plan);
        const auto expected = evaluate(made.s);
        const auto whole = made.memory.front().whole();
        const std::vector<std::byte> before(whole.begin(), whole.end());
        std::vector<std::byte> first;
        for (int run = 0; run < 5; ++run) {
            std::ranges::copy(before, whole.begin());
            const auto report = run_and_compare(
                made, where.code(), [&](const lowering::statement& s) { kernel.launch(s); }, &expected);
            INFO(report);
            CHECK(report.empty());
            if (run == 0) first.assign(whole.begin(), whole.end());
            CHECK(std::ranges::equal(whole, first));
        }
    }
}
