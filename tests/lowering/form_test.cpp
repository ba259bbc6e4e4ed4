// form_test: which form and kernel a statement gets.
#include "lowering/lower.hpp"
#include "lowering/print.hpp"
#include "runtime/kernel_source.hpp"
#include "tests/bound_text.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <string>

namespace {

using namespace ricci::lowering;
using namespace ricci::tests;

struct form_case {
    const char* statement;
    const char* operands;
    const char* expected; ///< form/kernel of each step
};

// Sizes differ from axis to axis so that a mix-up of axes cannot go unseen.
constexpr form_case cases[] = {
    {"C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=f64[3,4,50] A=f64[3,5,50] B=f64[5,4,50]", "batched GEMM/batched_small"},
    {"C(i,j,e) = A(k,i,e)*B(k,j,e)", "C=f64[3,4,50] A=f64[5,3,50] B=f64[5,4,50]", "batched GEMM/batched_small"},
    {"C(i,j,e) = A(i,k,e)*B(j,k,e)", "C=f64[3,4,50] A=f64[3,5,50] B=f64[4,5,50]", "batched GEMM/batched_small"},
    {"C(i,j,e) = A(k,i,e)*B(j,k,e)", "C=f64[3,4,50] A=f64[5,3,50] B=f64[4,5,50]", "batched GEMM/batched_small"},
    {"C(j,i,e) = A(i,k,e)*B(k,j,e)", "C=f64[4,3,50] A=f64[3,5,50] B=f64[5,4,50]", "batched GEMM/batched_small"},
    {"C(i,e,j,f) = A(i,k,f,e)*B(k,e,j,f)", "C=f64[3,6,4,7] A=f64[3,5,7,6] B=f64[5,6,4,7]",
     "batched GEMM/batched_small"},
    {"C(i,j,e) = A(i,k)*B(k,j,e)", "C=f64[3,400,50] A=f64[3,5] B=f64[5,400,50]",
     "batched GEMM/batched_small tall-skinny A B/tall_skinny_ab"},
    {"C(i,j,e) = A(i,k,e)*B(k,j)", "C=f64[3,4,50] A=f64[3,5,50] B=f64[5,4]", "batched GEMM/batched_small"},
    {"C(a,i,j,e) = A(a,i,k,e)*B(k,j)", "C=f64[6,5,4,50] A=f64[6,5,3,50] B=f64[3,4]", "batched GEMM/batched_small"},
    {"C(a,i,j,e) = A(a,i,k,e)*B(k,j)", "C=f64[20,15,4,50] A=f64[20,15,3,50] B=f64[3,4]",
     "batched GEMM/tall_skinny_ab"},
    {"C(a,i,j,e) = A(a,i,k,e)*B(k,j)", "C=f64[6:7,5,4,50] A=f64[6:7,5,3,50] B=f64[3,4]",
     "batched GEMM/tall_skinny_ab"},
    {"C(i,e,j) = A(i,k,e)*B(k,j)", "C=f64[3,50,4] A=f64[3,5,50] B=f64[5,4]", "batched GEMM/tall_skinny_ab"},
    {"C(e,i,j) = A(e,i,k)*B(e,k,j)", "C=f64[50,3,4] A=f64[50,3,5] B=f64[50,5,4]",
     "interleaved batched GEMM/batched_lanes"},
    {"C(e,i,j) = A(e,i,k)*B(e,k,j)", "C=c128[50,100,101] A=c128[50,100,102] B=c128[50,102,101]", // large copies
     "interleaved batched GEMM/batched_small"},
    {"C(i,j) = A(k,i)*B(k,j)", "C=f64[3,4] A=f64[5000,3] B=f64[5000,4]",
     "tall-skinny A^T B/tall_skinny_atb reduction/direct"},
    {"C(i,j) = A(i,k)*B(j,k)", "C=f64[3,4] A=f64[3,5000] B=f64[4,5000]",
     "tall-skinny A^T B/tall_skinny_atb reduction/direct"},
    {"C(i,j) = A(i,k)*B(k,j)", "C=f64[5000,4] A=f64[5000,3] B=f64[3,4]",
     "batched GEMM/batched_small tall-skinny A B/tall_skinny_ab"},
    {"C(j,i) = A(i,k)*B(k,j)", "C=f64[4,5000] A=f64[5000,3] B=f64[3,4]",
     "batched GEMM/batched_small tall-skinny A B/tall_skinny_ab"},
    {"C(i,j) = A(i,k)*B(k,j)", "C=f64[200,300] A=f64[200,250] B=f64[250,300]", "GEMM/batched_blocked"},
    {"C(i,j) = A(i,k)*B(k,j)", "C=f64[500,600] A=f64[500,400] B=f64[400,600]", "GEMM/library"},
    {"C(i,j) = A(i,k)*B(k,j)", "C=f64[200:2,300:400] A=f64[200,250] B=f64[250,300]", "GEMM/batched_blocked"},
    {"C(i,j) += A(i,k)*B(k,j)", "C=f32[200,300] A=f16[200,250] B=f16[250,300]", "GEMM/batched_blocked"},
    {"C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=f32[200,300,3] A=f32[200,250,3] B=f32[250,300,3]",
     "batched GEMM/batched_blocked"},
    {"C(i,j,e) += A(i,k,e)*B(k,j,e)", "C=f16[20,30,3] A=f16[20,20000,3] B=f16[20000,30,3]",
     "batched GEMM/batched_blocked pointwise/direct"},
    {"C(i,j,e) -= 2*A(i,k,e)*B(k,j,e)", "C=f32[20,30,3] A=f32[20,20000,3] B=f16[20000,30,3]",
     "batched GEMM/batched_blocked pointwise/direct"},
    {"y(i) = A(i,k)*x(k)", "y=f64[300] A=f64[300,200] x=f64[200]", "GEMV/direct"},
    {"y(i) = A(i,k)*x(k)", "y=f64[30] A=f64[30,20] x=f64[20]", "GEMV/direct"},
    {"y(i) = A(k,i)*x(k)", "y=f64[30] A=f64[20000,30] x=f64[20000]", "GEMV/tall_skinny_atb reduction/direct"},
    {"s() = x(k)*y(k)", "s=f64[] x=f64[20000] y=f64[20000]", "dot/tall_skinny_atb reduction/direct"},
    {"s() = x(k)*y(k)", "s=f64[] x=f64[20] y=f64[20]", "dot/direct"},
    {"C(i,j) = x(i)*y(j)", "C=f64[20,30] x=f64[20] y=f64[30]", "outer product/direct"},
    {"B(j,i) = A(i,j)", "B=f64[20,30] A=f64[30,20]", "permutation/direct"},
    {"y(i) = A(i,k)", "y=f64[20] A=f64[20,30]", "reduction/direct"},
    {"C(i) = 2*A(i) + exp(B(i))", "C=f64[20] A=f64[20] B=f64[20]", "pointwise/direct"},
    {"C(i,j) = A(i,k,l)*B(k,j)", "C=f64[20,20] A=f64[20,20,3] B=f64[20,20]", "reduction/direct GEMM/batched_small"},
    {"O(x,y,k) = padded(D)(x+s-1,y+r-1,c)*F(s,r,c,k)", "O=f32[20,30,9] D=f32[20,30,8] F=f32[3,3,8,9]",
     "batched GEMM/gett"},
    {"O(x,y,k) = relu(D(x+s,y+r,c)*F(s,r,c,k) + b(k))", "O=f32[20,30,9] D=f32[22,32,8] F=f32[3,3,8,9] b=f32[9]",
     "batched GEMM/gett pointwise/direct"},
    {"O(x,y) = padded(D)(x+s-1,y+r-1)*F(s,r)", "O=f32[3,5] D=f32[3,5] F=f32[3,3]", "GEMV/gett"}, // whatever size
    {"O(y,x) = D(y+r,x+s)*F(r,s)", "O=f64[20,30] D=f64[22,32] F=f64[3,3]", "GEMV/tall_skinny_ab"},
    {"C(i,j,e) = A(i,k,p(e))*B(k,j,e)", "C=f64[3,4,50] A=f64[3,5,9] B=f64[5,4,50] p=i32[50]",
     "batched GEMM/batched_small"},
    {"C(i,j,distinct(p)(e)) = A(i,k,e)*B(k,j,e)", "C=f64[3,4,90] A=f64[3,5,50] B=f64[5,4,50] p=i32[50]",
     "batched GEMM/batched_small"},
    {"C(i,j,e) = A(i,k,p(e))*B(k,j)", "C=f64[3,4,50] A=f64[3,5,9] B=f64[5,4] p=i32[50]",
     "batched GEMM/batched_small"},
    {"C(i,j,e) = A(i,k,p(e))*B(k,j,e)", "C=f64[200,300,3] A=f64[200,250,9] B=f64[250,300,3] p=i32[3]",
     "permutation/direct batched GEMM/batched_blocked"},
    {"C(i,j) = A(i,p(k))*B(k,j)", "C=f64[20,30] A=f64[20,9] B=f64[40,30] p=i32[40]", "GEMM/direct"},
    {"C(e,j) = A(p(e),k)*B(k,j)", "C=f64[5000,4] A=f64[90,3] B=f64[3,4] p=i32[5000]", "tall-skinny A B/direct"},
    {"C(i,j) = A(p(k),i)*B(k,j)", "C=f64[3,4] A=f64[90,3] B=f64[5000,4] p=i32[5000]", "tall-skinny A^T B/direct"},
    {"C(i,distinct(q)(j)) += A(i,p(k))*B(k,j)", "C=f64[200,900] A=f64[200,9] B=f64[250,300] p=i32[250] q=i64[300]",
     "permutation/direct GEMM/batched_blocked permutation/direct"},
    {"C(e,j) = 2*A(p(e),k)*B(k,j)", "C=f64[50000,32] A=f64[90,30] B=f64[30,32] p=i32[50000]",
     "permutation/direct batched GEMM/batched_small tall-skinny A B/tall_skinny_ab"},
    {"C(i,e) = A(i,p(e))", "C=f64[20,30] A=f64[20,9] p=i32[30]", "permutation/direct"},
    {"C(i) = a(i,k)/(b(k)+c(i))", "C=f64[20] a=f64[20,30] b=f64[30] c=f64[20]", "direct/direct"},
};

std::string forms(const plan& p) {
    std::string out;
    for (const auto& st : p.steps)
        out += fmt::format("{}{}/{}", out.empty() ? "" : " ", name_of(st.shape), name_of(st.kernel));
    return out;
}

std::string on_gpu(const char* text, const char* operands) {
    return forms(lower(bound_text(text, operands), some_gpu()));
}

} // namespace

