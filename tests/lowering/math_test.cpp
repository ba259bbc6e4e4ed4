// math_test: where TF32, asked for, becomes part of a step.
#include "lowering/lower.hpp"
#include "lowering/print.hpp"
#include "lowering/tile_candidates.hpp"
#include "lowering/tuning_key.hpp"
#include "runtime/executable.hpp"
#include "runtime/statement_key.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <string>

namespace {

using namespace ricci::lowering;
using namespace ricci::tests;

statement in_mode(math_mode math, const char* text, const char* operands) {
    auto s = bound_text(text, operands);
    s.math = math;
    return s;
}

plan rounded(const char* text, const char* operands, const machine& chip = some_gpu()) {
    return lower(in_mode(math_mode::tf32, text, operands), chip);
}

std::string sources(math_mode math, const char* text, const char* operands, const machine& chip) {
    std::string out;
    for (const auto& request : ricci::runtime::executable::requests(lower(in_mode(math, text, operands), chip), chip))
        out += request.source;
    return out;
}

constexpr const char *product = "C(i,j,e) += A(i,k,e)*B(k,j,e)",
                     *of_f32 = "C=f32[32,32,10000] A=f32[32,32,10000] B=f32[32,32,10000]";

} // namespace

TEST_CASE("products that the tensor cores may make have it, whatever the kernel") {
    auto with_blas = some_gpu();
    with_blas.has_blas = true;
    const auto first = [](const plan& p) { return p.steps.at(0); };
    const auto is_rounded = [](const step& st, family kernel) {
        return st.math == math_mode::tf32 && st.kernel == kernel;
    };
    CHECK(is_rounded(first(rounded(product, of_f32)), family::batched_small));
    auto without_blas = some_gpu();
    without_blas.has_blas = false;
    CHECK(
        is_rounded(first(rounded(product, "C=c64[90,90,10000] A=c64[90,90,10000] B=c64[90,90,10000]", without_blas)),
                   family::batched_stationary));
    without_blas.architecture = "sm_80";
    CHECK(
        is_rounded(first(rounded(product, "C=c64[90,90,10000] A=c64[90,90,10000] B=c64[90,90,10000]", without_blas)),
                   family::batched_panels));
    CHECK(is_rounded(first(rounded("C(i,j) = A(i,k)*B(k,j)", "C=f32[100000,24] A=f32[100000,24] B=f32[24,24]")),
                     family::tall_skinny_ab));
    CHECK(is_rounded(
        first(rounded("C(i,j) = A(i,k)*B(k,j)", "C=f32[900,900] A=f32[900,900] B=f32[900,900]", with_blas)),
        family::library));
    const auto atb = rounded("C(i,j) = 2*A(k,i)*B(k,j)", "C=f32[24,24] A=f32[100000,24] B=f32[100000,24]");
    CHECK(is_rounded(atb.steps.at(0), family::tall_skinny_atb));
    const auto scaled =
        rounded("C(i,j) = 2*A(i,k)*B(k,j)", "C=f32[900,900] A=f32[900,900] B=f32[900,900]", with_blas);
    CHECK(is_rounded(scaled.steps.at(0), family::library));
    CHECK(scaled.steps.at(1).math == math_mode::full); // multiplies by 2
    const auto three = rounded("D(i,l) = A(i,j)*B(j,k)*C(k,l)",
                               "D=f32[900,900] A=f32[900,900] B=f32[900,900] C=f32[900,900]", with_blas);
    CHECK(three.steps.size() == 2);
    for (const auto& st : three.steps) CHECK(is_rounded(st, family::library));
}

TEST_CASE("nothing else does, and has the kernels that it has anyway") {
    auto old = some_gpu();
    old.architecture = "sm_75";
    const struct {
        const char *text, *operands;
        machine chip;
    } cases[] = {
        {product, "C=f64[32,32,10000] A=f64[32,32,10000] B=f64[32,32,10000]", some_gpu()},
        {product, "C=f16[32,32,10000] A=f16[32,32,10000] B=f16[32,32,10000]", some_gpu()},
        {product, "C=f32[32,32,10000] A=f16[32,32,10000] B=f32[32,32,10000]", some_gpu()},
        {product, of_f32, old},
        {product, of_f32, some_cpu()},
        {"C(i) = A(i,k)*A(i,k)*B(k)", "C=f32[9] A=f32[9,7] B=f32[7]", some_gpu()},
        {"C(i,j) = A(i)*B(j)", "C=f32[2000,9] A=f32[2000] B=f32[9]", some_gpu()},
    };
    for (const auto& c : cases) {
        INFO(c.text << " with " << c.operands << " on " << c.chip.architecture);
        for (const auto& st : rounded(c.text, c.operands, c.chip).steps) CHECK(st.math == math_mode::full);
        CHECK(sources(math_mode::tf32, c.text, c.operands, c.chip) ==
              sources(math_mode::full, c.text, c.operands, c.chip));
    }
}

TEST_CASE("it is part of a statement's key, of the tuner's key and of the kernel") {
    const auto chip = some_gpu();
    const auto full = in_mode(math_mode::full, product, of_f32), tf32 = in_mode(math_mode::tf32, product, of_f32);
    ricci::runtime::key_words of_full, of_tf32;
    ricci::runtime::write_key(full, of_full), ricci::runtime::write_key(tf32, of_tf32);
    CHECK(of_full != of_tf32);
    ricci::runtime::write_shapeless_key(full, of_full), ricci::runtime::write_shapeless_key(tf32, of_tf32);
    CHECK(of_full != of_tf32);
    const auto key = key_of(lower(tf32, chip).steps.at(0), chip);
    CHECK(key.layout.starts_with("batched_small f32*f32->f32 in tf32 +=, "));
    CHECK(key_of(lower(full, chip).steps.at(0), chip).layout.starts_with("batched_small f32*f32->f32 in f32 +=, "));
    CHECK(sources(math_mode::tf32, product, of_f32, chip) != sources(math_mode::full, product, of_f32, chip));
    const auto plan = lower(tf32, chip);
    CHECK(to_string(plan, tf32).find(" in tf32:\n") != std::string::npos);
}

TEST_CASE("the tensor cores take short sums too, and the model expects less of their work") {
    const auto chip = some_gpu();
    const auto has_tensor_cores = [&](const plan& p) {
        const auto all = tile_candidates(p.steps.at(0), chip);
        return std::any_of(all.begin(), all.end(), [](const batched_tile& t) { return t.core == batched_core::mma; });
    };
    constexpr const char* short_sum = "C=f32[16,16,9999] A=f32[16,4,9999] B=f32[4,16,9999]";
    CHECK(has_tensor_cores(rounded(product, short_sum)));
    CHECK_FALSE(has_tensor_cores(lower(in_mode(math_mode::full, product, short_sum), chip)));
    constexpr const char* large = "C=c64[64,64,9999] A=c64[64,64,9999] B=c64[64,64,9999]";
    const auto seconds = [&](math_mode math) {
        const auto st = lower(in_mode(math, product, large), chip).steps.at(0);
        return predicted_seconds(st, st.batched, chip);
    };
    CHECK(seconds(math_mode::tf32) < seconds(math_mode::full));
}
