// split_floats_test: f32 on the tensor cores, where each number is split in two, or rounded to TF32 if that is asked
// for: numbers of all digits, the largest and smallest, and infinities and NaN, which a split makes NaN and which
// must come out as multiply-adds have them.
#include "lowering/lower.hpp"
#include "lowering/tile_candidates.hpp"
#include "runtime/executable.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/covering.hpp"
#include "tests/kernels/device_under_test.hpp"
#include "tests/kernels/gett_cases.hpp"
#include "tests/seeds.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

using namespace ricci;
using namespace ricci::tests;

namespace {

// One of each kernel that has a tensor-core tile.
const covering_case cases[] = {
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f32[19,21,5] A=f32[19,23,5] B=f32[23,21,5]"},
    {"C(j,i,e) = 2*A(k,i,e)*B(j,k,e)", "C=f32[16,24,5] A=f32[16,24,5] B=f32[16,16,5]"},
    {"C(i,j,e) -= conj(A(i,k,e))*B(k,j,e)", "C=c64[11,9,5] A=c64[11,17,5] B=c64[17,9,5]"},
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f32[127,125,2] A=f32[127,54,2] B=f32[54,125,2]"},
    {"C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=c64[97,81,2] A=c64[97,85,2] B=c64[85,81,2]"},
    {"C(i,j) = A(k,i)*B(k,j)", "C=f32[17,30] A=f32[1027,17] B=f32[1027,30]"},
    {"C(i,j) = conj(A(i,k))*B(j,k)", "C=c64[17,30] A=c64[17,1027] B=c64[30,1027]"},
    {"C(i,j) = A(i,k)*B(k,j)", "C=f32[1501,25] A=f32[1501,18] B=f32[18,25]"},
    {"C(i,j) = A(i+1,k)*B(k,j)", "C=f32[4400,25] A=f32[4404,18] B=f32[18,25]"},
    {"C(j,i) += A(k,i)*B(k,j)", "C=f32[26,1500] A=f32[16,1500] B=f32[16,26]"},
};

// Of several axes and padded, which are too small to be taken as such: C by rows and by columns, rows behind the
// block.
const covering_case gett_split_cases[] = {
    {"O(x,y,k) = padded(D)(x+s-1,y+r-1,c)*F(s,r,c,k)", "O=f32[19,13,21] D=f32[19,13,17] F=f32[3,3,17,21]"},
    {"O(k,x,y) += padded(D)(c,x+s-1,y+r-1)*F(k,c,s,r)", "O=f32[21,19,13] D=f32[16,19,13] F=f32[21,16,3,3]"},
    {"O(x,k) -= conj(padded(D)(x+s-1,c))*F(s,c,k)", "O=c64[90,17] D=c64[90,9] F=c64[3,9,17]"},
};

/// Parameters of the tensor cores: most kernels', tall_skinny_ab's whose X goes into registers at once,
/// batched_stationary's that have warps work in fours, and the tall-skinny kernels' whose operands come in boxes.
enum class kind : std::uint8_t { usual, in_registers, warpgroups, boxes };

/// Of a tall product.
bool in_columns(const covering_case& c) {
    const std::string_view operands = c.operands;
    return operands.find("[4400,") != operands.npos || operands.find("[1027,") != operands.npos;
}

/// Takes such parameters; false if there are none.
bool take_tensor_cores(lowering::plan& plan, const lowering::machine& chip, kind wanted) {
    for (auto& st : plan.steps) {
        const auto all = lowering::tile_candidates(st, of_few_processors(chip));
        const auto found = std::find_if(all.begin(), all.end(), [&](const auto& t) {
            return t.core == lowering::batched_core::mma && t.in_registers == (wanted == kind::in_registers) &&
                   t.warpgroups == (wanted == kind::warpgroups) && t.boxed == (wanted == kind::boxes);
        });
        if (found == all.end()) continue;
        st.batched = *found;
        return true;
    }
    return false;
}

/// Replaces every f32 of the operands A and B, number `operand` counted from C.
template <class Change>
void change(random_case& made, const Change& to) {
    for (std::size_t operand = 0; operand < made.memory.size(); ++operand) {
        auto& memory = made.memory[operand];
        for (std::size_t at = 0; at + 4 <= memory.size(); at += 4) {
            float value;
            std::memcpy(&value, memory.data() + at, 4);
            value = to(operand, at / 4, value);
            std::memcpy(memory.data() + at, &value, 4);
        }
    }
}

/// A plan of the product by the kernel for any axes, with the first of its parameters.
lowering::plan as_gett_plan(const lowering::statement& s, const lowering::machine& chip) {
    auto plan = lowering::lower(s, chip);
    for (auto& st : plan.steps) {
        if (st.classes.empty()) continue;
        take_gett(st, chip);
        st.math = s.math;
        st.batched = lowering::tile_candidates(st, of_few_processors(chip)).at(0);
    }
    return plan;
}

/// `tells_apart`: whether results in TF32 cannot be within the bound of f32.
template <class Change>
void check_plan(random_case made, const lowering::plan& plan, const Change& to, bool tells_apart) {
    static part_of_run part;
    if (!part.takes_next()) return;
    const device where(device_under_test());
    change(made, to);
    const auto run = [&] {
        return run_and_compare(made, where.code(),
                               [&](const lowering::statement& s) { runtime::executable(where, plan).launch(s); });
    };
    const auto report = run();
    INFO(report);
    CHECK(report.empty());
    if (!tells_apart) return;
    made.s.math = lowering::math_mode::full; // for the oracle
    CHECK_FALSE(run().empty());
}

template <class Change>
void check(const Change& to, lowering::math_mode math, bool tells_apart = false) {
    const device where(device_under_test());
    auto chip = runtime::backend_of(where).machine();
    chip.has_blas = false; // it would take some of these short batches
    std::uint64_t seed = 0;
    for (const auto& c : cases) {
        ++seed;
        for (const auto wanted : {kind::usual, kind::in_registers, kind::warpgroups, kind::boxes}) {
            auto made = make_case(c, seed);
            made.s.math = math;
            auto plan = lowering::lower(made.s, chip);
            INFO(c.statement << " with " << c.operands << ", kind " << static_cast<int>(wanted));
            const bool taken = take_tensor_cores(plan, chip, wanted);
            const bool is_new = chip.architecture == "sm_90",
                       is_needed = wanted == kind::usual ||
                                   (wanted == kind::warpgroups && is_new &&
                                    plan.steps.front().kernel == lowering::family::batched_stationary) ||
                                   (wanted == kind::boxes && is_new && in_columns(c));
            if (!taken && !is_needed) continue;
            REQUIRE(taken);
            check_plan(std::move(made), plan, to, tells_apart);
        }
    }
    for (const auto& c : gett_split_cases) {
        auto made = make_case(c, ++seed);
        made.s.math = math;
        INFO(c.statement << " with " << c.operands);
        const auto plan = as_gett_plan(made.s, chip);
        check_plan(std::move(made), plan, to, tells_apart);
    }
}

/// In (-1, 1), all digits random; the same for the same place.
float digits(std::size_t operand, std::size_t at) {
    auto z = (operand * 1000003 + at + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 29) * 0xBF58476D1CE4E5B9ull;
    return static_cast<float>(static_cast<double>(z >> 39) * 0x1p-24 - 1);
}

constexpr lowering::math_mode modes[] = {lowering::math_mode::full, lowering::math_mode::tf32};

float with_bits(unsigned bits) {
    float out;
    std::memcpy(&out, &bits, 4);
    return out;
}

} // namespace