TEST_CASE("forms are recognised") {
    for (const auto& c : cases) {
        const auto s = bound_text(c.statement, c.operands);
        INFO(to_string(s) << " with " << c.operands);
        CHECK(forms(lower(s, some_cpu())) == c.expected);
    }
}

TEST_CASE("a GPU sums a long k by blocks, whose sums, in a workspace, a kernel behind adds up") {
    const auto p =
        lower(bound_text("C(i,j) -= 2*A(k,i)*B(k,j)", "C=f64[3,4] A=f64[500000,3] B=f64[500000,4]"), some_gpu());
    CHECK(forms(p) == "tall-skinny A^T B/tall_skinny_atb");
    REQUIRE(p.temporaries.size() == 1);
    CHECK(p.steps[0].workspace.source == -1);
    CHECK(p.workspace_bytes >= p.steps[0].workspace.bytes);
    const auto request = ricci::runtime::make_kernel(p.steps[0], some_gpu());
    CHECK(request.shape.grid > 1);
    REQUIRE(request.behind.size() == 1);
    CHECK(request.behind[0].entry == "ricci_block_sums");
    const auto low = bound_text("C(i,j) = A(k,i)*B(k,j)", "C=f64[3,4] A=f64[1024,3] B=f64[1024,4]");
    const auto one_block = ricci::runtime::make_kernel(lower(low, some_gpu()).steps.at(0), some_gpu());
    CHECK(one_block.shape.grid == 1);
    CHECK(one_block.behind.empty());
}

