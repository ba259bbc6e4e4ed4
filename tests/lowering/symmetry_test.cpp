// symmetry_test: which products are found to be symmetric, and what becomes of them.
#include "lowering/blocked_product.hpp"
#include "lowering/lower.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <algorithm>

using namespace ricci::lowering;

namespace {

machine cpu_with_avx512() {
    machine chip;
    chip.vector_bytes = 64, chip.vector_registers = 32;
    return chip;
}

step last_step(const char* text, const char* operands) {
    return lower(ricci::tests::bound_text(text, operands), cpu_with_avx512()).steps.back();
}

symmetry symmetry_of(const char* text, const char* operands) {
    const auto st = last_step(text, operands);
    const auto mirrored = std::count_if(st.axes.begin(), st.axes.end(), [](const axis& a) { return a.mirrored; });
    CHECK(mirrored == (st.symmetry == symmetry::none ? 0 : 2));
    return st.symmetry;
}

} // namespace

TEST_CASE("a product of a tensor with itself is symmetric where its axes can be exchanged") {
    using enum symmetry;
    CHECK(symmetry_of("C(i,j) = A(k,i)*A(k,j)", "C=f64[40,40] A=f64[50,40]") == symmetric);
    CHECK(symmetry_of("C(j,i,e) = -3*A(i,k,e)*A(j,k,e)", "C=f32[40,40,5] A=f32[40,50,5]") == symmetric);
    CHECK(symmetry_of("C(i,j) = A(k,i)*A(k,j)", "C=c64[40,40] A=c64[50,40]") == symmetric);
    CHECK(symmetry_of("C(i,j) = conj(A(k,i))*A(k,j)", "C=c64[40,40] A=c64[50,40]") == hermitian);
    CHECK(symmetry_of("M(i,j,e) = B(q,i)*W(q,e)*B(q,j)", "M=f64[64,64,9] B=f64[125,64] W=f64[125,9]") == symmetric);
    // conj of a real tensor is the tensor
    CHECK(symmetry_of("C(i,j) = conj(A(k,i))*A(k,j)", "C=f64[40,40] A=f64[50,40]") == symmetric);

    CHECK(symmetry_of("C(i,j) = A(k,i)*B(k,j)", "C=f64[40,40] A=f64[50,40] B=f64[50,40]") == none);
    CHECK(symmetry_of("C(i,j) = A(k,i)*A(j,k)", "C=f64[40,40] A=f64[40,40]") == none);
    CHECK(symmetry_of("C(i,j) = A(k(0,50),i)*A(k+1,j)", "C=f64[40,40] A=f64[51,40]") == none);
    CHECK(symmetry_of("C(i,j,f) = A(k,i,f)*A(k,j,0)", "C=f64[40,40,3] A=f64[50,40,3]") == none);
    CHECK(symmetry_of("C(i,j,e) = B(q,i)*W(q,e,i)*B(q,j)", "C=f64[40,40,3] B=f64[50,40] W=f64[50,3,40]") == none);
    // what is there already need not be symmetric, and half of a sum of products says nothing of the whole
    CHECK(symmetry_of("C(i,j) += A(k,i)*A(k,j)", "C=f64[40,40] A=f64[50,40]") == none);
    CHECK(symmetry_of("C(i,j) = A(k,i)*A(k,j) + D(i,j)", "C=f64[40,40] A=f64[50,40] D=f64[40,40]") == none);
    // i times a Hermitian matrix is none
    CHECK(symmetry_of("C(i,j) = 2i*conj(A(k,i))*A(k,j)", "C=c64[40,40] A=c64[50,40]") == none);
}

TEST_CASE("the kernel for large products makes use of symmetry from three vectors a column on") {
    const auto family_of = [](const char* operands) {
        return last_step("C(i,j,e) = A(k,i,e)*A(k,j,e)", operands).kernel;
    };
    CHECK(family_of("C=f64[24,24,100] A=f64[30,24,100]") == family::batched_blocked);
    CHECK(family_of("C=f64[16,16,100] A=f64[30,16,100]") == family::batched_small);
    const auto st = last_step("C(i,j,e) = A(k,i,e)*A(k,j,e)", "C=f64[50,50,100] A=f64[30,50,100]");
    CHECK(symmetry_of_c(st) == symmetry::symmetric);
    for (const auto& t : blocked_tiles(st, cpu_with_avx512()))
        CHECK(t.tile_m * 8 % t.tile_n == 0); // tiles of columns end where a panel's rows do
}