TEST_CASE("all digits") {
    for (const auto math : modes)
        check([](std::size_t operand, std::size_t at, float) { return digits(operand, at); }, math);
}

TEST_CASE("numbers are rounded to TF32 where that is asked for") {
    const auto rounded_down = [](std::size_t operand, std::size_t at, float) { // by nearly half a unit
        return with_bits(0x3f000f00u | static_cast<unsigned>((operand * 1000003 + at) * 2654435761u >> 22 & 0x3ffu)
                                           << 13);
    };
    check(rounded_down, lowering::math_mode::tf32, true);
}

TEST_CASE("small times large, subnormal and next to overflow") {
    for (const auto math : modes)
        for (const int power : {-145, -110, 127})
            check(
                [&](std::size_t operand, std::size_t at, float) {
                    const float value = digits(operand, at);
                    return operand == 1   ? std::ldexp(value, power)
                           : operand == 2 ? std::ldexp(value, std::min(-power, 126))
                                          : value;
                },
                math);
}

TEST_CASE("infinities and NaN stay where multiply-adds have them, and the largest number stays finite") {
    for (const auto math : modes)
        for (const float special :
             {INFINITY, NAN, with_bits(0x7f800001u), with_bits(0xffffffffu), std::numeric_limits<float>::max()})
            check(
                [&](std::size_t operand, std::size_t at, float) {
                    if (operand != 0 && at % 211 == 7) return special;
                    return at % 3 == 0 ? 0.0f : digits(operand, at);
                },
                math);
}