TEST_CASE("without a compiler every product takes the direct form") {
    auto chip = some_cpu();
    chip.has_compiler = false;
    chip.has_blas = false;
    const auto s = bound_text("C(i,j) = A(k,i)*B(k,j)", "C=f64[3,4] A=f64[5000,3] B=f64[5000,4]");
    CHECK(forms(lower(s, chip)) == "tall-skinny A^T B/direct");
}

TEST_CASE("LU whose updates are the tensor cores' on a GPU") {
    const auto kernel_of = [](const std::string& operands, const char* architecture = "sm_90") {
        auto chip = some_gpu();
        chip.architecture = architecture;
        const auto st =
            lower(bound_text("piv(k,e), info(e) = lu(A(i,j,e), i, j)", operands.c_str()), chip).steps.at(0);
        const auto parameters = to_string(st.batched, st, chip.kind);
        for (const char* const how : {"streamed", "tensor cores"}) // as explain says it
            if (parameters.find(how) != std::string::npos) return fmt::format("{}, {}", name_of(st.kernel), how);
        return std::string(name_of(st.kernel));
    };
    const auto square = [](int n, const char* type) {
        return fmt::format("A={0}[{1},{1},9000] piv=i32[{1},9000] info=i32[9000]", type, n);
    };
    const std::string of_warps = "factor_lanes, tensor cores", of_lanes = "factor_lanes";
    for (const int n : {16, 22, 33, 64}) CHECK(kernel_of(square(n, "f64")) == of_warps);
    for (const int n : {8, 15, 17, 20}) CHECK(kernel_of(square(n, "f64")) == of_lanes);
    for (const char* const type : {"f32", "c64", "c128"}) {
        CHECK(kernel_of(square(32, type)) == of_warps);
        CHECK(kernel_of(square(32, type), "sm_80") == of_lanes);
    }
    CHECK(kernel_of("A=f64[32,31,9000] piv=i32[31,9000] info=i32[9000]") == of_warps);
    CHECK(kernel_of("A=f64[32:279000,31:9000,9000:1] piv=i32[31,9000] info=i32[9000]") == of_lanes);
    for (const int n : {65, 100, 160}) CHECK(kernel_of(square(n, "f64")) == "factor_block, streamed");
    CHECK(kernel_of(square(100, "f32")) == "factor_block");
}

TEST_CASE("a block of QR by lanes may take all of the shared memory that a block can have") {
    for (const int sides : {52, 53, 54, 55, 56}) // of 54, all but less than what the driver keeps
        CHECK(forms(lower(bound_text("least_squares(A(i,j,e), i, j, X(j,r,e), B(i,r,e))",
                                     fmt::format("A=c128[63,2,900] X=c128[2,{0},900] B=c128[63,{0},900]", sides)),
                          some_gpu())) != "");
}

TEST_CASE("A^T B that no parameters of its kernel fit is computed element by element") {
    auto chip = some_gpu();
    chip.has_blas = false;
    const auto wide = bound_text("C(i,j) = A(k,i)*B(k,j)", "C=c128[64,64] A=c128[5000,64] B=c128[5000,64]");
    CHECK(forms(lower(wide, chip)) == "tall-skinny A^T B/tall_skinny_atb");
    chip.architecture = "sm_75"; // whose tensor cores do not take f64
    chip.shared_bytes = 48 << 10;
    CHECK(forms(lower(wide, chip)) == "tall-skinny A^T B/direct");
}

TEST_CASE("on a GPU products go to the library the sooner the less their batch fills it") {
    const auto form_of = [](const char* type, std::int64_t side, std::int64_t count,
                            const char* op = "+=", const char* c_type = nullptr) {
        const auto matrices = fmt::format("[{0},{0},{1}]", side, count);
        const auto operands = fmt::format("C={2}{0} A={1}{0} B={1}{0}", matrices, type, c_type ? c_type : type);
        return forms(lower(bound_text(fmt::format("C(i,j,e) {} A(i,k,e)*B(k,j,e)", op), operands), some_gpu()));
    };
    const std::string own = "batched GEMM/batched_small", library = "batched GEMM/library";
    const std::string streaming = "batched GEMM/batched_stationary"; // two do not fit a processor, f32: three
    CHECK(form_of("f64", 45, 1) == own);
    CHECK(form_of("f64", 47, 1) == library);
    CHECK(form_of("f64", 47, 33) == library); // every fourth processor
    CHECK(form_of("f64", 47, 34) == own);
    CHECK(form_of("f64", 57, 131) == library);
    CHECK(form_of("f64", 57, 132) == own); // a product for every processor
    CHECK(form_of("f64", 80, 132) == streaming);
    CHECK(form_of("f64", 80, 10000) == streaming);
    CHECK(form_of("f32", 64, 1) == streaming);
    CHECK(form_of("f32", 68, 1) == library);
    CHECK(form_of("f32", 100, 60) == streaming);
    CHECK(form_of("c64", 41, 20) == library);
    CHECK(form_of("c64", 57, 60) == library);
    CHECK(form_of("c64", 57, 200) == streaming);

    CHECK(form_of("f16", 61, 10, "=") == own);
    CHECK(form_of("f16", 63, 10, "=") == library);
    CHECK(form_of("f16", 63, 10, "=", "f32") == library);
    CHECK(form_of("bf16", 63, 10) == library);
    CHECK(form_of("bf16", 77, 60) == own);
    CHECK(form_of("bf16", 101, 200) == library);   // little to do for each processor
    CHECK(form_of("f16", 120, 10000, "=") == own); // faster than the library
    CHECK(form_of("f16", 300, 10000, "=") == library);
    // Columns at multiples of 16 bytes: cuBLAS would round before it adds.
    CHECK(form_of("f16", 40, 10) == own);
    CHECK(form_of("f16", 72, 10) == own);
    CHECK(form_of("f16", 136, 10) == "batched GEMM/library pointwise/direct");
    CHECK(form_of("f16", 80, 10, "-=", "f32") == library);
    CHECK(form_of("f16", 80, 10, "=") == library);
}

TEST_CASE("on a GPU rows of a tall product that follow one another are a batch") {
    const std::string tall = "tall-skinny A B/tall_skinny_ab";
    const auto by_rows = "C(j,i) = A(k,i)*B(k,j)";
    CHECK(on_gpu(by_rows, "C=f64[24,99999] A=f64[31,99999] B=f64[31,24]") == "batched GEMM/batched_small " + tall);
    CHECK(on_gpu(by_rows, "C=f64[64,640000] A=f64[64,640000] B=f64[64,64]") == "batched GEMM/batched_stationary");
    CHECK(on_gpu(by_rows, "C=f64[24,9999] A=f64[31,9999] B=f64[31,24]") == tall); // low
    CHECK(on_gpu(by_rows, "C=f64[8,999999] A=f64[8,999999] B=f64[8,8]") == tall); // narrow
    CHECK(on_gpu(by_rows, "C=f64[24:1,99999:25] A=f64[31,99999] B=f64[31,24]") == tall);
    CHECK(on_gpu(by_rows, "C=f32[32,999999] A=f32[32,999999] B=f32[32,32]") == tall); // lines on the same banks
    const auto by_columns = "C(i,j) = A(i,k)*B(k,j)";
    const auto small = "batched GEMM/batched_small " + tall;
    CHECK(on_gpu(by_columns, "C=f32[999992,24] A=f16[999992,31] B=f16[31,24]") == small);
    CHECK(on_gpu(by_columns, "C=f32[999991,24] A=f16[999991,31] B=f16[31,24]") == tall); // columns start anywhere
    CHECK(on_gpu(by_columns, "C=f64[99998,24] A=f64[99998,31] B=f64[31,24]") == tall);   // in boxes
    CHECK(on_gpu(by_columns, "C=f32[999998,24] A=f32[999998,31] B=f32[31,24]") == tall);
    CHECK(on_gpu(by_columns, "C=f64[640000,32] A=f64[640000,32] B=f64[32,32]") == tall);
    CHECK(on_gpu(by_columns, "C=f64[99998,24] A=f64[99998:31,31:1] B=f64[31,24]") == tall);
}

TEST_CASE("on a GPU wide A*B of many rows go to the library where that is faster") {
    const std::string tall = "tall-skinny A B/tall_skinny_ab", library = "tall-skinny A B/library";
    const auto by_columns = "C(i,j) = A(i,k)*B(k,j)", by_rows = "C(j,i) = A(k,i)*B(k,j)";
    CHECK(on_gpu(by_columns, "C=f64[5000,64] A=f64[5000,64] B=f64[64,64]") == library);
    CHECK(on_gpu(by_columns, "C=f64[640000,60] A=f64[640000,58] B=f64[58,60]") == library);
    CHECK(on_gpu(by_columns, "C=f64[640000,60] A=f64[640000,57] B=f64[57,60]") == tall); // cuBLAS wants even ones
    CHECK(on_gpu(by_columns, "C=f64[640000,60] A=f64[640000,40] B=f64[40,60]") == tall);
    CHECK(on_gpu(by_columns, "C=f64[5000,64] A=f64[5000:65,64:1] B=f64[64,64]") == tall);
    CHECK(on_gpu(by_columns, "C=f32[20000,50] A=f32[20000,50] B=f32[50,50]") == library);
    CHECK(on_gpu(by_columns, "C=f32[2000,50] A=f32[2000,50] B=f32[50,50]") == tall);
    CHECK(on_gpu(by_columns, "C=f32[2000000,50] A=f32[2000000,50] B=f32[50,50]") == tall);
    CHECK(on_gpu(by_columns, "C=f32[2000,60] A=f16[2000,60] B=f16[60,60]") == library);
    CHECK(on_gpu(by_columns, "C=f32[2000,50] A=f16[2000,50] B=f16[50,50]") == library);
    CHECK(on_gpu(by_rows, "C=f32[50,2000] A=f16[50,2000] B=f16[50,50]") == library);
    CHECK(on_gpu(by_rows, "C=f32[64,2000] A=f16[64,2000] B=f16[64,64]") == tall);
    CHECK(on_gpu(by_columns, "C=f32[2000,60] A=bf16[2000,60] B=bf16[60,60]") == library);
    CHECK(on_gpu(by_columns, "C=f64[2000,60] A=f32[2000,60] B=f32[60,60]") == tall); // cuBLAS has no such types
    CHECK(on_gpu(by_rows, "C=f64[64,5000] A=f64[64,5000] B=f64[64,64]") == tall);
    CHECK(on_gpu("C(i,j) += 2*A(i,k)*B(k,j)", "C=f64[5000,64] A=f64[5000,64] B=f64[64,64]") == tall);
    CHECK(on_gpu(by_columns, "C=f32[2000000,62] A=f16[2000000,60] B=f16[60,62]") == library);
    CHECK(on_gpu(by_columns, "C=f32[2000000,61] A=f16[2000000,61] B=f16[61,61]") !=
          library); // odd ones take cuBLAS longer
    // Between the heights that kernels were measured at.
    CHECK(on_gpu(by_columns, "C=f64[98304,40] A=f64[98304,40] B=f64[40,40]") == library);
    CHECK(on_gpu(by_columns, "C=f64[4000000,40] A=f64[4000000,40] B=f64[40,40]") == tall);
    CHECK(on_gpu(by_columns, "C=f64[98304,36] A=f64[98304,44] B=f64[44,36]") == library);
    CHECK(on_gpu(by_columns, "C=f64[98304,43] A=f64[98304,43] B=f64[43,43]") == tall);
    CHECK(on_gpu(by_columns, "C=f64[98304,32] A=f64[98304,32] B=f64[32,32]") == tall);
    CHECK(on_gpu(by_columns, "C=f64[65536,48] A=f64[65536,48] B=f64[48,48]") == tall);
    CHECK(on_gpu(by_columns, "C=f64[262144,48] A=f64[262144,48] B=f64[48,48]") == library);
    CHECK(on_gpu(by_columns, "C=f32[65536,64] A=f32[65536,64] B=f32[64,64]") == library);
    CHECK(on_gpu(by_columns, "C=f32[131072,51] A=f32[131072,49] B=f32[49,51]") == library);
    CHECK(on_gpu(by_columns, "C=f32[131072,47] A=f32[131072,47] B=f32[47,47]") == tall);
    CHECK(on_gpu(by_columns, "C=f32[262144,64] A=f32[262144,64] B=f32[64,64]") == tall);
    CHECK(on_gpu(by_columns, "C=f32[65537,64] A=f32[65537,64] B=f32[64,64]") == tall); // columns start anywhere
    CHECK(on_gpu(by_columns, "C=f32[98304,48] A=f16[98304,48] B=f16[48,48]") == library);
    CHECK(on_gpu(by_columns, "C=f32[1048576,48] A=f16[1048576,48] B=f16[48,48]") != library);
    CHECK(on_gpu(by_columns, "C=f32[98304,56] A=f16[98304,56] B=f16[56,56]") != library);
}

TEST_CASE("whole products of an SM go before the library where Y would come number by number") {
    const auto transposed = "C(i,j,e) += A(i,k,e)*B(j,k,e)", upright = "C(i,j,e) += A(i,k,e)*B(k,j,e)";
    const std::string whole = "batched GEMM/batched_small", library = "batched GEMM/library";
    CHECK(on_gpu(transposed, "C=f32[97,97,5000] A=f32[97,97,5000] B=f32[97,97,5000]") == whole);
    CHECK(on_gpu(transposed, "C=f32[127,127,5000] A=f32[127,127,5000] B=f32[127,127,5000]") == whole);
    CHECK(on_gpu(transposed, "C=f32[97,97,50] A=f32[97,97,50] B=f32[97,97,50]") == library); // too few for that
    CHECK(on_gpu(transposed, "C=c64[77,77,5000] A=c64[77,77,5000] B=c64[77,77,5000]") == whole);
    CHECK(on_gpu(transposed, "C=c64[95,95,5000] A=c64[95,95,5000] B=c64[95,95,5000]") == library);
    CHECK(on_gpu(upright, "C=f32[97,97,5000] A=f32[97,97,5000] B=f32[97,97,5000]") ==
          "batched GEMM/batched_stationary");
}

TEST_CASE("2-byte operands that are not aligned to 4 bytes do not go to a GPU's library") {
    auto s = bound_text("C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=f16[80,80,9] A=f16[80,80,9] B=f16[80,80,9]");
    const std::string own = "batched GEMM/batched_small", library = "batched GEMM/library";
    CHECK(forms(lower(s, some_gpu())) == library);
    for (auto& a : s.accesses) {
        auto* const data = a.data;
        a.data = static_cast<std::byte*>(data) + 2;
        CHECK(forms(lower(s, some_gpu())) == own);
        a.data = data;
    }
    const auto ranged = [](const char* text) {
        return forms(lower(bound_text(text, "C=f16[81,81,9] A=f16[81,81,9] B=f16[81,81,9]"), some_gpu()));
    };
    CHECK(ranged("C(i(0,80),j(0,80),e) = A(i,k(1,81),e)*B(k,j,e)") == own);
    CHECK(ranged("C(i(0,80),j(0,80),e) = A(i,k(2,80),e)*B(k,j,e)") == library);
}

TEST_CASE("extents as arguments: every step is direct") {
    const auto p = lower(bound_text("C(i,j,e) = A(i,k,e)*B(k,j,e)", "C=f64[3,4,50] A=f64[3,5,50] B=f64[5,4,50]"),
                         some_gpu(), {}, true);
    REQUIRE(p.steps.size() == 1);
    CHECK(p.steps[0].kernel == family::direct);
    CHECK(p.steps[0].dynamic_extents);
}
